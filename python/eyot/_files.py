"""Models from files."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from . import _eyot
from ._base import names_of
from .classify import IKClassifier
from .detect import (
    GaussianMeanDetector,
    IDKDetector,
    INNEDetector,
    IsolationForestDetector,
    OneClassSVMDetector,
)
from .learn import (
    IKOnlineClassifier,
    IKOnlineRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RRFClassifier,
    RRFRegressor,
)
from .map import IsolationKernel
from .sets import BagClassifier, GroupDetector, ISKClassifier

_DETECTORS = {
    "idk": IDKDetector,
    "norm": IDKDetector,
    "inne": INNEDetector,
    "iforest": IsolationForestDetector,
    "gaussian": GaussianMeanDetector,
    "gaussian-nystrom": GaussianMeanDetector,
    "ocsvm": OneClassSVMDetector,
}


def load(path: str | os.PathLike[str]) -> Any:
    """Return the fitted estimator of a model file, whoever wrote it: Python, the command line or Rust.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        Of the class that goes with the model. What belongs to the rows of the fit and not to the model
        (``decision_scores_``, ``labels_``) is not in the file.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import eyot
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> detector = eyot.IDKDetector(random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.eyot")
    ...     detector.save(path)
    ...     same = eyot.load(path)
    >>> bool((same.score_samples(X) == detector.score_samples(X)).all())
    True
    """
    return from_bytes(_eyot.load(path))


def from_bytes(data: bytes) -> Any:
    """Return the fitted estimator of the bytes of a model file.

    Parameters
    ----------
    data : bytes
        What ``to_bytes`` gave.

    Returns
    -------
    estimator
        As :func:`load` returns it.
    """
    kind, *told = _eyot.inspect(data)
    parameters, encoder = map(json.loads, told)
    model = _eyot.describe(data)
    estimator = _estimator(kind, parameters, model)
    # Bags are scaled after encoding, and how is among the parameters.
    scale = (parameters if kind == "bags" else encoder["params"])["scale"]
    estimator.set_params(scale=None if scale == "none" else scale, missing=encoder["params"]["missing"])
    estimator._model = model
    estimator._from_file = True
    names = model.names
    estimator.n_features_in_ = encoder["width"] if model.is_sparse else len(names)
    if names != names_of(estimator) and not model.is_sparse:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    if hasattr(estimator, "_keep_threshold"):
        estimator._keep_threshold()
    if hasattr(estimator, "_keep_names"):
        estimator._keep_names()
    if kind == "map":
        estimator.max_samples_ = model.psi
    if kind == "bags":
        estimator.parameters_ = parameters
    return estimator


def _cells(cut: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a map, as our classes call them."""
    names = {"t": "n_estimators", "psi": "max_samples", "distance": "metric", "seed": "random_state"}
    return {names.get(name, name): cut[name] for name in ("partition", *names)}


def _estimator(kind: str, p: dict[str, Any], model: Any) -> Any:
    """An estimator with the parameters of a model."""
    if kind == "map":
        return IsolationKernel(**_cells(p))
    psi = "auto" if p.get("psi") is None else p["psi"]
    if kind == "detector":
        cls = _DETECTORS[p["method"]]
        if cls is GaussianMeanDetector:
            approximation = "nystroem" if p["method"] == "gaussian-nystrom" else None
            return cls(sigma=p["sigma"], approximation=approximation, landmarks=p["landmarks"], random_state=p["seed"])
        if cls is OneClassSVMDetector:
            return cls(sigma=p["sigma"], nu=p["nu"], random_state=p["seed"])
        norm = {"norm": p["method"] == "norm"} if cls is IDKDetector else {}
        return cls(max_samples=psi, n_estimators=p["t"], random_state=p["seed"], **norm)
    if kind == "group-detector":
        return GroupDetector(max_samples=psi, n_estimators=p["t"], random_state=p["seed"])
    if kind == "classifier":
        # Other methods of `eyot train` predict as this one does; their parameters are in the file.
        estimator = IKClassifier(random_state=0)
        if p["method"] == "ik-svm":
            svm = p["svm"]
            own = {"C": svm["c"], "loss": svm["loss"].replace("-", "_"), "fit_intercept": svm["bias"]}
            estimator = IKClassifier(**_cells(p["map"]), **own)
        empty = np.zeros((1, max(1, len(model.classes) if len(model.classes) > 2 else 1)))
        return estimator.set_params(probability=model.probability(empty) is not None)
    if kind == "bags":
        if p["method"] == "isk":
            cut = _cells(p["map"])
            del cut["partition"]
            weights = {"tau": p["tau"]} if "tau" in p else {"epsilon": p["epsilon"]}
            return ISKClassifier(**cut, **weights, power=p["power"], C=p["svm"]["c"])
        names = {
            "gamma": "gamma",
            "tau": "tau",
            "components": "n_components",
            "energy": "energy",
            "seed": "random_state",
        }
        own = {ours: p[name] for name, ours in names.items() if name in p}
        return BagClassifier(method=p["method"], C=p["svm"]["c"], **own)
    return _learner(p, model)


def _learner(p: dict[str, Any], model: Any) -> Any:
    """A learner of streams with the parameters of a model."""
    given: dict[str, Any] = {name: p[name] for name in ("loss", "eta", "epsilon")}
    given["random_state"] = p["seed"]
    if model.method == "ik-ogd":
        given |= _cells(p["map"])
        given |= {
            "refresh": p["refresh_every"] if p["refresh"] == "steadily" else None,
            "drift": p["refresh"] == "on-drift",
        }
        return (IKOnlineRegressor if model.regress else IKOnlineClassifier)(**given)
    given |= {"frequencies": p["frequencies"], "alpha": p["lambda"]}
    if model.method == "rrf":
        return (RRFRegressor if model.regress else RRFClassifier)(**given, eta_width=p["eta_width"])
    if p["kernel"] is not None:
        # The sharpness of Laplace's kernel is called λ.
        kernel = p["kernel"]
        given |= {"kernel": kernel["name"], "gamma": kernel.get("gamma", kernel.get("lambda"))}
    given |= {name: p[name] for name in ("budget", "rank", "compat")}
    given |= {"method": model.method, "C": p["c"], "landmarks": "uniform" if p["landmarks"] == "uniform" else "first"}
    return (OnlineKernelRegressor if model.regress else OnlineKernelClassifier)(**given)
