"""Learners of streams: in batches as scikit-learn has them, or row by row as River has them."""

from __future__ import annotations

from typing import Any

from ._online import OnlineClassifier, OnlineRegressor

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


def _documented(parameters: str) -> Any:
    """Puts the description of parameters, of which classes share many, into a class's docstring."""

    def put_in(cls: Any) -> Any:
        cls.__doc__ = cls.__doc__.replace("    {parameters}", f"{parameters}\n{_COMMON}")
        return cls

    return put_in


@_documented(_IK)
class IKOnlineClassifier(_IKParameters, OnlineClassifier):
    """Online classification by gradient descent on the isolation map: constant cost per row, for ever.

    Parameters
    ----------
    {parameters}

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


@_documented(_IK)
class IKOnlineRegressor(_IKParameters, OnlineRegressor):
    """Online regression by gradient descent on the isolation map.

    Parameters
    ----------
    {parameters}

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


@_documented(_RRF)
class RRFClassifier(_RRFParameters, OnlineClassifier):
    """Online classification on reparameterised random features, whose widths are learned too.

    Parameters
    ----------
    {parameters}

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


@_documented(_RRF)
class RRFRegressor(_RRFParameters, OnlineRegressor):
    """Online regression on reparameterised random features, whose widths are learned too.

    Parameters
    ----------
    {parameters}

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


@_documented(_KERNEL)
class OnlineKernelClassifier(_KernelParameters, OnlineClassifier):
    """Online classification with other kernels: the methods that IK-OGD and RRF are compared with.

    Parameters
    ----------
    {parameters}

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


@_documented(_KERNEL)
class OnlineKernelRegressor(_KernelParameters, OnlineRegressor):
    """Online regression with other kernels: the methods that IK-OGD and RRF are compared with.

    Parameters
    ----------
    {parameters}

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
