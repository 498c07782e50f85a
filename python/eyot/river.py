"""The learners of streams as River's models: for River's pipelines, metrics and evaluations.

The same classes, with River's base classes beside scikit-learn's.
"""

from __future__ import annotations

from typing import Any

from river import base

from . import learn


class _River:
    """What River asks of a model besides learning."""

    def _unit_test_skips(self) -> set[str]:
        return set()

    @property
    def _multiclass(self) -> bool:
        return True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = [base for base in cls.__mro__ if base.__module__ == learn.__name__]
        if own:
            # River and scikit-learn look at the signature of the class itself.
            cls.__init__ = own[0].__init__  # type: ignore[method-assign]

    @property
    def _raw_memory_usage(self) -> int:
        model = self.__dict__.get("_model")
        return 0 if model is None or model.n_rows == 0 else len(model.to_bytes())


class IKOnlineClassifier(_River, learn.IKOnlineClassifier, base.MiniBatchClassifier):
    """:class:`eyot.IKOnlineClassifier` as a model of River.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from eyot.river import IKOnlineClassifier
    >>> model = IKOnlineClassifier(partition="tree", random_state=0)
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> accuracy.get() > 0.85
    True
    """


class RRFClassifier(_River, learn.RRFClassifier, base.MiniBatchClassifier):
    """:class:`eyot.RRFClassifier` as a model of River."""


class OnlineKernelClassifier(_River, learn.OnlineKernelClassifier, base.MiniBatchClassifier):
    """:class:`eyot.OnlineKernelClassifier` as a model of River."""


class IKOnlineRegressor(_River, learn.IKOnlineRegressor, base.MiniBatchRegressor):
    """:class:`eyot.IKOnlineRegressor` as a model of River."""


class RRFRegressor(_River, learn.RRFRegressor, base.MiniBatchRegressor):
    """:class:`eyot.RRFRegressor` as a model of River."""


class OnlineKernelRegressor(_River, learn.OnlineKernelRegressor, base.MiniBatchRegressor):
    """:class:`eyot.OnlineKernelRegressor` as a model of River."""


__all__ = [
    "IKOnlineClassifier",
    "IKOnlineRegressor",
    "OnlineKernelClassifier",
    "OnlineKernelRegressor",
    "RRFClassifier",
    "RRFRegressor",
]
