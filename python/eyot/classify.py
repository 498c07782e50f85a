"""Batch classification of rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from . import _eyot
from ._base import (
    Model,
    encoding,
    fitted,
    labels_of_names,
    names_of,
    names_of_labels,
    progress_of,
    rows_to_fit,
    rows_to_score,
    seed_of,
    spread,
    target_name,
    threads_of,
)
from .map import cells


def labels_to_fit(estimator: Any, y: Any) -> tuple[np.ndarray, dict[str, Any]]:
    """The classes among labels, and the labels for the core."""
    name = target_name(estimator, y)
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, {"codes": codes.astype(np.int64), "labels": names_of_labels(classes), "name": name}


class ClassesMixin(ClassifierMixin):
    """From the core's class numbers to labels."""

    _model: Any
    classes_: np.ndarray

    def _keep_classes(self, classes: np.ndarray) -> None:
        self.classes_ = classes
        place = {name: at for at, name in enumerate(names_of_labels(classes))}
        # The place in `classes_` of each class of the core.
        self._order = np.array([place[name] for name in self._model.classes], dtype=np.intp)

    def _keep_names(self) -> None:
        names = self._model.classes
        self.classes_ = labels_of_names(names)
        self._order = np.arange(len(names))


class IKClassifier(ClassesMixin, Model):
    """A linear SVM on isolation features: as flexible as a kernel SVM, and fast on many rows.

    Parameters
    ----------
    partition : {"voronoi", "tree", "sphere"}, default="voronoi"
        How sampled rows cut the space into cells.
    n_estimators : int, default=100
        Number of partitionings, t.
    max_samples : int, default=256
        Rows per partitioning, ψ: the sharpness.
    metric : {"euclidean", "text", "text-sum"}, default="euclidean"
        How distance is measured.
    C : float, default=1.0
        Price of a violated margin.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        What a violated margin costs.
    fit_intercept : bool, default=True
        Learn a bias too, ``--bias`` on the command line.
    class_weight : {"balanced"}, dict or None, default=None
        Factors of C by label; "balanced" makes classes of few rows count as much as those of many.
    probability : bool, default=False
        Learn probabilities too, on the rows held out by ``cv`` folds.
    cv : int, default=5
        Folds for ``probability``.
    scale : {"minmax", "standard", None}, default="minmax"
        How number columns are scaled; part of the model.
    missing : {"error", "impute"}, default="error"
        What happens to missing cells.
    random_state : int, RandomState or None, default=None
        A whole number is the seed, as ``--seed`` on the command line.
    n_jobs : int or None, default=None
        Threads; -1 for all. No result depends on it.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray
        Their names, where the data was a frame.

    References
    ----------
    Paper 1 of the project.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eyot import IKClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = IKClassifier(max_samples=32, random_state=0).fit(X, y)
    >>> classifier.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        *,
        partition: str = "voronoi",
        n_estimators: int = 100,
        max_samples: int = 256,
        metric: str = "euclidean",
        C: float = 1.0,
        loss: str = "squared_hinge",
        fit_intercept: bool = True,
        class_weight: Any = None,
        probability: bool = False,
        cv: int = 5,
        scale: Any = "minmax",
        missing: str = "error",
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.partition = partition
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.metric = metric
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.probability = probability
        self.cv = cv
        self.scale = scale
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> IKClassifier:
        """Learn the classes of rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, numbers or words.

        Returns
        -------
        self
        """
        if not (self.class_weight is None or self.class_weight == "balanced" or isinstance(self.class_weight, dict)):
            raise ValueError(f"`class_weight` must be None, balanced or a dict, but is {self.class_weight!r}")
        data = rows_to_fit(self, X, ensure_min_samples=2)
        classes, labels = labels_to_fit(self, y)
        weights = None
        if isinstance(self.class_weight, dict):
            weights = [float(self.class_weight.get(label, 1.0)) for label in classes.tolist()]
        check_consistent_length(labels["codes"], range(len(data)))
        seed = seed_of(self.random_state)
        settings = {
            "c": float(self.C),
            "loss": self.loss,
            "bias": bool(self.fit_intercept),
            "balance": isinstance(self.class_weight, str),
            "weights": weights,
            "folds": self.cv if self.probability else None,
            "seed": seed,
        }
        how = cells(self, seed)
        threads = threads_of(self.n_jobs)
        with progress_of(self.verbose) as progress:
            self._model, converged = _eyot.Classifier.fit(
                data, names_of(self), labels, how, settings, encoding(self), threads, progress
            )
        if not converged:
            words = "the solver stopped before its stop rule was met; a smaller C or other scaling may help"
            warnings.warn(words, ConvergenceWarning, stacklevel=2)
        self._keep_classes(classes)
        return self

    def _raw(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        return self._model.score(rows_to_score(self, X), threads_of(self.n_jobs))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one score, above 0 for the second.
        """
        fitted(self)
        return spread(self._raw(X)[0], self._order, len(self.classes_))

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels of rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        fitted(self)
        return self.classes_[self._order[self._raw(X)[1]]]

    @available_if(lambda self: self.probability)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every class; only with ``probability=True``.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        fitted(self)
        known = self._model.probability(self._raw(X)[0])
        probabilities = np.empty_like(known)
        probabilities[:, self._order] = known
        return probabilities

    def _facts(self) -> dict[str, Any]:
        return {"columns": self.n_features_in_, "classes": len(self.classes_)}
