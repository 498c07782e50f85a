"""Pictures show what they should."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

import eyot
import eyot.plot


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_histogram_has_all_rows_and_the_threshold(numbers):
    detector = eyot.IDKDetector(max_samples=8, random_state=0).fit(numbers)
    ax = eyot.plot.score_histogram(detector)
    assert sum(patch.get_height() for patch in ax.patches) == 400
    assert ax.lines[0].get_xdata()[0] == detector.threshold_
    assert eyot.plot.score_histogram(detector, numbers[:10], ax=ax) is ax


def test_contours(numbers):
    X = numbers[:, :2]
    detector = eyot.IDKDetector(max_samples=8, random_state=0).fit(X)
    ax = eyot.plot.anomaly_contour(detector, X, resolution=20)
    assert (
        sum(
            len(points.get_offsets())
            for points in ax.collections
            if hasattr(points, "get_sizes") and len(points.get_sizes())
        )
        == 400
    )
    kernel = eyot.IsolationKernel(max_samples=8, random_state=0).fit(X)
    ax = eyot.plot.kernel_contour(kernel, X, X[5], resolution=20)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("f0", "f1")
    with pytest.raises(ValueError, match="two columns, but there are 3"):
        eyot.plot.anomaly_contour(detector, numbers)


def test_learning_curve(numbers):
    learner = eyot.IKOnlineClassifier(max_samples=8, random_state=0)
    ax = eyot.plot.learning_curve(learner, numbers, numbers[:, 0] > 0, step=50)
    rows, errors = ax.lines[0].get_data()
    assert list(rows) == list(range(50, 401, 50)) and min(errors) >= 0 and max(errors) <= 1
    regressor = eyot.IKOnlineRegressor(max_samples=8, random_state=0)
    assert eyot.plot.learning_curve(regressor, numbers, numbers[:, 0]).get_ylabel() == "rmse"


def test_reasons(orders):
    detector = eyot.IDKDetector(random_state=0).fit(orders)
    ax = eyot.plot.reasons(detector, orders.iloc[[0]])
    shares = {label.get_text(): bar.get_width() for label, bar in zip(ax.get_yticklabels(), ax.patches)}
    assert max(shares, key=shares.get) == "amount" and np.isclose(sum(shares.values()), 1)
    with pytest.raises(ValueError, match="one row is needed, but there are 2"):
        eyot.plot.reasons(detector, orders.iloc[:2])
