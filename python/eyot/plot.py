"""Pictures with matplotlib (``pip install eyot[plot]``). Each function draws on ``ax`` and returns it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import names_of


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install eyot[plot]") from error
    return plt.subplots(layout="constrained")[1]


def score_histogram(detector: Any, X: Any = None, *, bins: Any = "auto", ax: Any = None) -> Any:
    """Draw the distribution of scores, and the threshold.

    Parameters
    ----------
    detector : detector
        Fitted.
    X : array-like or frame, default=None
        Rows to score; None takes the rows of the fit.
    bins : default="auto"
        As of ``numpy.histogram``.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    matplotlib axes
    """
    ax = _axes(ax)
    scores = detector.decision_scores_ if X is None else -detector.score_samples(X)
    ax.hist(scores, bins=bins, color="0.6")
    ax.axvline(detector.threshold_, color="tab:red", label=f"threshold {detector.threshold_:.4g}")
    flagged = int((scores > detector.threshold_).sum())
    ax.set(
        xlabel="score, larger is more anomalous",
        ylabel="rows",
        title=f"{flagged} of {len(scores)} flagged",
        yscale="symlog",
    )
    ax.legend()
    return ax


def _grid(X: np.ndarray, resolution: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.1 * np.where(high > low, high - low, 1.0)
    xs, ys = (np.linspace(low[i] - margin[i], high[i] + margin[i], resolution) for i in range(2))
    return xs, ys, np.column_stack([part.ravel() for part in np.meshgrid(xs, ys)])


def _two_columns(X: Any) -> np.ndarray:
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != 2:
        raise ValueError(f"contours need rows of two columns, but there are {values.shape[-1]}")
    return values


def _like(X: Any, values: np.ndarray) -> Any:
    """Rows in the kind of X, so that names stay."""
    if hasattr(X, "iloc"):
        import pandas as pd

        return pd.DataFrame(values, columns=X.columns)
    return values


def _labelled(ax: Any, estimator: Any) -> None:
    names = names_of(estimator)
    ax.set(xlabel=names[0], ylabel=names[1])


def anomaly_contour(detector: Any, X: Any, *, resolution: int = 100, ax: Any = None) -> Any:
    """Draw the scores over the plane, the border of what is flagged, and the rows.

    Parameters
    ----------
    detector : detector
        Fitted on two columns.
    X : array-like or frame of shape (n_samples, 2)
        The rows.
    resolution : int, default=100
        Points per side.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    matplotlib axes
    """
    ax, values = _axes(ax), _two_columns(X)
    xs, ys, points = _grid(values, resolution)
    scores = -detector.score_samples(_like(X, points)).reshape(resolution, resolution)
    filled = ax.contourf(xs, ys, scores, levels=20, cmap="Blues_r")
    ax.figure.colorbar(filled, ax=ax, label="score, larger is more anomalous")
    if scores.min() < detector.threshold_ < scores.max():
        ax.contour(xs, ys, scores, levels=[detector.threshold_], colors="tab:red")
    odd = detector.predict(_like(X, values)) == -1
    ax.scatter(*values[~odd].T, s=8, color="0.3")
    ax.scatter(*values[odd].T, s=24, color="tab:red", marker="x", label=f"{int(odd.sum())} flagged")
    _labelled(ax, detector)
    ax.legend()
    return ax


def kernel_contour(kernel: Any, X: Any, point: Any, *, resolution: int = 100, ax: Any = None) -> Any:
    """Draw the similarity of the plane to one point: the kernel adapts to the data around it.

    Parameters
    ----------
    kernel : IsolationKernel
        Fitted on two columns.
    X : array-like or frame of shape (n_samples, 2)
        Rows to show.
    point : array-like of shape (2,)
        The point.
    resolution : int, default=100
        Points per side.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    matplotlib axes
    """
    ax, values = _axes(ax), _two_columns(X)
    xs, ys, points = _grid(values, resolution)
    centre = np.asarray(point, dtype=np.float64).reshape(1, 2)
    similar = kernel.similarity(_like(X, points), _like(X, centre)).reshape(resolution, resolution)
    filled = ax.contourf(xs, ys, similar, levels=np.linspace(0.0, 1.0, 11), cmap="viridis")
    ax.figure.colorbar(filled, ax=ax, label="similarity")
    ax.scatter(*values.T, s=6, color="white", alpha=0.5)
    ax.scatter(*centre.T, s=60, color="tab:red", marker="*")
    _labelled(ax, kernel)
    return ax


def learning_curve(learner: Any, X: Any, y: Any, *, step: int = 100, ax: Any = None) -> Any:
    """Learn rows and draw how good the predictions before learning were, as the stream went on.

    Parameters
    ----------
    learner : online classifier or regressor
        It learns the rows, by ``partial_fit``.
    X : array-like or frame of shape (n_samples, n_features)
        The stream.
    y : array-like of shape (n_samples,)
        Labels or values.
    step : int, default=100
        Rows between two points of the curve.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    matplotlib axes
    """
    ax = _axes(ax)
    part = (lambda rows: X.iloc[rows]) if hasattr(X, "iloc") else (lambda rows: np.asarray(X)[rows])
    wanted = np.asarray(y)
    rows, errors = [], []
    for first in range(0, len(wanted), step):
        piece = slice(first, first + step)
        learner.partial_fit(part(piece), wanted[piece])
        points, mistakes, squared = learner._model.tally
        rows.append(points)
        errors.append(np.sqrt(squared / points) if learner._regress else mistakes / points)
    ax.plot(rows, errors)
    ax.set(xlabel="rows", ylabel="rmse" if learner._regress else "share of mistakes", title="predicted before learning")
    return ax


def reasons(detector: Any, row: Any, *, most: int = 10, ax: Any = None) -> Any:
    """Draw which columns make one row odd.

    Parameters
    ----------
    detector : detector
        Fitted.
    row : array-like or frame of shape (1, n_features)
        The row.
    most : int, default=10
        Columns to show.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    matplotlib axes
    """
    ax = _axes(ax)
    shares = np.asarray(detector.explain(row))
    if shares.shape[0] != 1:
        raise ValueError(f"one row is needed, but there are {shares.shape[0]}")
    order = np.argsort(-shares[0], kind="stable")[:most][::-1]
    order = order[shares[0][order] > 0]
    names = names_of(detector)
    ax.barh([names[i] for i in order], shares[0][order], color="tab:red")
    ax.set(xlabel="share of the oddness", xlim=(0, 1))
    return ax
