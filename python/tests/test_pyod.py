"""PyOD's names, sign and derived methods."""

import numpy as np
import pytest
from pyod.models.base import BaseDetector
from pyod.utils.data import generate_data
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import eyot
import eyot.pyod as ep

KINDS = [ep.IDKDetector, ep.INNEDetector, ep.IsolationForestDetector, ep.GaussianMeanDetector, ep.OneClassSVMDetector]


@pytest.fixture(scope="module")
def split():
    return generate_data(n_train=300, n_test=100, n_features=3, contamination=0.1, random_state=0)


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_pyod_promises(kind, split):
    X_train, X_test, _, y_test = split
    detector = kind(contamination=0.1, random_state=0)
    assert isinstance(detector, BaseDetector)
    assert detector.fit(X_train) is detector
    assert detector.decision_scores_.shape == (300,) and set(detector.labels_) == {0, 1}
    assert np.array_equal(detector.labels_, (detector.decision_scores_ > detector.threshold_).astype(int))
    assert abs(detector.labels_.sum() - 30) <= 1
    scores = detector.decision_function(X_test)
    assert roc_auc_score(y_test, scores) > 0.9
    assert np.array_equal(detector.decision_function(X_train), detector.decision_scores_)
    assert np.array_equal(detector.predict(X_test), (scores > detector.threshold_).astype(int))
    for method in ("linear", "unify"):
        shares = detector.predict_proba(X_test, method=method)
        assert shares.shape == (100, 2) and np.allclose(shares.sum(axis=1), 1) and (shares >= 0).all()
    labels, confidence = detector.predict(X_test, return_confidence=True)
    assert np.array_equal(labels, detector.predict(X_test))
    assert ((confidence >= 0) & (confidence <= 1)).all()
    assert set(detector.predict_with_rejection(X_test)) <= {-2, 0, 1}
    assert np.array_equal(detector.fit_predict(X_train), detector.labels_)
    assert detector._predict_rank(X_test).shape == (100,)
    assert clone(detector).get_params() == detector.get_params()


def test_the_scores_are_those_of_the_plain_class(split):
    plain = eyot.IDKDetector(contamination=0.1, random_state=0).fit(split[0])
    same = ep.IDKDetector(contamination=0.1, random_state=0).fit(split[0])
    assert np.array_equal(same.decision_function(split[1]), -plain.score_samples(split[1]))
    assert same.to_bytes() == plain.to_bytes()


@parametrize_with_checks([kind() for kind in KINDS])
def test_scikit_learns_contract_holds_too(estimator, check):
    check(estimator)
