"""Detectors that take in more rows."""

import json

import numpy as np
import pytest
from scipy import sparse

import eyot
import eyot.pyod


def begun(numbers, **more):
    return eyot.IDKDetector(max_samples=16, random_state=0, **more).partial_fit(numbers[:150])


def test_the_first_call_is_a_fit(numbers):
    fitted = eyot.IDKDetector(max_samples=16, random_state=0).fit(numbers[:150])
    assert begun(numbers).to_bytes() == fitted.to_bytes()
    # And a fit begins anew.
    assert begun(numbers).partial_fit(numbers).fit(numbers[:150]).to_bytes() == fitted.to_bytes()


def test_pieces_of_any_size_and_order_give_the_same_bytes(numbers):
    whole = begun(numbers).partial_fit(numbers[150:])
    pieces = begun(numbers, n_jobs=2)
    for piece in np.array_split(numbers[150:], 7)[::-1]:
        pieces.partial_fit(piece)
    assert pieces.to_bytes() == whole.to_bytes() != begun(numbers).to_bytes()


def test_scores_are_the_mean_kernel_with_all_rows(numbers):
    """By the map of the same rows and seed, whose products are the kernel."""
    detector = begun(numbers).partial_fit(numbers[150:])
    kernel = eyot.IsolationKernel(partition="sphere", max_samples=16, random_state=0).fit(numbers[:150])
    assert np.allclose(detector.score_samples(numbers), kernel.similarity(numbers).mean(axis=1), atol=1e-12)
    assert np.array_equal(detector.decision_scores_, -detector.score_samples(numbers[150:]))
    assert np.array_equal(detector.labels_, (detector.decision_scores_ > detector.threshold_).astype(int))


def test_the_threshold_stays(numbers):
    detector = begun(numbers, contamination=0.05)
    before = detector.threshold_
    assert detector.partial_fit(numbers[150:]).threshold_ == before
    assert abs((detector.predict(numbers) == -1).mean() - 0.05) < 0.03


def test_a_saved_detector_goes_on(numbers, orders, tmp_path, program):
    for rows in (numbers, orders):
        detector = begun(rows)
        detector.save(tmp_path / "m.eyot")
        again = eyot.load(tmp_path / "m.eyot").partial_fit(rows[150:])
        assert again.to_bytes() == detector.partial_fit(rows[150:]).to_bytes()
    again.save(tmp_path / "m.eyot")
    assert json.loads(program("inspect", tmp_path / "m.eyot", "--json"))["trained_on"]["rows"] == 300


def test_sparse_and_dense_pieces_count_alike():
    X = sparse.random(300, 20, density=0.2, random_state=0, format="csr")
    detector = eyot.IDKDetector(max_samples=16, random_state=0).fit(X[:200])
    expected = eyot.IDKDetector(max_samples=16, random_state=0).fit(X[:200]).partial_fit(X[200:]).to_bytes()
    assert detector.partial_fit(X[200:].toarray()).to_bytes() == expected


def test_a_refused_piece_changes_nothing(numbers):
    detector = begun(numbers)
    before = detector.to_bytes()
    for bad in (numbers[:, :2], numbers * np.nan):
        with pytest.raises(ValueError):
            detector.partial_fit(bad)
    assert detector.to_bytes() == before


def test_only_means_take_in_more_rows(numbers, tmp_path):
    for detector in (eyot.IDKDetector(), eyot.IDKDetector(max_samples=8, norm=True)):
        assert not hasattr(detector, "partial_fit")
        with pytest.raises(AttributeError) as error:
            detector.partial_fit(numbers)
        assert "a number for `max_samples`" in str(error.value.__cause__)
    with pytest.raises(ValueError, match="`multi-scale` cannot take in more rows"):
        eyot.IDKDetector().fit(numbers).set_params(max_samples=8).partial_fit(numbers)


def test_pyods_class_goes_on_too(numbers):
    detector = eyot.pyod.IDKDetector(max_samples=16, random_state=0)
    for piece in np.array_split(numbers, 3):
        detector.partial_fit(piece)
    assert detector.decision_scores_.shape == (133,) and detector.predict(numbers).sum() > 0
    assert detector.predict_proba(numbers, method="unify").shape == (400, 2)
