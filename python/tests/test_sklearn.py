"""scikit-learn's contract, in full: every class, no exceptions."""

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import eyot

CLASSES = [getattr(eyot, name) for name in eyot.__all__ if name not in ("load", "from_bytes")]

# Every class as it is, and what its parameters make something else of.
ESTIMATORS = [kind() for kind in CLASSES] + [
    eyot.IsolationKernel(partition="tree", max_samples=16, sparse_output=False),
    eyot.IDKDetector(norm=True),
    # Only this one has `partial_fit`.
    eyot.IDKDetector(max_samples=16),
    eyot.GaussianMeanDetector(approximation="nystroem"),
    # Six fits instead of one; fewer partitionings for speed only.
    eyot.IKClassifier(probability=True, n_estimators=20),
    eyot.OnlineKernelClassifier(method="nogd"),
    eyot.OnlineKernelRegressor(method="nogd"),
    eyot.BagClassifier(method="simple-mi"),
]


@parametrize_with_checks(ESTIMATORS)
def test_contract(estimator, check):
    check(estimator)


def test_the_map_works_in_a_pipeline_a_search_and_a_column_transformer():
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler(), eyot.IsolationKernel(random_state=0), LogisticRegression())
    search = GridSearchCV(pipeline, {"isolationkernel__max_samples": [8, 32]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    columns = ColumnTransformer(
        [("ik", eyot.IsolationKernel(max_samples=8), list(X.columns[:2]))], remainder="passthrough"
    )
    assert columns.fit_transform(X).shape == (150, 802)
    assert cross_val_score(eyot.IKClassifier(max_samples=32), X, y, cv=3).mean() > 0.9


def test_set_output_gives_frames_with_names():
    X, _ = load_iris(return_X_y=True, as_frame=True)
    kernel = eyot.IsolationKernel(n_estimators=3, max_samples=4, sparse_output=False).set_output(transform="pandas")
    frame = kernel.fit_transform(X)
    assert list(frame.columns[:2]) == ["isolationkernel0", "isolationkernel1"] and frame.shape == (150, 12)
    assert list(kernel.feature_names_in_) == list(X.columns)


def test_clone_has_the_parameters_and_not_the_model():
    detector = eyot.IDKDetector(max_samples=4, contamination=0.1)
    copy = clone(detector.fit(np.random.default_rng(0).normal(size=(50, 2))))
    assert copy.get_params() == detector.get_params() and not hasattr(copy, "decision_scores_")


def test_kernel_is_what_the_features_say():
    X, _ = make_moons(60, random_state=0)
    for partition in ("voronoi", "tree", "sphere"):
        kernel = eyot.IsolationKernel(partition=partition, max_samples=8, random_state=0).fit(X)
        Z = kernel.transform(X)
        assert np.allclose((Z @ Z.T).toarray() / 100, kernel.similarity(X))
        codes = kernel.encode(X)
        assert codes.dtype == np.uint16 and codes.shape == (60, 100)
        assert (codes != 65535).sum() == Z.nnz


def test_signs_are_scikit_learns_in_methods_and_pyods_in_attributes(numbers):
    detector = eyot.IDKDetector(random_state=0, contamination=0.02).fit(numbers)
    assert np.array_equal(detector.score_samples(numbers), -detector.decision_scores_)
    assert np.array_equal(detector.predict(numbers) == -1, detector.labels_ == 1)
    assert np.array_equal(detector.labels_, (detector.decision_scores_ > detector.threshold_).astype(int))
    assert detector.labels_.sum() == 8 and detector.labels_[:4].all()
    assert np.array_equal(detector.predict_proba(numbers)[:, 1] >= 0.5, detector.labels_ == 1)


def test_fitted_models_show_facts_in_notebooks(numbers):
    detector = eyot.IDKDetector(max_samples=8).fit(numbers)
    assert "<td>400</td>" in detector._repr_html_() and "eyot-facts" in detector._repr_mimebundle_()["text/html"]
    assert "eyot-facts" not in eyot.IDKDetector()._repr_html_()
