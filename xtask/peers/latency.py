"""One row at a time from Python: the mean of many calls."""

import numpy as np
from measure import cells, fastest, peer, points, psi, say, t

CALLS = 2000 if peer != "scikit-learn" else 100

x = points(np.float64)
rows = [x[i % len(x) :][:1].copy() for i in range(CALLS)]


def model(cell):
    if peer == "scikit-learn":
        from sklearn.ensemble import IsolationForest

        return IsolationForest(n_estimators=t, max_samples=psi, random_state=0, n_jobs=1).fit(x)
    import eyot

    kind = eyot.IDKDetector if cell == "idk" else eyot.IsolationForestDetector
    return kind(n_estimators=t, max_samples=psi, random_state=0, n_jobs=1).fit(x)


for cell in cells:
    score = model(cell).score_samples
    seconds, repeats, _ = fastest(lambda: [score(row) for row in rows])
    say(cell, seconds / CALLS, repeats)
