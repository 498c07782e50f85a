"""Detectors of anomalous rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import OutlierMixin
from sklearn.utils import ClassifierTags
from sklearn.utils.metaestimators import available_if

from . import _eyot
from ._base import Model, encoding, fitted, names_of, progress_of, rows_to_fit, rows_to_score, seed_of, threads_of


def share_of(contamination: Any) -> float | None:
    """The share of anomalies, None for "auto"."""
    if isinstance(contamination, str):
        if contamination != "auto":
            raise ValueError(f"`contamination` must be a share or auto, but is {contamination}")
        return None
    return float(contamination)


def count_or_auto(name: str, value: Any) -> int | None:
    """A whole number, None for "auto"."""
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"`{name}` must be a whole number or auto, but is {value}")
        return None
    return value


def settings_of(estimator: Any, **own: Any) -> dict[str, Any]:
    """What the core's detectors are made with; ``own`` is what the method needs besides."""
    plain = {"psi": None, "max_psi": None, "t": 100, "sigma": None, "nu": 0.5, "landmarks": "uniform"}
    shared = {"contamination": share_of(estimator.contamination), "seed": seed_of(estimator.random_state)}
    return {**plain, **shared, **own}


class ScoresMixin:
    """scikit-learn's sign and PyOD's attributes, from scores that are larger for anomalies."""

    _model: Any

    def _keep_scores(self, scores: np.ndarray) -> None:
        self.decision_scores_ = scores
        self._keep_threshold()
        self.labels_ = (scores > self.threshold_).astype(int)

    def _keep_threshold(self) -> None:
        # The core flags scores from its threshold on; PyOD flags those above its own.
        self.threshold_ = float(np.nextafter(self._model.threshold, -np.inf))
        self.offset_ = -self.threshold_

    def score_samples(self, X: Any, *args: Any, **kwargs: Any) -> np.ndarray:
        """Return how normal rows are: scikit-learn's sign, larger is more normal.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The negative of what ``decision_scores_`` has for the rows of the fit.
        """
        return -self._scores(X, *args, **kwargs)

    def decision_function(self, X: Any, *args: Any, **kwargs: Any) -> np.ndarray:
        """Return ``score_samples(X) - offset_``: below 0 for anomalies.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.score_samples(X, *args, **kwargs) - self.offset_

    def predict(self, X: Any, *args: Any, **kwargs: Any) -> np.ndarray:
        """Return -1 for anomalies and 1 for normal rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X, *args, **kwargs) < 0, -1, 1)

    def predict_proba(self, X: Any, *args: Any, **kwargs: Any) -> np.ndarray:
        """Return shares of being normal and of being an anomaly, which are equal at the threshold.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        anomalous = fitted(self).probability(self._scores(X, *args, **kwargs))
        return np.column_stack([1.0 - anomalous, anomalous])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # There is `predict_proba`, and it has two columns.
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    def _facts(self) -> dict[str, Any]:
        facts = {"columns": self.n_features_in_, "threshold": f"{self.threshold_:.6g}"}
        if hasattr(self, "labels_"):
            facts = {"rows": len(self.labels_), "flagged": int(self.labels_.sum()), **facts}
        return facts


class _Detector(ScoresMixin, OutlierMixin, Model):
    """Rows in, oddness out."""

    def _settings(self) -> dict[str, Any]:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None) -> Any:
        """Fit on rows, anomalies among them, and score these rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows; text columns of frames become one column per level.
        y : ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        self
        """
        data = rows_to_fit(self, X, ensure_min_samples=2)
        settings, threads = settings_of(self, **self._settings()), threads_of(self.n_jobs)
        with progress_of(self.verbose) as progress:
            self._model, scores = _eyot.Detector.fit(data, names_of(self), settings, encoding(self), threads, progress)
        self._keep_scores(scores)
        return self

    def _scores(self, X: Any) -> np.ndarray:
        """Larger for anomalies, as in the core and on the command line."""
        data = rows_to_score(self, X)
        return self._model.score(data, threads_of(self.n_jobs))

    def explain(self, X: Any) -> Any:
        """Return which columns make rows odd.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.

        Returns
        -------
        ndarray, sparse matrix or frame of shape (n_samples, n_features)
            The part of every column, from 0 to 1; the parts of a row sum to 1. A pandas frame for a pandas frame.
        """
        data = rows_to_score(self, X)
        rows, columns, shares, names = self._model.explain(data, threads_of(self.n_jobs))
        if self._model.is_sparse:
            return sparse.csr_matrix((shares, (rows, columns)), shape=(len(data), self.n_features_in_))
        known = {name: at for at, name in enumerate(names_of(self))}
        places = np.array([known[name] for name in names])
        parts = np.zeros((len(data), self.n_features_in_))
        parts[rows, places[columns]] = shares
        if hasattr(X, "iloc"):
            import pandas as pd

            return pd.DataFrame(parts, index=X.index, columns=names_of(self))
        return parts


class IDKDetector(_Detector):
    """Anomalies by the Isolation Distributional Kernel: how similar a row is to all data together.

    Parameters
    ----------
    max_samples : int or "auto", default="auto"
        Rows per partitioning, ψ. Small ones find rows far from everything, large ones rows that are odd among their
        neighbours; "auto" scores at many scales and adds up how far each row stands out.
    n_estimators : int, default=100
        Number of partitionings, t.
    norm : bool, default=False
        Only ask in how many partitionings a row is covered at all.
    contamination : float or "auto", default="auto"
        Share of rows to flag, above 0 and at most 0.5; "auto" flags rows whose score stands out.
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
    decision_scores_ : ndarray of shape (n_samples,)
        The scores of the rows of the fit: PyOD's sign, larger for anomalies.
    threshold_ : float
        Scores above it are anomalies.
    labels_ : ndarray of shape (n_samples,)
        1 for anomalies among the rows of the fit, else 0.
    offset_ : float
        ``-threshold_``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray
        Their names, where the data was a frame.

    References
    ----------
    Ting, Xu, Washio, Zhou: Isolation Distributional Kernel (paper 3 of the project).

    Examples
    --------
    >>> import numpy as np
    >>> from eyot import IDKDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[0] = [9, 9]
    >>> detector = IDKDetector(random_state=0).fit(X)
    >>> int(detector.decision_scores_.argmax()), int(detector.labels_[0])
    (0, 1)
    """

    def __init__(
        self,
        *,
        max_samples: Any = "auto",
        n_estimators: int = 100,
        norm: bool = False,
        contamination: Any = "auto",
        scale: Any = "minmax",
        missing: str = "error",
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.max_samples = max_samples
        self.n_estimators = n_estimators
        self.norm = norm
        self.contamination = contamination
        self.scale = scale
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settings(self) -> dict[str, Any]:
        psi = count_or_auto("max_samples", self.max_samples)
        return {"method": "norm" if self.norm else "idk", "psi": psi, "t": self.n_estimators}

    def _is_a_mean(self) -> bool:
        """Whether more rows are a matter of counting."""
        if self.norm or isinstance(self.max_samples, str):
            raise AttributeError(
                "only a detector with a number for `max_samples`, and without `norm`, takes in more rows"
            )
        return True

    @available_if(_is_a_mean)
    def partial_fit(self, X: Any, y: Any = None) -> IDKDetector:
        """Take in more rows; only with a number for ``max_samples``, and without ``norm``.

        The first call fits. Scaling, partitionings, ``threshold_`` and reasons stay those of that fit, so let it see
        enough rows; from then on rows are counted. Pieces of any size, in any order, give the same model, byte for
        byte, and scores are those of all rows together in these partitionings. ``decision_scores_`` and ``labels_``
        are of the rows of this call.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows.
        y : ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from eyot import IDKDetector
        >>> X = np.random.default_rng(0).normal(size=(2000, 2))
        >>> detector = IDKDetector(max_samples=16, random_state=0).fit(X[:500])
        >>> for first in range(500, 2000, 250):
        ...     detector = detector.partial_fit(X[first : first + 250])
        >>> detector.decision_scores_.shape
        (250,)
        """
        if "_model" not in self.__dict__:
            return self.fit(X)
        data, threads = rows_to_fit(self, X, reset=False), threads_of(self.n_jobs)
        with progress_of(self.verbose) as progress:
            self._model, scores = self._model.extended(data, threads, progress)
        self._keep_scores(scores)
        return self


class INNEDetector(_Detector):
    """Anomalies by iNNE: how isolated the ball that covers a row is, beside its neighbour's.

    Parameters
    ----------
    max_samples : int or "auto", default="auto"
        Rows per partitioning, ψ; "auto" scores at many scales.
    n_estimators : int, default=100
        Number of partitionings, t.
    contamination, scale, missing, random_state, n_jobs, verbose
        As of :class:`IDKDetector`.

    Attributes
    ----------
    decision_scores_, threshold_, labels_, offset_, n_features_in_, feature_names_in_
        As of :class:`IDKDetector`.

    Examples
    --------
    >>> import numpy as np
    >>> from eyot import INNEDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[0] = [9, 9]
    >>> INNEDetector(max_samples=16, contamination=0.01, random_state=0).fit_predict(X)[:3]
    array([-1,  1,  1])
    """

    def __init__(
        self,
        *,
        max_samples: Any = "auto",
        n_estimators: int = 100,
        contamination: Any = "auto",
        scale: Any = "minmax",
        missing: str = "error",
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.max_samples = max_samples
        self.n_estimators = n_estimators
        self.contamination = contamination
        self.scale = scale
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settings(self) -> dict[str, Any]:
        return {"method": "inne", "psi": count_or_auto("max_samples", self.max_samples), "t": self.n_estimators}


class IsolationForestDetector(_Detector):
    """Anomalies by isolation forest: how few random cuts separate a row.

    Parameters
    ----------
    max_samples : int or "auto", default="auto"
        Rows per tree, ψ; "auto" is 256.
    n_estimators : int, default=100
        Number of trees, t.
    contamination : float or "auto", default=0.1
        Share of rows to flag; "auto" flags rows whose score stands out, which scores of this method seldom do.
    scale, missing, random_state, n_jobs, verbose
        As of :class:`IDKDetector`.

    Attributes
    ----------
    decision_scores_, threshold_, labels_, offset_, n_features_in_, feature_names_in_
        As of :class:`IDKDetector`.

    Examples
    --------
    >>> import numpy as np
    >>> from eyot import IsolationForestDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[0] = [9, 9]
    >>> int(IsolationForestDetector(random_state=0).fit(X).score_samples(X).argmin())
    0
    """

    def __init__(
        self,
        *,
        max_samples: Any = "auto",
        n_estimators: int = 100,
        contamination: Any = 0.1,
        scale: Any = "minmax",
        missing: str = "error",
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.max_samples = max_samples
        self.n_estimators = n_estimators
        self.contamination = contamination
        self.scale = scale
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settings(self) -> dict[str, Any]:
        return {"method": "iforest", "psi": count_or_auto("max_samples", self.max_samples), "t": self.n_estimators}


class GaussianMeanDetector(_Detector):
    """Anomalies by the mean Gaussian kernel between a row and all data.

    Quadratic in the rows, which are sampled when there are many.

    Parameters
    ----------
    sigma : float or None, default=None
        Bandwidth; None takes the median distance between rows.
    approximation : {None, "nystroem"}, default=None
        "nystroem" uses features of landmarks instead of all rows.
    landmarks : {"uniform", "leverage"}, default="uniform"
        How landmarks are drawn.
    contamination, scale, missing, random_state, n_jobs, verbose
        As of :class:`IDKDetector`.

    Attributes
    ----------
    decision_scores_, threshold_, labels_, offset_, n_features_in_, feature_names_in_
        As of :class:`IDKDetector`.

    Examples
    --------
    >>> import numpy as np
    >>> from eyot import GaussianMeanDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[0] = [9, 9]
    >>> int(GaussianMeanDetector(random_state=0).fit(X).decision_scores_.argmax())
    0
    """

    def __init__(
        self,
        *,
        sigma: float | None = None,
        approximation: str | None = None,
        landmarks: str = "uniform",
        contamination: Any = "auto",
        scale: Any = "minmax",
        missing: str = "error",
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.sigma = sigma
        self.approximation = approximation
        self.landmarks = landmarks
        self.contamination = contamination
        self.scale = scale
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settings(self) -> dict[str, Any]:
        if self.approximation not in (None, "nystroem"):
            raise ValueError(f"`approximation` must be None or nystroem, but is {self.approximation}")
        if self.landmarks not in ("uniform", "leverage"):
            raise ValueError(f"`landmarks` must be uniform or leverage, but is {self.landmarks}")
        method = "gaussian" if self.approximation is None else "gaussian-nystrom"
        return {"method": method, "sigma": self.sigma, "landmarks": self.landmarks}


class OneClassSVMDetector(_Detector):
    """Anomalies by a one-class SVM with the Gaussian kernel.

    Quadratic in the rows, which are sampled when there are many.

    Parameters
    ----------
    nu : float, default=0.5
        Share of rows that may be left outside, above 0 and at most 1.
    sigma : float or None, default=None
        Bandwidth; None takes the median distance between rows.
    contamination : float or "auto", default=0.1
        Share of rows to flag; "auto" flags rows whose score stands out, which scores of this method seldom do.
    scale, missing, random_state, n_jobs, verbose
        As of :class:`IDKDetector`.

    Attributes
    ----------
    decision_scores_, threshold_, labels_, offset_, n_features_in_, feature_names_in_
        As of :class:`IDKDetector`.

    Examples
    --------
    >>> import numpy as np
    >>> from eyot import OneClassSVMDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[0] = [9, 9]
    >>> int(OneClassSVMDetector(nu=0.1, random_state=0).fit(X).decision_scores_.argmax())
    0
    """

    def __init__(
        self,
        *,
        nu: float = 0.5,
        sigma: float | None = None,
        contamination: Any = 0.1,
        scale: Any = "minmax",
        missing: str = "error",
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.nu = nu
        self.sigma = sigma
        self.contamination = contamination
        self.scale = scale
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settings(self) -> dict[str, Any]:
        return {"method": "ocsvm", "nu": float(self.nu), "sigma": self.sigma}
