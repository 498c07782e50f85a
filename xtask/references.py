"""Solves the problems that the example `solvers` wrote with LIBLINEAR and LIBSVM (as scikit-learn ships them), and
compares: the objective must agree to a thousandth, what is predicted to a hundredth. Ends with 1 if anything differs."""

import itertools
import json
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM

OBJECTIVE, PREDICTION = 1e-3, 1e-2


def load(folder, name):
    train, test = folder / f"{name}.train.svm", folder / f"{name}.test.svm"
    columns = int(train.read_text().split(None, 2)[1])
    loaded = [*load_svmlight_file(train, n_features=columns), *load_svmlight_file(test, n_features=columns)]
    for matrix in (loaded[0], loaded[2]):
        # LIBLINEAR and LIBSVM take 32-bit indices only.
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return loaded


def linear(line, x, y, test, truth):
    """Primal objective over all one-against-rest problems, and accuracy."""
    c, bias, squared = line["c"], line["bias"], line["loss"] == "squared_hinge"
    model = LinearSVC(loss=line["loss"], C=c, fit_intercept=bias, dual=True, tol=1e-4, max_iter=200_000, random_state=0)
    model.fit(x, y)
    intercepts = model.intercept_ if bias else np.zeros(len(model.coef_))
    objective = 0.0
    for k, (w, b) in enumerate(zip(model.coef_, intercepts)):
        positive = model.classes_[1] if len(model.coef_) == 1 else model.classes_[k]
        slack = np.maximum(0, 1 - np.where(y == positive, 1, -1) * (x @ w + b))
        objective += 0.5 * (w @ w + b * b) + c * np.sum(slack**2 if squared else slack)
    return objective, model.score(test, truth)


def pairs_objective(kernel, y):
    """The dual objective summed over all pairs of classes."""
    objective = 0.0
    for a, b in itertools.combinations(np.unique(y), 2):
        rows = np.flatnonzero((y == a) | (y == b))
        part = kernel[np.ix_(rows, rows)]
        model = SVC(kernel="precomputed", C=1, tol=1e-4).fit(part, y[rows])
        c = model.dual_coef_[0]
        objective += 0.5 * c @ part[np.ix_(model.support_, model.support_)] @ c - np.abs(c).sum()
    return objective


def c_svc(line, x, y, test, truth):
    model = SVC(kernel="rbf", gamma=line["gamma"], C=1, tol=1e-4).fit(x, y)
    return pairs_objective(rbf_kernel(x, x, line["gamma"]), y), model.score(test, truth)


def precomputed(line, x, y, test, truth):
    kernel, new = laplacian_kernel(x, x, line["lambda"]), laplacian_kernel(test, x, line["lambda"])
    model = SVC(kernel="precomputed", C=1, tol=1e-4).fit(kernel, y)
    return pairs_objective(kernel, y), model.score(new, truth)


def coefficients(model):
    c = model.dual_coef_
    return np.asarray(c.toarray() if hasattr(c, "toarray") else c).ravel()


def one_class(line, x, y, test, truth):
    model = OneClassSVM(kernel="rbf", gamma=line["gamma"], nu=line["nu"], tol=1e-4).fit(x)
    c, support = coefficients(model), model.support_
    objective = 0.5 * c @ rbf_kernel(x[support], x[support], line["gamma"]) @ c
    return objective, float(np.mean(model.decision_function(test) < 0))


def svr(line, x, y, test, truth):
    model = SVR(kernel="rbf", gamma=line["gamma"], C=1, epsilon=line["tube"], tol=1e-4).fit(x, y)
    c, support = coefficients(model), model.support_
    quadratic = c @ rbf_kernel(x[support], x[support], line["gamma"]) @ c
    objective = 0.5 * quadratic + line["tube"] * np.abs(c).sum() - y[support] @ c
    return objective, float(np.sqrt(np.mean((model.predict(test) - truth) ** 2)))


SOLVERS = {"linear": linear, "c-svc": c_svc, "precomputed": precomputed, "one-class": one_class, "svr": svr}


def main(folder):
    failures = 0
    print(f"{'data':<16}{'problem':<34}{'objective':>14}{'theirs':>14}{'predicts':>10}{'theirs':>10}")
    for line in map(json.loads, (folder / "ours.jsonl").read_text().splitlines()):
        x, y, test, truth = load(folder, line["set"])
        objective, prediction = SOLVERS[line["task"]](line, x, y, test, truth)
        own = next(line[key] for key in ("accuracy", "rmse", "outside") if key in line)
        good = abs(line["objective"] - objective) <= OBJECTIVE * abs(objective) and abs(own - prediction) <= PREDICTION
        failures += not good
        options = " ".join(str(line[key]) for key in ("loss", "c", "bias") if key in line)
        print(
            f"{line['set']:<16}{line['task'] + ' ' + options:<34}{line['objective']:>14.5f}{objective:>14.5f}"
            f"{own:>10.4f}{prediction:>10.4f}{'' if good else '  DIFFERS'}"
        )
    return failures


if __name__ == "__main__":
    sys.exit(1 if main(Path(sys.argv[1])) else 0)
