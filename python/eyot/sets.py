"""Bags of rows as wholes: classifiers of bags, and a detector of anomalous groups.

Bags come as a list of arrays or frames, as rows and one id per row (``bags=``), or as rows and offsets (``offsets=``).
A plain array is as many bags of one row each.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_consistent_length

from . import _eyot
from ._base import (
    Model,
    encoding,
    fitted,
    names_of,
    progress_of,
    rows_to_fit,
    rows_to_score,
    seed_of,
    spread,
    threads_of,
)
from .classify import ClassesMixin, labels_to_fit
from .detect import ScoresMixin, count_or_auto, settings_of


def is_list_of_bags(X: Any) -> bool:
    """Whether X is a list of two-dimensional things."""
    return (
        isinstance(X, (list, tuple))
        and len(X) > 0
        and all(getattr(bag, "ndim", 0) == 2 or hasattr(bag, "__arrow_c_stream__") for bag in X)
    )


def rows_and_members(X: Any, bags: Any, offsets: Any) -> tuple[Any, Any]:
    """All rows together, and which belong together; the latter is None if each is its own bag."""
    if bags is not None and offsets is not None:
        raise ValueError("bags are given by `bags` or by `offsets`, not by both")
    if is_list_of_bags(X):
        if bags is not None or offsets is not None:
            raise ValueError("a list of bags needs neither `bags` nor `offsets`")
        widths = {bag.shape[1] for bag in X}
        if len(widths) > 1:
            raise ValueError(
                f"all bags must have the same columns, but there are bags of {min(widths)} and {max(widths)}"
            )
        sizes = [bag.shape[0] for bag in X]
        members = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return _stack(X), members
    if isinstance(X, (list, tuple)) and len(X) and any(getattr(bag, "ndim", 0) == 2 for bag in X):
        raise ValueError("a list of bags must consist of two-dimensional arrays")
    if offsets is not None:
        return X, np.ascontiguousarray(offsets, dtype=np.int64)
    if bags is not None:
        names, codes = np.unique(np.asarray(bags), return_inverse=True)
        return X, (codes.astype(np.int64).ravel(), [str(name) for name in names])
    return X, None


def _stack(bags: Any) -> Any:
    first = bags[0]
    if hasattr(first, "iloc"):
        import pandas as pd

        return pd.concat(bags, ignore_index=True)
    if type(first).__module__.startswith("polars"):
        import polars as pl

        return pl.concat(bags)
    if hasattr(first, "toarray"):
        from scipy import sparse

        return sparse.vstack(bags, format="csr")
    return np.vstack(bags)


def singles(members: Any, n_rows: int) -> Any:
    """Each row its own bag, if nothing else was said."""
    return np.arange(n_rows + 1, dtype=np.int64) if members is None else members


def listed(value: Any) -> Any:
    """What to choose from: None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    if isinstance(value, (list, tuple, np.ndarray)):
        return list(value)
    return [value]


class _Bags(ClassesMixin, Model):
    """Bags in, labels out."""

    def _settings(self) -> dict[str, Any]:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, *, bags: Any = None, offsets: Any = None) -> Any:
        """Learn the classes of bags.

        Parameters
        ----------
        X : list of arrays, or array-like, sparse matrix or frame of shape (n_rows, n_features)
            The bags, or the rows of all bags.
        y : array-like of shape (n_bags,)
            One label per bag, in the order in which bags first appear.
        bags : array-like of shape (n_rows,), default=None
            The bag of each row.
        offsets : array-like of shape (n_bags + 1,), default=None
            Bag i has rows ``offsets[i]`` to ``offsets[i + 1]``.

        Returns
        -------
        self
        """
        rows, members = rows_and_members(X, bags, offsets)
        data = rows_to_fit(self, rows, ensure_min_samples=2 if members is None else 1)
        members = singles(members, len(data))
        classes, labels = labels_to_fit(self, y)
        n_bags = len(members) - 1 if isinstance(members, np.ndarray) else len(members[1])
        check_consistent_length(labels["codes"], range(n_bags))
        plain = {"metric": "euclidean", "t": 200, "psi": None, "epsilon": None, "power": None}
        plain |= {"gamma": None, "tau": None, "components": None, "energy": None, "c": listed(self.C), "folds": self.cv}
        scale = None if self.scale == "auto" else encoding(self)["scale"]
        settings = {**plain, **self._settings(), "scale": scale, "seed": seed_of(self.random_state)}
        # Scaling is among what is chosen, so the encoder leaves numbers as they are.
        how = {"scale": "none", "missing": self.missing}
        threads = threads_of(self.n_jobs)
        with progress_of(self.verbose) as progress:
            self._model = _eyot.Bags.fit(data, names_of(self), members, labels, settings, how, threads, progress)
        self._keep_classes(classes)
        self.parameters_ = json.loads(self._model.parameters)
        return self

    def _data(self, X: Any, bags: Any, offsets: Any) -> tuple[Any, Any]:
        fitted(self)
        rows, members = rows_and_members(X, bags, offsets)
        data = rows_to_score(self, rows)
        return data, singles(members, len(data))

    def decision_function(self, X: Any, *, bags: Any = None, offsets: Any = None) -> np.ndarray:
        """Return the scores of bags.

        Parameters
        ----------
        X, bags, offsets
            Bags as in ``fit``.

        Returns
        -------
        ndarray of shape (n_bags,) or (n_bags, n_classes)
            For two classes one score, above 0 for the second.
        """
        data, members = self._data(X, bags, offsets)
        scores, _ = self._model.score(data, members, threads_of(self.n_jobs))
        return spread(scores, self._order, len(self.classes_))

    def predict(self, X: Any, *, bags: Any = None, offsets: Any = None) -> np.ndarray:
        """Return the labels of bags.

        Parameters
        ----------
        X, bags, offsets
            Bags as in ``fit``.

        Returns
        -------
        ndarray of shape (n_bags,)
        """
        data, members = self._data(X, bags, offsets)
        _, classes = self._model.score(data, members, threads_of(self.n_jobs))
        return self.classes_[self._order[classes]]

    def instance_scores(self, X: Any, *, bags: Any = None, offsets: Any = None) -> np.ndarray:
        """Return how much every row speaks for each class.

        Parameters
        ----------
        X, bags, offsets
            Bags as in ``fit``.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            With the kernels of sets, the scores of a bag's rows add up to that of the bag, but for a constant.
        """
        data, members = self._data(X, bags, offsets)
        scores = self._model.instance_scores(data, members, threads_of(self.n_jobs))
        return spread(scores, self._order, len(self.classes_))

    def _facts(self) -> dict[str, Any]:
        return {"columns": self.n_features_in_, "classes": len(self.classes_)}


class ISKClassifier(_Bags):
    """Classification of bags by the Isolation Set-Kernel: a bag is its shares of isolation cells.

    What is "auto" or a list is chosen by cross-validation over the bags.

    Parameters
    ----------
    max_samples : int, list or "auto", default="auto"
        Rows per partitioning, ψ; "auto" tries 16, 32, … 4096, and fewer where ``metric`` is for texts.
    epsilon : float, list or "auto", default="auto"
        Rows of a bag that share more cells than this weigh less each, from 0 to 1; 1 weights all alike. "auto" tries
        0.55, 0.6, … 1, and leaves it to ``tau`` where ``metric`` is for texts.
    tau : float, list or "auto", default="auto"
        Instead of ``epsilon``: rows of a bag whose squared distance is below this weigh less each. "auto" tries
        2^-5, … 2^5 where ``metric`` is for texts, and leaves it to ``epsilon`` elsewhere.
    power : float, list or "auto", default="auto"
        Shares of cells are raised to this power, from 0 to 1, so that cells of few rows are heard: 1 is the kernel of
        the paper, 0 counts the cells in common. "auto" tries 1, 0.5 and 0, and is 1 where rows are weighted by ``tau``.
    C : float, list or "auto", default="auto"
        Price of a violated margin; "auto" tries 1, 10 and 100.
    n_estimators : int, default=200
        Number of partitionings, t.
    metric : {"euclidean", "text", "text-sum"}, default="euclidean"
        How distance is measured.
    scale : {"auto", "minmax", "standard", None}, default="auto"
        How number columns are scaled; "auto" chooses.
    cv : int, default=5
        Folds of the cross-validation that chooses.
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
    parameters_ : dict
        What was chosen.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray
        Their names, where the data was a frame.

    References
    ----------
    Paper 4 of the project.

    Examples
    --------
    >>> import numpy as np
    >>> from eyot import ISKClassifier
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(10, 2)) for _ in range(40)]
    >>> y = np.arange(40) % 2
    >>> for bag in bags[1::2]:
    ...     bag[0] = [6, 6]
    >>> ISKClassifier(max_samples=32, epsilon=1.0, C=10.0, random_state=0).fit(bags, y).score(bags, y)
    1.0
    """

    def __init__(
        self,
        *,
        max_samples: Any = "auto",
        epsilon: Any = "auto",
        tau: Any = "auto",
        power: Any = "auto",
        C: Any = "auto",
        n_estimators: int = 200,
        metric: str = "euclidean",
        scale: Any = "auto",
        cv: int = 5,
        missing: str = "error",
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.max_samples = max_samples
        self.epsilon = epsilon
        self.tau = tau
        self.power = power
        self.C = C
        self.n_estimators = n_estimators
        self.metric = metric
        self.scale = scale
        self.cv = cv
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settings(self) -> dict[str, Any]:
        return {
            "method": "isk",
            "metric": self.metric,
            "t": self.n_estimators,
            "psi": listed(self.max_samples),
            "epsilon": listed(self.epsilon),
            "tau": listed(self.tau),
            "power": listed(self.power),
        }


class BagClassifier(_Bags):
    """Classification of bags by other methods: those that ISK is compared with.

    What is "auto" or a list is chosen by cross-validation over the bags.

    Parameters
    ----------
    method : str, default="mi-kernel"
        One of mi-kernel, migraph, mifv, cce, mi-svm, MI-SVM, simple-mi, isk.
    gamma : float, list or "auto", default="auto"
        Sharpness of the Gaussian kernel (all but mifv, cce and isk); "auto" tries 2^-5, … 2^5.
    tau : float, list or "auto", default="auto"
        Squared distance below which rows of a bag are neighbours (migraph).
    n_components : int, list or "auto", default="auto"
        Components of the mixture (mifv).
    energy : float, list or "auto", default="auto"
        Share of the variance that PCA keeps before the mixture (mifv).
    C, scale, cv, missing, random_state, n_jobs, verbose
        As of :class:`ISKClassifier`.

    Attributes
    ----------
    classes_, parameters_, n_features_in_, feature_names_in_
        As of :class:`ISKClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from eyot import BagClassifier
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(10, 2)) + 4 * (i % 2) for i in range(40)]
    >>> y = np.arange(40) % 2
    >>> BagClassifier(method="simple-mi", gamma=1.0, C=10.0, scale="minmax").fit(bags, y).score(bags, y)
    1.0
    """

    def __init__(
        self,
        *,
        method: str = "mi-kernel",
        gamma: Any = "auto",
        tau: Any = "auto",
        n_components: Any = "auto",
        energy: Any = "auto",
        C: Any = "auto",
        scale: Any = "auto",
        cv: int = 5,
        missing: str = "error",
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.gamma = gamma
        self.tau = tau
        self.n_components = n_components
        self.energy = energy
        self.C = C
        self.scale = scale
        self.cv = cv
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settings(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "gamma": listed(self.gamma),
            "tau": listed(self.tau),
            "components": listed(self.n_components),
            "energy": listed(self.energy),
        }


class GroupDetector(ScoresMixin, OutlierMixin, Model):
    """Anomalous groups of rows, even if none of their rows is odd: too many of a kind, or a missing kind.

    Parameters
    ----------
    max_samples : int or "auto", default="auto"
        Rows per partitioning, ψ; "auto" takes 64 for rows and many scales for groups.
    n_estimators : int, default=100
        Number of partitionings, t.
    contamination : float or "auto", default="auto"
        Share of groups to flag, above 0 and at most 0.5; "auto" flags groups whose score stands out.
    scale, missing, random_state, n_jobs, verbose
        As of :class:`IDKDetector`.

    Attributes
    ----------
    decision_scores_, threshold_, labels_, offset_, n_features_in_, feature_names_in_
        As of :class:`IDKDetector`, of groups in the order in which they first appear.

    References
    ----------
    Paper 3 of the project, its equations applied twice.

    Examples
    --------
    >>> import numpy as np
    >>> from eyot import GroupDetector
    >>> rng = np.random.default_rng(0)
    >>> groups = [np.append(rng.normal(-2, 0.3, 20), rng.normal(2, 0.3, 20))[:, None] for _ in range(30)]
    >>> groups[7] = rng.normal(2, 0.3, (40, 1))
    >>> int(GroupDetector(random_state=0).fit(groups).decision_scores_.argmax())
    7
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

    def fit(self, X: Any, y: Any = None, *, bags: Any = None, offsets: Any = None) -> GroupDetector:
        """Fit on groups, anomalous ones among them, and score these groups.

        Parameters
        ----------
        X : list of arrays, or array-like, sparse matrix or frame of shape (n_rows, n_features)
            The groups, or the rows of all groups.
        y : ignored
            Not used, present for API consistency by convention.
        bags : array-like of shape (n_rows,), default=None
            The group of each row.
        offsets : array-like of shape (n_groups + 1,), default=None
            Group i has rows ``offsets[i]`` to ``offsets[i + 1]``.

        Returns
        -------
        self
        """
        rows, members = rows_and_members(X, bags, offsets)
        data = rows_to_fit(self, rows, ensure_min_samples=2)
        psi = count_or_auto("max_samples", self.max_samples)
        settings = settings_of(self, method="idk", psi=psi, t=self.n_estimators)
        members, threads = singles(members, len(data)), threads_of(self.n_jobs)
        with progress_of(self.verbose) as progress:
            self._model, scores = _eyot.Groups.fit(
                data, names_of(self), members, settings, encoding(self), threads, progress
            )
        self._keep_scores(scores)
        return self

    def _scores(self, X: Any, *, bags: Any = None, offsets: Any = None) -> np.ndarray:
        fitted(self)
        rows, members = rows_and_members(X, bags, offsets)
        data = rows_to_score(self, rows)
        return self._model.score(data, singles(members, len(data)), threads_of(self.n_jobs))

    def fit_predict(self, X: Any, y: Any = None, *, bags: Any = None, offsets: Any = None) -> np.ndarray:
        """Fit on groups and return -1 for anomalous ones, else 1.

        Parameters
        ----------
        X, y, bags, offsets
            As in ``fit``.

        Returns
        -------
        ndarray of shape (n_groups,)
        """
        return np.where(self.fit(X, bags=bags, offsets=offsets).labels_ == 1, -1, 1)
