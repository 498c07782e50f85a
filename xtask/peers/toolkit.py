"""ikpykit's map: `fit` and `transform`, one partitioning a call, in double precision as it wants."""

import numpy as np
from ikpykit.kernel import IsoKernel
from measure import cells, fastest, limit_memory, points, psi, say, t

limit_memory()
x = points(np.float64)
for cell in cells:
    method = "anne" if cell.startswith("voronoi") else "inne"
    new = lambda: IsoKernel(method=method, n_estimators=t, max_samples=psi, random_state=0)
    seconds, repeats, _ = fastest(lambda: new().fit(x).transform(x))
    say(cell, seconds, repeats)
