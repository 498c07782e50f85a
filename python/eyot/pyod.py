"""The detectors with PyOD's methods: ``decision_function`` is larger for anomalies, ``predict`` gives 1 for them, 0 else.

Swap them into code for PyOD. What PyOD derives from scores (confidence, rejection, ranks) is PyOD's own.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
from pyod.models.base import BaseDetector

from . import detect
from ._base import fitted


class _PyOD:
    """PyOD's sign in the methods where scikit-learn's is another."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # The same parameters, with PyOD's default share of anomalies.
        plain: Any = cls.__mro__[2].__init__
        init = FunctionType(plain.__code__, plain.__globals__, "__init__", plain.__defaults__, plain.__closure__)
        init.__kwdefaults__ = {**plain.__kwdefaults__, "contamination": 0.1}
        cls.__init__ = init  # type: ignore[method-assign, assignment]

    def _keep_scores(self, scores: np.ndarray) -> None:
        super()._keep_scores(scores)
        # What PyOD's own methods ask for.
        self._classes = 2
        self._mu, self._sigma = np.mean(scores), np.std(scores)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return how anomalous rows are: PyOD's sign, larger is more anomalous.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._scores(X)

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """Return 1 for anomalies and 0 for normal rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.
        return_confidence : bool, default=False
            Also return PyOD's confidence in each.

        Returns
        -------
        ndarray of shape (n_samples,), and the confidence if asked for
        """
        fitted(self)
        labels = (self._scores(X) > self.threshold_).astype(int)
        return (labels, self.predict_confidence(X)) if return_confidence else labels

    def predict_proba(self, X: Any, method: str = "linear", return_confidence: bool = False) -> Any:
        """Return shares of being normal and of being an anomaly, by one of PyOD's rules.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.
        method : {"linear", "unify"}, default="linear"
            PyOD's rule.
        return_confidence : bool, default=False
            Also return PyOD's confidence in each.

        Returns
        -------
        ndarray of shape (n_samples, 2), and the confidence if asked for
        """
        fitted(self)
        return BaseDetector.predict_proba(self, X if hasattr(X, "shape") else np.asarray(X), method, return_confidence)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit on rows and return 1 for anomalies, else 0.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.
        y : ignored
            Not used.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.fit(X).labels_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Not scikit-learn's kind of outlier detector: the sign is PyOD's.
        tags.estimator_type = None
        return tags


class IDKDetector(_PyOD, detect.IDKDetector, BaseDetector):
    """:class:`eyot.IDKDetector` with PyOD's methods.

    Parameters
    ----------
    contamination : float or "auto", default=0.1
        Share of anomalies.
    **parameters
        Those of :class:`eyot.IDKDetector`.

    Examples
    --------
    >>> import numpy as np
    >>> from eyot.pyod import IDKDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[0] = [9, 9]
    >>> int(IDKDetector(contamination=0.01, random_state=0).fit(X).predict(X)[0])
    1
    """


class INNEDetector(_PyOD, detect.INNEDetector, BaseDetector):
    """:class:`eyot.INNEDetector` with PyOD's methods; parameters as there, ``contamination`` 0.1 by default."""


class IsolationForestDetector(_PyOD, detect.IsolationForestDetector, BaseDetector):
    """:class:`eyot.IsolationForestDetector` with PyOD's methods; ``contamination`` is 0.1 by default."""


class GaussianMeanDetector(_PyOD, detect.GaussianMeanDetector, BaseDetector):
    """:class:`eyot.GaussianMeanDetector` with PyOD's methods; ``contamination`` is 0.1 by default."""


class OneClassSVMDetector(_PyOD, detect.OneClassSVMDetector, BaseDetector):
    """:class:`eyot.OneClassSVMDetector` with PyOD's methods; ``contamination`` is 0.1 by default."""


__all__ = [
    "GaussianMeanDetector",
    "IDKDetector",
    "INNEDetector",
    "IsolationForestDetector",
    "OneClassSVMDetector",
]
