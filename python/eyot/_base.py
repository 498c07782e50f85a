"""What all estimators share: rows for the core, seeds, threads, model files."""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state, estimator_html_repr
from sklearn.utils.validation import validate_data

from . import _eyot

_NATIVE = (np.dtype(np.float64), np.dtype(np.float32))


class Model(BaseEstimator):
    """An estimator over a model of the core, kept in ``_model``."""

    _model: Any

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that ``eyot.load``, the command line and Rust read.

        Parameters
        ----------
        path : str or path
            The file; it appears whole or not at all.
        """
        _eyot.save(path, self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the bytes of the model file.

        Returns
        -------
        bytes
            What ``save`` writes.
        """
        return fitted(self).to_bytes()

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def _facts(self) -> dict[str, Any]:
        """What a notebook shows of a fitted model."""
        return {"columns": self.n_features_in_}

    def _html_repr(self) -> str:
        picture = str(estimator_html_repr(self))
        if "_model" not in self.__dict__:
            return picture
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
            for name, value in self._facts().items()
        )
        return f"{picture}<table class='eyot-facts'>{cells}</table>"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "missing", "error") == "impute"
        return tags


def fitted(estimator: Any) -> Any:
    """The fitted model; without one, scikit-learn's error."""
    try:
        return estimator.__dict__["_model"]
    except KeyError:
        name = type(estimator).__name__
        raise NotFittedError(
            f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
        ) from None


def encoding(estimator: Any) -> dict[str, str]:
    """How rows are encoded."""
    return {"scale": "none" if estimator.scale is None else estimator.scale, "missing": estimator.missing}


def seed_of(random_state: Any) -> int:
    """One seed: a whole number is the seed itself, as on the command line; anything else draws one."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"`random_state` must be at least 0, but is {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def threads_of(n_jobs: Any) -> int:
    """How many threads may work: one by default, all of them for -1."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, (int, np.integer)):
        raise TypeError(f"`n_jobs` must be a whole number or None, but is {n_jobs!r}")
    if n_jobs == 0:
        raise ValueError("`n_jobs` must not be 0")
    if n_jobs > 0:
        return int(n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores + 1 + int(n_jobs))


class Progress:
    """A bar for the stages of a long call: tqdm's where it is installed, else lines on stderr."""

    def __init__(self) -> None:
        self.stage = ""
        self.bar: Any = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self.stage:
            self.close()
            self.stage = stage
            try:
                from tqdm.auto import tqdm
            except ImportError:
                print(f"eyot: {stage}", file=sys.stderr)
            else:
                self.bar = tqdm(total=total or None, desc=stage, leave=False)
        if self.bar is not None:
            self.bar.n = done
            self.bar.refresh()

    def close(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None


@contextmanager
def progress_of(verbose: Any) -> Iterator[Progress | None]:
    """A bar, if one is wanted, for as long as the call lasts."""
    progress = Progress() if verbose else None
    try:
        yield progress
    finally:
        if progress is not None:
            progress.close()


def names_of(estimator: Any) -> list[str]:
    """The names of the columns: those of the frame, else f0, f1, … as files without names have them."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        return [str(name) for name in names]
    return [f"f{i}" for i in range(estimator.n_features_in_)]


def rows_to_fit(estimator: Any, X: Any, *, reset: bool = True, **checks: Any) -> Any:
    """Rows for the core, taking note of their columns; without ``reset``, in the columns of the rows before them."""
    estimator.__dict__.pop("_from_file", None)
    return _rows(estimator, X, True, checks) if reset else rows_to_score(estimator, X)


def rows_to_score(estimator: Any, X: Any) -> Any:
    """Rows for the core, in the columns of the fit."""
    model = fitted(estimator)
    if (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in _NATIVE
        and X.shape[1] == estimator.__dict__.get("n_features_in_")
        and X.flags.c_contiguous
        and len(X)
        and "feature_names_in_" not in estimator.__dict__
        and not model.is_sparse
    ):
        return X
    rows = _rows(estimator, X, False, {})
    if model.is_sparse and isinstance(rows, np.ndarray):
        return _csr(sparse.csr_matrix(rows))
    return rows


def _rows(estimator: Any, X: Any, reset: bool, checks: dict[str, Any]) -> Any:
    frame = _frame(estimator, X, reset)
    if frame is not None:
        if len(frame) == 0:
            raise ValueError("there are no rows")
        return frame
    # Cells that are not finite are refused by the core, which says which.
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=list(_NATIVE),
        order="C",
        ensure_all_finite=False,
        **checks,
    )
    if sparse.issparse(X):
        if not reset and not fitted(estimator).is_sparse:
            # As wide as the model, which is dense itself.
            return np.ascontiguousarray(X.toarray())
        return _csr(X)
    return X


def _csr(X: Any) -> Any:
    """Sparse rows in the order that the core needs."""
    if not X.has_canonical_format or (X.data == 0).any():
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    starts, columns = X.indptr.astype(np.int64), X.indices.astype(np.int64)
    return _eyot.Frame.from_csr(starts, columns, np.ascontiguousarray(X.data, dtype=np.float64), X.shape[1])


def _frame(estimator: Any, X: Any, reset: bool) -> Any:
    """A frame of named columns, if X is one that is not all numbers; else None."""
    from_file = "_from_file" in estimator.__dict__
    if hasattr(X, "iloc") and hasattr(X, "dtypes") and getattr(X, "ndim", 0) == 2:
        by_name = all(isinstance(name, str) for name in X.columns)
        numeric = all(getattr(dtype, "kind", "O") in "biuf" for dtype in X.dtypes)
        if not by_name or (numeric and not from_file):
            return None
        frame = _eyot.Frame.from_columns(
            [(name, _pandas_column(name, X.iloc[:, i])) for i, name in enumerate(X.columns)]
        )
    elif hasattr(X, "__arrow_c_stream__"):
        frame = _eyot.Frame.from_arrow(X)
    else:
        return None
    if from_file and not reset:
        return frame
    _note_columns(estimator, frame.names, reset)
    return frame


def _note_columns(estimator: Any, names: list[str], reset: bool) -> None:
    """scikit-learn's notes about columns, for frames that it does not know."""
    if reset:
        estimator.n_features_in_ = len(names)
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
        return
    known = [str(name) for name in getattr(estimator, "feature_names_in_", [])]
    if known and known != names:
        unseen, missing = [n for n in names if n not in known], [n for n in known if n not in names]
        parts = ["The feature names should match those that were passed during fit."]
        if unseen:
            parts.append("Feature names unseen at fit time:\n- " + "\n- ".join(unseen[:5]))
        if missing:
            parts.append("Feature names seen at fit time, yet now missing:\n- " + "\n- ".join(missing[:5]))
        if not unseen and not missing:
            parts.append("Feature names must be in the same order as they were in fit.")
        raise ValueError("\n".join(parts) + "\n")
    if len(names) != estimator.n_features_in_:
        name = type(estimator).__name__
        raise ValueError(
            f"X has {len(names)} features, but {name} is expecting {estimator.n_features_in_} features as input."
        )


def _pandas_column(name: str, column: Any) -> Any:
    """The cells of a column of pandas: numbers, or codes and levels of text."""
    from pandas.api.types import infer_dtype

    kind = column.dtype.kind
    if kind in "biuf":
        return np.ascontiguousarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind in "mM":
        # Microseconds, whatever the unit of this frame, as timestamps of files are taken.
        values = column.to_numpy().astype(f"{kind}8[us]")
        return np.where(np.isnat(values), np.nan, values.astype(np.int64).astype(np.float64))
    inferred = infer_dtype(column, skipna=True)
    if inferred in ("floating", "integer", "mixed-integer-float", "decimal", "boolean", "empty"):
        return np.ascontiguousarray(column.astype(object).where(column.notna(), np.nan).to_numpy(dtype=np.float64))
    if inferred not in ("string", "categorical", "mixed-integer"):
        raise TypeError(f"column `{name}` holds {inferred} values, not numbers or text")
    codes, levels = column.factorize()
    return codes.astype(np.int64), [str(level) for level in levels]


def target_name(estimator: Any, y: Any) -> str:
    """What the target is called in the model: the name of a series, else ``y``."""
    name = getattr(y, "name", None)
    if not isinstance(name, str) or name in names_of(estimator):
        name = "y"
    while name in names_of(estimator):
        name = f"_{name}"
    return name


def text_of(label: Any) -> str:
    """A label as text: a number that reads back as the same."""
    if isinstance(label, (float, np.floating)):
        return repr(float(label))
    return str(label)


def names_of_labels(labels: Any) -> list[str]:
    """Labels as models write them."""
    names = _eyot.canonical([text_of(label) for label in labels])
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two labels are written alike in models: `{twice}`")
    return names


def labels_of_names(names: list[str]) -> np.ndarray:
    """Labels of a model from a file: numbers if all read as such."""
    try:
        numbers = np.array([float(name) for name in names])
    except ValueError:
        return np.array(names)
    return numbers.astype(np.int64) if (numbers == np.rint(numbers)).all() else numbers


def spread(scores: np.ndarray, order: np.ndarray, n_classes: int) -> np.ndarray:
    """Scores of the core by its class numbers, as scikit-learn wants them for ``classes_``.

    ``order[i]`` is the place of the core's class i in ``classes_``.
    """
    if n_classes <= 2:
        lone = scores[:, 0]
        # One score speaks for the core's class 1.
        swapped = len(order) > 0 and order[0] == 1
        return -lone if swapped else lone
    if scores.shape[1] == 1:
        scores = np.column_stack([-0.5 * scores[:, 0], 0.5 * scores[:, 0]])[:, : len(order)]
    spread = np.repeat(scores.min(axis=1, keepdims=True) - 1.0, n_classes, axis=1)
    spread[:, order[: scores.shape[1]]] = scores
    return spread
