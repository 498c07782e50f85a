"""Learners of streams: in batches as scikit-learn has them, or row by row as River has them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

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


def _series(values: Any, X: Any, name: Any = None) -> Any:
    """Values beside the rows of a pandas frame."""
    if hasattr(X, "iloc"):
        import pandas as pd

        return pd.Series(values, index=X.index, name=name)
    return values


class _Online(Model):
    """What classifiers and regressors of streams share."""

    _method = ""
    _regress = False

    def _settings(self) -> dict[str, Any]:
        """What the core's learner is made with: what is None takes the method's own default."""
        get = self.__dict__.get
        return {
            "method": get("method", self._method),
            "regress": self._regress,
            "loss": get("loss"),
            "epsilon": get("epsilon"),
            "eta": get("eta"),
            "eta_width": get("eta_width"),
            "lambda": get("alpha"),
            "budget": get("budget"),
            "rank": get("rank"),
            "landmarks": get("landmarks", "first"),
            "frequencies": get("frequencies"),
            "c": get("C"),
            "kernel": get("kernel", "gaussian"),
            "gamma": get("gamma"),
            "refresh": get("refresh"),
            "drift": bool(get("drift", False)),
            "compat": bool(get("compat", False)),
            "init": self.n_initial,
        }

    def _start(self, names: list[str], target: str, sparse: bool, classes: list[str]) -> None:
        seed = seed_of(self.random_state)
        settings = {**self._settings(), "seed": seed}
        self._model = _eyot.Learner(names, target, sparse, classes, cells(self, seed), settings, encoding(self))

    def _learn(self, data: Any, wanted: Any) -> None:
        with self._or_as_before(), progress_of(self.verbose) as progress:
            self._model.learn(data, wanted, threads_of(self.n_jobs), progress)

    @contextmanager
    def _or_as_before(self) -> Iterator[None]:
        """A learner whose first rows are refused is as if it had not begun."""
        try:
            yield
        except BaseException:
            if self._model.n_rows == 0:
                del self._model
            raise

    def _begin_one(self, x: dict[str, Any]) -> None:
        """Take the columns of the first row."""
        names = sorted(str(name) for name in x)
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.asarray(names, dtype=object)
        target = target_name(self, None)
        self._start(names, target, False, [])

    def _one(self, x: dict[str, Any]) -> Any:
        """One row as a frame, for rows with text."""
        row: list[tuple[str, Any]] = []
        for name in names_of(self):
            value = x.get(name, 0.0)
            if isinstance(value, str):
                row.append((name, (np.zeros(1, dtype=np.int64), [value])))
            else:
                row.append((name, np.array([float(value)])))
        return _eyot.Frame.from_columns(row)

    def _known(self, X: Any) -> Any:
        """The columns of a frame that the model knows, absent ones being 0: as rows of dicts are taken."""
        known = names_of(self)
        if hasattr(X, "reindex") and list(X.columns) != known:
            return X.reindex(columns=known, fill_value=0.0)
        return X

    @property
    def n_rows_(self) -> int:
        """Rows learned."""
        return fitted(self).n_rows

    def _facts(self) -> dict[str, Any]:
        points, mistakes, squared = self._model.tally
        facts = {"columns": self.n_features_in_, "rows": self._model.n_rows}
        if self._regress:
            return {**facts, "rmse before learning": f"{np.sqrt(squared / max(points, 1)):.6g}"}
        return {**facts, "mistakes before learning": mistakes}


class _OnlineClassifier(ClassifierMixin, _Online):
    classes_: np.ndarray

    def fit(self, X: Any, y: Any) -> Any:
        """Begin anew and learn rows in one pass, in order.

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
        self.__dict__.pop("_model", None)
        return self._fit(X, y, None, True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        """Learn more rows. Learning many at once is learning them one by one, bit for bit.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like or None, default=None
            All labels that will come, with the first call. Without it, new labels are taken in as they come.

        Returns
        -------
        self
        """
        return self._fit(X, y, classes, False)

    def _fit(self, X: Any, y: Any, classes: Any, settle: bool) -> Any:
        first = "_model" not in self.__dict__
        data = rows_to_fit(self, X, reset=first)
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        target = target_name(self, y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        check_consistent_length(y, range(len(data)))
        if first:
            self._labels: dict[str, Any] = {}
            self._closed = classes is not None
            known = [] if classes is None else self._take(np.unique(np.asarray(classes)))
            self._start(names_of(self), target, not isinstance(data, np.ndarray) and not data.names, known)
        elif classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError("`classes` is not the same as on the first call to partial_fit")
        found, codes = np.unique(y, return_inverse=True)
        if self._closed and not np.isin(found, self.classes_).all():
            strange = found[~np.isin(found, self.classes_)][0]
            raise ValueError(f"the label {strange!r} is not among `classes`")
        labels = self._take(found)
        self._learn(data, {"codes": codes.astype(np.int64), "labels": labels, "name": target})
        if settle:
            self._model.settle(threads_of(self.n_jobs))
        return self

    def _take(self, labels: Any) -> list[str]:
        """Note labels and return how the core writes them."""
        names = names_of_labels(labels)
        before = len(self._labels)
        for name, label in zip(names, labels):
            self._labels.setdefault(name, label)
        if len(self._labels) > before or "classes_" not in self.__dict__:
            self.classes_ = np.unique(np.array(list(self._labels.values())))
            self._places = {name: at for at, name in enumerate(names_of_labels(self.classes_))}
        return names

    def _order(self) -> np.ndarray:
        """The place in `classes_` of each class of the core."""
        return np.array([self._places[name] for name in self._model.classes], dtype=np.intp)

    def _keep_names(self) -> None:
        labels = labels_of_names(self._model.classes)
        self._labels, self._closed = {}, False
        self._take(labels)

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
        data = rows_to_score(self, X)
        _, classes = self._model.score(data, threads_of(self.n_jobs))
        return self.classes_[self._order()[classes]]

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
        data = rows_to_score(self, X)
        scores, _ = self._model.score(data, threads_of(self.n_jobs))
        return spread(scores, self._order(), len(self.classes_))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of every class: probabilities with the logistic loss, else only in the order of the scores.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        data = rows_to_score(self, X)
        scores, _ = self._model.score(data, threads_of(self.n_jobs))
        shares = self._model.shares(scores)
        probabilities = np.zeros((len(shares), len(self.classes_)))
        probabilities[:, self._order()[: shares.shape[1]]] = shares
        return probabilities

    def learn_one(self, x: dict[str, Any], y: Any) -> None:
        """Learn one row, as River has it.

        Parameters
        ----------
        x : dict
            Values by name; names are those of the first row, absent ones count as 0, others are ignored.
        y : label
            Its class.
        """
        if "_model" not in self.__dict__:
            self._labels, self._closed = {}, False
            self._begin_one(x)
        name = self.__dict__.setdefault("_texts", {}).get(y)
        if name is None:
            (name,) = self._take([y])
            self._texts[y] = name
        with self._or_as_before():
            try:
                self._model.learn_one(x, name, None)
            except TypeError:
                wanted = {"codes": np.zeros(1, dtype=np.int64), "labels": [name], "name": ""}
                self._model.learn(self._one(x), wanted, 1, None)

    def _score_one(self, x: dict[str, Any]) -> Any:
        if "_model" not in self.__dict__:
            return None
        try:
            return self._model.score_one(x)
        except TypeError:
            scores, classes = self._model.score(self._one(x), 1)
            return scores[0], int(classes[0]), self._model.shares(scores)[0].tolist()

    def predict_one(self, x: dict[str, Any]) -> Any:
        """Return the label of one row, None before anything was learned.

        Parameters
        ----------
        x : dict
            Values by name.

        Returns
        -------
        label or None
        """
        found = self._score_one(x)
        return None if found is None else self._labels[self._model.classes[found[1]]]

    def predict_proba_one(self, x: dict[str, Any]) -> dict[Any, float]:
        """Return the share of every class seen so far for one row.

        Parameters
        ----------
        x : dict
            Values by name.

        Returns
        -------
        dict
            Shares by label; empty before anything was learned.
        """
        found = self._score_one(x)
        if found is None:
            return {}
        return {self._labels[name]: share for name, share in zip(self._model.classes, found[2])}

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a frame, as River has it: the same as learning them one by one.

        Parameters
        ----------
        X : pandas.DataFrame
            The rows.
        y : pandas.Series
            Their labels.
        """
        if "_model" not in self.__dict__:
            self._labels, self._closed = {}, False
            self._begin_one(dict.fromkeys(X.columns, 0.0))
        self._fit(self._known(X), y, None, False)

    def predict_many(self, X: Any) -> Any:
        """Return the labels of the rows of a frame.

        Parameters
        ----------
        X : pandas.DataFrame
            The rows.

        Returns
        -------
        pandas.Series
        """
        if "_model" not in self.__dict__:
            return _series(np.array([], dtype=object), X[:0])
        return _series(self.predict(self._known(X)), X)

    def predict_proba_many(self, X: Any) -> Any:
        """Return the shares of all classes for the rows of a frame.

        Parameters
        ----------
        X : pandas.DataFrame
            The rows.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        if "_model" not in self.__dict__:
            return pd.DataFrame(index=X.index)
        return pd.DataFrame(self.predict_proba(self._known(X)), index=X.index, columns=list(self.classes_))


class _OnlineRegressor(RegressorMixin, _Online):
    _regress = True

    def fit(self, X: Any, y: Any) -> Any:
        """Begin anew and learn rows in one pass, in order.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their values.

        Returns
        -------
        self
        """
        self.__dict__.pop("_model", None)
        return self._fit(X, y, True)

    def partial_fit(self, X: Any, y: Any) -> Any:
        """Learn more rows. Learning many at once is learning them one by one, bit for bit.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their values.

        Returns
        -------
        self
        """
        return self._fit(X, y, False)

    def _fit(self, X: Any, y: Any, settle: bool) -> Any:
        first = "_model" not in self.__dict__
        data = rows_to_fit(self, X, reset=first)
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        target = target_name(self, y)
        y = check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype=np.float64, order="C", input_name="y")
        check_consistent_length(y, range(len(data)))
        if first:
            self._start(names_of(self), target, not isinstance(data, np.ndarray) and not data.names, [])
        self._learn(data, y)
        if settle:
            self._model.settle(threads_of(self.n_jobs))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the values of rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        data = rows_to_score(self, X)
        scores, _ = self._model.score(data, threads_of(self.n_jobs))
        return scores[:, 0]

    def learn_one(self, x: dict[str, Any], y: float) -> None:
        """Learn one row, as River has it.

        Parameters
        ----------
        x : dict
            Values by name; names are those of the first row, absent ones count as 0, others are ignored.
        y : float
            Its value.
        """
        if "_model" not in self.__dict__:
            self._begin_one(x)
        with self._or_as_before():
            try:
                self._model.learn_one(x, None, float(y))
            except TypeError:
                self._model.learn(self._one(x), np.array([float(y)]), 1, None)

    def predict_one(self, x: dict[str, Any]) -> float:
        """Return the value of one row, 0 before anything was learned.

        Parameters
        ----------
        x : dict
            Values by name.

        Returns
        -------
        float
        """
        if "_model" not in self.__dict__:
            return 0.0
        try:
            return self._model.score_one(x)[0][0]
        except TypeError:
            return float(self._model.score(self._one(x), 1)[0][0, 0])

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a frame, as River has it: the same as learning them one by one.

        Parameters
        ----------
        X : pandas.DataFrame
            The rows.
        y : pandas.Series
            Their values.
        """
        if "_model" not in self.__dict__:
            self._begin_one(dict.fromkeys(X.columns, 0.0))
        self._fit(self._known(X), y, False)

    def predict_many(self, X: Any) -> Any:
        """Return the values of the rows of a frame.

        Parameters
        ----------
        X : pandas.DataFrame
            The rows.

        Returns
        -------
        pandas.Series
        """
        if "_model" not in self.__dict__:
            return _series(np.zeros(len(X)), X)
        return _series(self.predict(self._known(X)), X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # One pass over a few hundred rows teaches little.
        tags.regressor_tags.poor_score = True
        return tags


_COMMON = """    n_initial : int, default=1000
        First rows, from which scaling, map and landmarks are made. Until they have come, a provisional model answers.
    scale : {"minmax", "standard", None}, default="minmax"
        How number columns are scaled; part of the model.
    missing : {"error", "impute"}, default="error"
        What happens to missing cells.
    random_state : int, RandomState or None, default=None
        A whole number is the seed, as ``--seed`` on the command line.
    n_jobs : int or None, default=None
        Threads; -1 for all. No result depends on it.
    verbose : int, default=0
        1 shows a progress bar."""


def _documented(cls: Any) -> Any:
    """Puts in what the docstrings of all learners share."""
    cls.__doc__ = cls.__doc__.replace("    {common}", _COMMON)
    return cls


class _IKParameters:
    """Parameters of learners on the isolation map."""

    def __init__(
        self,
        *,
        partition: str = "voronoi",
        n_estimators: int = 100,
        max_samples: int = 256,
        metric: str = "euclidean",
        loss: str | None = None,
        eta: float | None = None,
        epsilon: float | None = None,
        refresh: int | None = None,
        drift: bool = False,
        n_initial: int = 1000,
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
        self.loss = loss
        self.eta = eta
        self.epsilon = epsilon
        self.refresh = refresh
        self.drift = drift
        self.n_initial = n_initial
        self.scale = scale
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class _RRFParameters:
    """Parameters of learners on reparameterised random features."""

    def __init__(
        self,
        *,
        frequencies: int | None = None,
        loss: str | None = None,
        eta: float | None = None,
        eta_width: float | None = None,
        alpha: float | None = None,
        epsilon: float | None = None,
        n_initial: int = 1000,
        scale: Any = "minmax",
        missing: str = "error",
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.frequencies = frequencies
        self.loss = loss
        self.eta = eta
        self.eta_width = eta_width
        self.alpha = alpha
        self.epsilon = epsilon
        self.n_initial = n_initial
        self.scale = scale
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class _KernelParameters:
    """Parameters of learners with other kernels."""

    def __init__(
        self,
        *,
        method: str = "fogd",
        kernel: str = "gaussian",
        gamma: float | None = None,
        budget: int | None = None,
        rank: int | None = None,
        landmarks: str = "first",
        frequencies: int | None = None,
        loss: str | None = None,
        eta: float | None = None,
        alpha: float | None = None,
        C: float | None = None,
        epsilon: float | None = None,
        compat: bool = False,
        n_initial: int = 1000,
        scale: Any = "minmax",
        missing: str = "error",
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.kernel = kernel
        self.gamma = gamma
        self.budget = budget
        self.rank = rank
        self.landmarks = landmarks
        self.frequencies = frequencies
        self.loss = loss
        self.eta = eta
        self.alpha = alpha
        self.C = C
        self.epsilon = epsilon
        self.compat = compat
        self.n_initial = n_initial
        self.scale = scale
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


_IK = """    partition : {"voronoi", "tree", "sphere"}, default="voronoi"
        How sampled rows cut the space into cells; trees are fastest.
    n_estimators : int, default=100
        Number of partitionings, t.
    max_samples : int, default=256
        Rows per partitioning, ψ: the sharpness.
    metric : {"euclidean", "text", "text-sum"}, default="euclidean"
        How distance is measured.
    loss : str or None, default=None
        hinge (default) or logistic for classes; squared (default), absolute or insensitive for numbers.
    eta : float or None, default=None
        Rate of learning; 0.5 by default.
    epsilon : float or None, default=None
        Errors of numbers up to this count as none.
    refresh : int or None, default=None
        Renew one partitioning every so many points, from recent ones.
    drift : bool, default=False
        Renew half of the partitionings, only when errors say that the stream has changed."""

_RRF = """    frequencies : int or None, default=None
        Random frequencies D; there are 2D features. 100 by default.
    loss : str or None, default=None
        hinge (default) or logistic for classes; squared (default), absolute or insensitive for numbers.
    eta : float or None, default=None
        Rate of learning; 0.005 by default.
    eta_width : float or None, default=None
        Rate of the widths; that of the weights by default.
    alpha : float or None, default=None
        Decay λ of the weights; 0 by default.
    epsilon : float or None, default=None
        Errors of numbers up to this count as none."""

_KERNEL = """    method : str, default="fogd"
        One of ogd, nogd, fogd, adaraker, perceptron, rbp, forgetron, projectron, projectron++, bpas, bsgd-m, bogd,
        dualsgd (of these, projectron++, bpas and bsgd-m learn classes only). ogd and perceptron keep every point they
        learn from: they grow and slow down with the stream.
    kernel : {"gaussian", "laplacian", "polynomial", "chi2", "intersection"}, default="gaussian"
        The kernel of methods that keep points, and of fogd.
    gamma : float or None, default=None
        Its sharpness.
    budget : int or None, default=None
        Most points to keep, or number of landmarks of nogd; 100 by default.
    rank : int or None, default=None
        Features of nogd; a fifth of the budget by default.
    landmarks : {"first", "uniform"}, default="first"
        Landmarks of nogd: the first violations, or random points of the initial rows.
    frequencies : int or None, default=None
        Random frequencies of fogd, dualsgd and adaraker.
    loss : str or None, default=None
        hinge or logistic for classes; squared, absolute or insensitive for numbers.
    eta : float or None, default=None
        Rate of learning.
    alpha : float or None, default=None
        Decay or regularisation λ.
    C : float or None, default=None
        Longest step of bpas.
    epsilon : float or None, default=None
        Errors of numbers up to this count as none.
    compat : bool, default=False
        Behave as the programs behind the published figures, where they differ from the papers."""


def _with(parameters: str) -> Any:
    def put_in(cls: Any) -> Any:
        cls.__doc__ = cls.__doc__.replace("    {own}", parameters)
        return _documented(cls)

    return put_in


@_with(_IK)
class IKOnlineClassifier(_IKParameters, _OnlineClassifier):
    """Online classification by gradient descent on the isolation map: constant cost per row, for ever.

    Parameters
    ----------
    {own}
    {common}

    Attributes
    ----------
    classes_ : ndarray
        The labels so far.
    n_rows_ : int
        Rows learned.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray
        Their names, where the rows have names.

    References
    ----------
    Paper 1 of the project.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eyot import IKOnlineClassifier
    >>> X, y = make_moons(2000, noise=0.1, random_state=0)
    >>> learner = IKOnlineClassifier(max_samples=64, random_state=0)
    >>> for first in range(0, 2000, 500):
    ...     learner = learner.partial_fit(X[first : first + 500], y[first : first + 500])
    >>> learner.score(X, y) > 0.95
    True
    """

    _method = "ik-ogd"


@_with(_IK)
class IKOnlineRegressor(_IKParameters, _OnlineRegressor):
    """Online regression by gradient descent on the isolation map.

    Parameters
    ----------
    {own}
    {common}

    Attributes
    ----------
    n_rows_ : int
        Rows learned.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray
        Their names, where the rows have names.

    Examples
    --------
    >>> import numpy as np
    >>> from eyot import IKOnlineRegressor
    >>> X = np.random.default_rng(0).uniform(size=(3000, 1))
    >>> y = np.sin(6 * X[:, 0])
    >>> IKOnlineRegressor(random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    _method = "ik-ogd"


@_with(_RRF)
class RRFClassifier(_RRFParameters, _OnlineClassifier):
    """Online classification on reparameterised random features, whose widths are learned too.

    Parameters
    ----------
    {own}
    {common}

    Attributes
    ----------
    classes_, n_rows_, n_features_in_, feature_names_in_
        As of :class:`IKOnlineClassifier`.

    References
    ----------
    Paper 2 of the project.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eyot import RRFClassifier
    >>> X, y = make_moons(3000, noise=0.1, random_state=0)
    >>> RRFClassifier(random_state=0).fit(X, y).score(X, y) > 0.8
    True
    """

    _method = "rrf"


@_with(_RRF)
class RRFRegressor(_RRFParameters, _OnlineRegressor):
    """Online regression on reparameterised random features, whose widths are learned too.

    Parameters
    ----------
    {own}
    {common}

    Attributes
    ----------
    n_rows_, n_features_in_, feature_names_in_
        As of :class:`IKOnlineRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from eyot import RRFRegressor
    >>> X = np.random.default_rng(0).uniform(size=(3000, 1))
    >>> y = np.sin(6 * X[:, 0])
    >>> RRFRegressor(random_state=0).fit(X, y).score(X, y) > 0.7
    True
    """

    _method = "rrf"


@_with(_KERNEL)
class OnlineKernelClassifier(_KernelParameters, _OnlineClassifier):
    """Online classification with other kernels: the methods that IK-OGD and RRF are compared with.

    Parameters
    ----------
    {own}
    {common}

    Attributes
    ----------
    classes_, n_rows_, n_features_in_, feature_names_in_
        As of :class:`IKOnlineClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eyot import OnlineKernelClassifier
    >>> X, y = make_moons(2000, noise=0.1, random_state=0)
    >>> OnlineKernelClassifier(method="projectron", gamma=8.0, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """


@_with(_KERNEL)
class OnlineKernelRegressor(_KernelParameters, _OnlineRegressor):
    """Online regression with other kernels: the methods that IK-OGD and RRF are compared with.

    Parameters
    ----------
    {own}
    {common}

    Attributes
    ----------
    n_rows_, n_features_in_, feature_names_in_
        As of :class:`IKOnlineRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from eyot import OnlineKernelRegressor
    >>> X = np.random.default_rng(0).uniform(size=(3000, 1))
    >>> y = np.sin(6 * X[:, 0])
    >>> OnlineKernelRegressor(method="nogd", gamma=8.0, random_state=0).fit(X, y).score(X, y) > 0.7
    True
    """
