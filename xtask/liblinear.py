"""LIBLINEAR on the codes that the benchmark `solve` wrote: one line `work seconds objective` each, in its order. Dual
coordinate descent, which is its fastest solver here at the same stop rule (epsilon 0.1), without a bias; CPU seconds of
the solver alone, minimum of three repeats."""

import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from liblinear import liblinear
from liblinear.liblinearutil import parameter, problem

REPEATS, T, PSI = 3, 100, 256

folder = Path(sys.argv[1])
codes = np.fromfile(folder / "codes.u8", np.uint8).reshape(-1, T)
y = np.where(np.fromfile(folder / "labels.u8", np.uint8) == 1, 1.0, -1.0)
columns = (codes.astype(np.int64) + np.arange(T) * PSI).ravel()
x = sp.csr_matrix((np.full(codes.size, T**-0.5), columns, np.arange(len(y) + 1) * T), shape=(len(y), T * PSI))
data = problem(y, x)

for solver, loss in ((1, "squaredhinge"), (3, "hinge")):
    for c in ("0.01", "1", "100"):
        options = parameter(f"-s {solver} -c {c} -e 0.1 -q")
        seconds = []
        for _ in range(REPEATS):
            start = time.process_time()
            model = liblinear.train(data, options).contents
            seconds.append(time.process_time() - start)
        # Weights are those of the label that came first.
        w = np.ctypeslib.as_array(model.w, (T * PSI,)) * model.label[0]
        slack = np.maximum(0, 1 - y * (x @ w))
        objective = 0.5 * w @ w + float(c) * np.sum(slack**2 if solver == 1 else slack)
        print(f"liblinear {loss} C={c} {min(seconds):.3f} {objective:.4f}")
