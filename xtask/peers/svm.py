"""LIBLINEAR on the codes that our program wrote, without a bias. Dual coordinate descent is its fastest solver here at
the same stop rule (epsilon 0.1); the solver alone is on the clock."""

import numpy as np
import scipy.sparse as sp
from liblinear.liblinear import liblinear, parameter, problem
from measure import cells, codes, fastest, labels, psi, say, t

found = codes()
y = np.where(labels() == 1, 1.0, -1.0)
columns = (found.astype(np.int64) + np.arange(t) * psi).ravel()
x = sp.csr_matrix((np.full(found.size, t**-0.5), columns, np.arange(len(y) + 1) * t), shape=(len(y), t * psi))
data = problem(y, x)

for cell in cells:
    loss, c = cell.split(" C=")
    options = parameter(f"-s {3 if loss == 'hinge' else 1} -c {c} -e 0.1 -q")
    seconds, repeats, model = fastest(lambda: liblinear.train(data, options).contents)
    # Weights are those of the label that came first, and end with the last column that has any entry.
    w = np.zeros(t * psi)
    w[: model.nr_feature] = np.ctypeslib.as_array(model.w, (model.nr_feature,)) * model.label[0]
    slack = np.maximum(0, 1 - y * (x @ w))
    objective = 0.5 * w @ w + float(c) * np.sum(slack if loss == "hinge" else slack**2)
    say(cell, seconds, repeats, objective=float(objective))
