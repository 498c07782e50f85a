"""ikpykit's map: `fit` and `transform` in double precision, as it wants. Its time is that of its partitionings, one after
the other, so that where all of them would take long, some are timed and the time is scaled up."""

import numpy as np
from ikpykit.kernel import IsoKernel
from measure import cells, fastest, limit_memory, once, points, psi, say, t

ENOUGH = 6  # seconds of measuring after which the time is scaled up

limit_memory()
x = points(np.float64)
for cell in cells:
    method = "anne" if cell.startswith("voronoi") else "inne"
    work = lambda t: IsoKernel(method=method, n_estimators=t, max_samples=psi, random_state=0).fit(x).transform(x)
    work(1)
    each, _ = once(lambda: work(1))
    some = max(1, min(t, int(ENOUGH / each)))
    seconds, repeats, _ = fastest(lambda: work(some))
    say(cell, seconds * t / some, repeats, **({} if some == t else {"measured": f"{some} of {t} partitionings"}))
