"""The Isolation Kernel as a feature map."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from . import _eyot
from ._base import Model, encoding, fitted, names_of, progress_of, rows_to_fit, rows_to_score, seed_of, threads_of


def cells(estimator: Any, seed: int, **other: Any) -> dict[str, Any]:
    """How the space is cut, for the core."""
    own = {
        "partition": getattr(estimator, "partition", "voronoi"),
        "psi": getattr(estimator, "max_samples", 256),
        "t": getattr(estimator, "n_estimators", 100),
        "metric": getattr(estimator, "metric", "euclidean"),
        "seed": seed,
    }
    return {**own, **other}


class IsolationKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Model):
    """The Isolation Kernel's feature map: exact, finite, sparse.

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
    sparse_output : bool, default=True
        False makes ``transform`` give a dense array, as ``set_output(transform="pandas")`` needs.
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
    max_samples_ : int
        ψ in use, at most the number of rows.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray
        Their names, where the data was a frame.

    References
    ----------
    Papers 1 and 3 of the project.

    Examples
    --------
    >>> import numpy as np
    >>> from eyot import IsolationKernel
    >>> X = np.array([[0.0, 0.1], [0.1, 0.0], [0.2, 0.1], [9.0, 9.0]])
    >>> kernel = IsolationKernel(max_samples=3, random_state=0).fit(X)
    >>> kernel.transform(X).shape
    (4, 300)
    >>> K = kernel.similarity(X)
    >>> bool(K[0, 1] > K[0, 3])
    True
    """

    def __init__(
        self,
        *,
        partition: str = "voronoi",
        n_estimators: int = 100,
        max_samples: int = 256,
        metric: str = "euclidean",
        sparse_output: bool = True,
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
        self.sparse_output = sparse_output
        self.scale = scale
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> IsolationKernel:
        """Draw the partitionings from rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows.
        y : ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        self
        """
        data = rows_to_fit(self, X)
        how, threads = cells(self, seed_of(self.random_state)), threads_of(self.n_jobs)
        with progress_of(self.verbose) as progress:
            self._model = _eyot.Map.fit(data, names_of(self), how, encoding(self), threads, progress)
        self.max_samples_ = self._model.psi
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of rows: a one for each partitioning, in the place of the row's cell.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.

        Returns
        -------
        csr_matrix or ndarray of shape (n_samples, n_estimators * max_samples_)
            Products of features divided by ``n_estimators`` are the kernel.
        """
        data = rows_to_score(self, X)
        starts, columns = self._model.features(data, threads_of(self.n_jobs))
        shape = (len(starts) - 1, self._model.n_features)
        features = sparse.csr_matrix((np.ones(len(columns)), columns, starts), shape=shape)
        return features if self.sparse_output else features.toarray()

    def encode(self, X: Any) -> np.ndarray:
        """Return the cell of each row in each partitioning.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.

        Returns
        -------
        ndarray of uint16 of shape (n_samples, n_estimators)
            65535 where a row is in no cell (partition "sphere").
        """
        data = rows_to_score(self, X)
        return self._model.encode(data, threads_of(self.n_jobs))

    def similarity(self, X: Any, Y: Any = None) -> np.ndarray:
        """Return the kernel matrix: the share of partitionings in which two rows have the same cell.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The rows.
        Y : array-like, sparse matrix, frame or None, default=None
            The rows to compare with; None compares X with itself.

        Returns
        -------
        ndarray of shape (n_samples_X, n_samples_Y)
        """
        data = rows_to_score(self, X)
        other = None if Y is None else rows_to_score(self, Y)
        return self._model.similarity(data, other, threads_of(self.n_jobs))

    @property
    def _n_features_out(self) -> int:
        return fitted(self).n_features

    def _facts(self) -> dict[str, Any]:
        return {"columns": self.n_features_in_, "features": f"{self._model.t} × {self._model.psi}"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags
