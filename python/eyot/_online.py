"""What all learners of streams do; `learn.py` has the classes and their parameters."""

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


class _Online(Model):
    """What classifiers and regressors of streams share."""

    _method = ""
    _regress = False
    # What is predicted before anything was learned.
    _nothing: Any = None

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

    def _begin(self, target: str, sparse: bool, classes: Any = None) -> None:
        """A learner that has seen nothing; ``classes`` are labels that will come."""
        seed = seed_of(self.random_state)
        settings, names = {**self._settings(), "seed": seed}, names_of(self)
        known = self._open(classes)
        self._model = _eyot.Learner(names, target, sparse, known, cells(self, seed), settings, encoding(self))

    def _begin_named(self, names: Any) -> None:
        """The same, for rows that are told apart by names."""
        names = sorted(str(name) for name in names)
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.asarray(names, dtype=object)
        self._begin(target_name(self, None), False)

    def _open(self, classes: Any) -> list[str]:
        """Forget all labels but these, and return how the core writes them."""
        return []

    def _checked(self, y: Any) -> np.ndarray:
        """Labels or values, checked."""
        raise NotImplementedError

    def _wanted(self, y: Any) -> Any:
        """Labels or values for the core."""
        raise NotImplementedError

    def _wanted_one(self, y: Any) -> tuple[str | None, float | None]:
        """One label or one value for the core."""
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        first = "_model" not in self.__dict__
        data = rows_to_fit(self, X, reset=first)
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        target, y = target_name(self, y), self._checked(y)
        check_consistent_length(y, range(len(data)))
        if first:
            self._begin(target, not isinstance(data, np.ndarray) and not data.names, classes)
        wanted = self._wanted(y)
        with self._or_as_before(), progress_of(self.verbose) as progress:
            self._model.learn(data, wanted, threads_of(self.n_jobs), progress)
        return self

    def fit(self, X: Any, y: Any) -> Any:
        """Begin anew and learn rows in one pass, in order.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, numbers or words, or their values.

        Returns
        -------
        self
        """
        self.__dict__.pop("_model", None)
        self._fit(X, y)
        self._model.settle(threads_of(self.n_jobs))
        return self

    @contextmanager
    def _or_as_before(self) -> Iterator[None]:
        """A learner whose first rows are refused is as if it had not begun."""
        try:
            yield
        except BaseException:
            if self._model.n_rows == 0:
                del self._model
            raise

    def learn_one(self, x: dict[str, Any], y: Any) -> None:
        """Learn one row, as River has it.

        Parameters
        ----------
        x : dict
            Values by name; names are those of the first row, absent ones count as 0, others are ignored.
        y : label or float
            Its class or its value.
        """
        if "_model" not in self.__dict__:
            self._begin_named(x)
        wanted = self._wanted_one(y)
        with self._or_as_before():
            try:
                self._model.learn_one(x, *wanted)
            except TypeError:
                self._model.learn(self._one(x), self._wanted(np.array([y])), 1, None)

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a frame, as River has it: the same as learning them one by one.

        Parameters
        ----------
        X : pandas.DataFrame
            The rows.
        y : pandas.Series
            Their labels or values.
        """
        if "_model" not in self.__dict__:
            self._begin_named(X.columns)
        self._fit(self._known(X), y)

    def predict_many(self, X: Any) -> Any:
        """Return the predictions for the rows of a frame.

        Parameters
        ----------
        X : pandas.DataFrame
            The rows.

        Returns
        -------
        pandas.Series
        """
        import pandas as pd

        known = "_model" in self.__dict__
        return pd.Series(self.predict(self._known(X)) if known else [self._nothing] * len(X), index=X.index)

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
        return X if list(X.columns) == known else X.reindex(columns=known, fill_value=0.0)

    def _score_one(self, x: dict[str, Any]) -> Any:
        """Scores, class and shares of one row, None before anything was learned."""
        if "_model" not in self.__dict__:
            return None
        try:
            return self._model.score_one(x)
        except TypeError:
            scores, classes = self._model.score(self._one(x), 1)
            return scores[0].tolist(), int(classes[0]), self._model.shares(scores)[0].tolist()

    def _raw(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Scores and classes of the core."""
        data = rows_to_score(self, X)
        return self._model.score(data, threads_of(self.n_jobs))

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


class OnlineClassifier(ClassifierMixin, _Online):
    """Classes of a stream."""

    classes_: np.ndarray

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
        begun = "_model" in self.__dict__
        if begun and classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError("`classes` is not the same as on the first call to partial_fit")
        return self._fit(X, y, classes)

    def _open(self, classes: Any) -> list[str]:
        self._labels: dict[str, Any] = {}
        self._texts: dict[Any, str] = {}
        self._closed = classes is not None
        return self._take(np.unique(np.asarray(classes))) if self._closed else []

    def _take(self, labels: Any) -> list[str]:
        """Note labels and return how the core writes them."""
        names = names_of_labels(labels)
        before = len(self._labels)
        for name, label in zip(names, labels):
            self._labels.setdefault(name, label)
        if len(self._labels) > before:
            self.classes_ = np.unique(np.array(list(self._labels.values())))
            self._places = {name: at for at, name in enumerate(names_of_labels(self.classes_))}
        return names

    def _order(self) -> np.ndarray:
        """The place in `classes_` of each class of the core."""
        return np.array([self._places[name] for name in self._model.classes], dtype=np.intp)

    def _keep_names(self) -> None:
        self._open(None)
        self._take(labels_of_names(self._model.classes))

    def _checked(self, y: Any) -> np.ndarray:
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        return y

    def _wanted(self, y: Any) -> Any:
        found, codes = np.unique(y, return_inverse=True)
        if self._closed and not np.isin(found, self.classes_).all():
            strange = found[~np.isin(found, self.classes_)][0]
            raise ValueError(f"the label {strange!r} is not among `classes`")
        return {"codes": codes.astype(np.int64), "labels": self._take(found), "name": ""}

    def _wanted_one(self, y: Any) -> tuple[str | None, float | None]:
        name = self._texts.get(y)
        if name is None:
            (name,) = self._take([y])
            self._texts[y] = name
        return name, None

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
        _, classes = self._raw(X)
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
        scores, _ = self._raw(X)
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
        scores, _ = self._raw(X)
        shares = self._model.shares(scores)
        probabilities = np.zeros((len(shares), len(self.classes_)))
        probabilities[:, self._order()[: shares.shape[1]]] = shares
        return probabilities

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


class OnlineRegressor(RegressorMixin, _Online):
    """Values of a stream."""

    _regress = True
    _nothing = 0.0

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
        return self._fit(X, y)

    def _checked(self, y: Any) -> np.ndarray:
        return check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype=np.float64, order="C", input_name="y")

    def _wanted(self, y: Any) -> Any:
        return np.asarray(y, dtype=np.float64)

    def _wanted_one(self, y: Any) -> tuple[str | None, float | None]:
        return None, float(y)

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
        return self._raw(X)[0][:, 0]

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
        found = self._score_one(x)
        return self._nothing if found is None else found[0][0]
