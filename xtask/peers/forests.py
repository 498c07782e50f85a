"""Isolation forests of isotree and scikit-learn, as a map and as a detector, and PyOD's INNE. scikit-learn, which
converts to single precision, gets that; the others double precision."""

import numpy as np
from measure import cells, fastest, limit_memory, peer, points, psi, say, t


def isotree():
    from isotree import IsolationForest

    x = points(np.float64)
    # Its quickest settings: one column a cut, no look for missing values.
    new = lambda: IsolationForest(sample_size=psi, ntrees=t, ndim=1, nthreads=1, missing_action="fail")
    model = new().fit(x)
    return lambda: model.predict(x, output="tree_num"), lambda: new().fit(x).predict(x)


def scikit_learn():
    from sklearn.ensemble import IsolationForest

    x = points()
    new = lambda: IsolationForest(n_estimators=t, max_samples=psi, random_state=0, n_jobs=1)
    model = new().fit(x)
    leaves = lambda: [tree.apply(x, check_input=False) for tree in model.estimators_]
    return leaves, lambda: new().fit(x).score_samples(x)


def inne():
    from pyod.models.inne import INNE

    x = points(np.float64)
    # Fitting scores the rows too.
    return None, lambda: INNE(n_estimators=t, max_samples=psi, random_state=0).fit(x).decision_scores_


limit_memory()
tree_map, fit_and_score = {"isotree": isotree, "scikit-learn": scikit_learn, "PyOD INNE": inne}[peer]()
for cell in cells:
    seconds, repeats, _ = fastest(tree_map if cell == "tree map" else fit_and_score)
    say(cell, seconds, repeats)
