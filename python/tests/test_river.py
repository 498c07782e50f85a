"""River's own checks, and its evaluation."""

import itertools

import numpy as np
import pandas as pd
import pytest
from river import checks, compose, datasets, dummy, evaluate, metrics, preprocessing, stats

import eyot
import eyot.river as er

MODELS = [
    er.IKOnlineClassifier(partition="tree", n_estimators=20, max_samples=16, random_state=0),
    er.RRFClassifier(frequencies=20, random_state=0),
    er.OnlineKernelClassifier(frequencies=20, random_state=0),
    er.IKOnlineRegressor(n_estimators=20, max_samples=16, random_state=0),
    er.RRFRegressor(frequencies=20, random_state=0),
    er.OnlineKernelRegressor(frequencies=20, random_state=0),
]


def all_checks():
    for model in MODELS:
        for check in checks.yield_checks(model):
            yield pytest.param(model, check, id=f"{type(model).__name__}:{check.__name__}")


@pytest.mark.parametrize(("model", "check"), all_checks())
def test_checks(model, check):
    check(model.clone())


def test_progressive_evaluation():
    model = er.IKOnlineClassifier(partition="tree", max_samples=64, random_state=0)
    accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert accuracy.get() > 0.85


def test_regression_beats_the_mean_of_what_came_before():
    def error(model):
        return evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE()).get()

    mean = error(dummy.StatisticRegressor(stats.Mean()))
    # A sharp map has many cells, each of which begins at 0, while values are near 40.
    for model in (er.IKOnlineRegressor(max_samples=16, n_initial=100, random_state=0), er.RRFRegressor(random_state=0)):
        assert error(model) < mean, model


def test_in_a_pipeline_of_river():
    model = compose.Pipeline(preprocessing.StandardScaler(), er.RRFClassifier(scale=None, eta=0.05, random_state=0))
    assert evaluate.progressive_val_score(datasets.Phishing(), model, metrics.ROCAUC()).get() > 0.8


@pytest.mark.parametrize("kind", [eyot.IKOnlineClassifier, eyot.RRFClassifier, eyot.OnlineKernelClassifier])
@pytest.mark.parametrize("n_initial", [50, 1000])
def test_one_by_one_many_and_partial_are_the_same_bytes(kind, n_initial):
    rows = [x for x, _ in itertools.islice(datasets.Phishing(), 300)]
    wanted = [y for _, y in itertools.islice(datasets.Phishing(), 300)]
    one, many, partial = (kind(n_initial=n_initial, random_state=0) for _ in range(3))
    for x, y in zip(rows, wanted):
        one.learn_one(x, y)
    frame = pd.DataFrame(rows)[sorted(rows[0])]
    for first in range(0, 300, 70):
        many.learn_many(frame[first : first + 70], pd.Series(wanted[first : first + 70]))
        partial.partial_fit(frame[first : first + 70], wanted[first : first + 70])
    assert one.to_bytes() == many.to_bytes() == partial.to_bytes()
    assert [one.predict_one(x) for x in rows] == list(many.predict_many(frame)) == list(partial.predict(frame))
    shares = one.predict_proba(frame)
    assert np.allclose([[one.predict_proba_one(x)[c] for c in one.classes_] for x in rows], shares)


def test_regression_one_by_one_is_in_one_go():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 2))
    y = X[:, 0] * X[:, 1]
    one, many = (eyot.IKOnlineRegressor(max_samples=16, n_initial=40, random_state=0) for _ in range(2))
    for row, value in zip(X, y):
        one.learn_one({"a": row[0], "b": row[1]}, value)
    many.partial_fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert one.to_bytes() == many.to_bytes()
    assert one.predict_one({"a": 0.5, "b": 0.5}) == many.predict(pd.DataFrame({"a": [0.5], "b": [0.5]}))[0]


def test_text_in_dicts_is_encoded():
    learner = eyot.IKOnlineClassifier(max_samples=8, n_initial=20, random_state=0)
    for i in range(60):
        learner.learn_one({"color": "red" if i % 2 else "blue", "size": float(i % 7)}, bool(i % 2))
    assert learner.predict_one({"color": "red", "size": 3.0}) is True
    assert learner.predict_one({"color": "blue", "size": 3.0}) is False


def test_text_in_dicts_of_numbers_too():
    learner = eyot.IKOnlineRegressor(max_samples=8, n_initial=20, random_state=0)
    for i in range(200):
        learner.learn_one({"color": "red" if i % 2 else "blue", "size": float(i % 7)}, 5.0 if i % 2 else 1.0)
    assert abs(learner.predict_one({"color": "red", "size": 3.0}) - 5.0) < 0.5
    assert abs(learner.predict_one({"color": "blue", "size": 3.0}) - 1.0) < 0.5


def test_new_labels_may_turn_up_later():
    learner = eyot.IKOnlineClassifier(max_samples=8, n_initial=10, random_state=0)
    assert learner.predict_one({"x": 1.0}) is None and learner.predict_proba_one({"x": 1.0}) == {}
    for i in range(300):
        label = "ab"[i % 2] if i < 100 else "abc"[i % 3]
        learner.learn_one({"x": float("abc".index(label)) + 0.01 * (i % 5)}, label)
    assert [learner.predict_one({"x": float(x)}) for x in range(3)] == ["a", "b", "c"]
    assert list(learner.classes_) == ["a", "b", "c"]
    assert sum(learner.predict_proba_one({"x": 0.0}).values()) == pytest.approx(1.0)
