"""Code that users have, with our class in the place of the one they had."""

import numpy as np


def test_scikit_learn_script():
    from sklearn.datasets import make_blobs
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import RobustScaler

    # from sklearn.ensemble import IsolationForest
    from eyot import IsolationForestDetector as IsolationForest

    X, _ = make_blobs(n_samples=500, centers=[[0, 0], [4, 4]], random_state=42)
    outliers = np.random.RandomState(42).uniform(-12, 16, size=(25, 2))
    y = np.array([1] * 500 + [-1] * 25)
    X_train, X_test, _, y_test = train_test_split(np.r_[X, outliers], y, stratify=y, random_state=42)

    clf = make_pipeline(RobustScaler(), IsolationForest(max_samples=100, contamination=0.05, random_state=0))
    clf.fit(X_train)
    pred = clf.predict(X_test)
    assert set(pred) == {-1, 1} and (pred == y_test).mean() > 0.9
    assert roc_auc_score(y_test, clf.decision_function(X_test)) > 0.9
    assert np.array_equal(pred == -1, clf.decision_function(X_test) < 0)


def test_pyod_script(capsys):
    # from pyod.models.inne import INNE
    from pyod.utils.data import evaluate_print, generate_data
    from pyod.utils.utility import standardizer

    from eyot.pyod import INNEDetector as INNE

    X_train, X_test, y_train, y_test = generate_data(
        n_train=400, n_test=100, n_features=2, contamination=0.1, random_state=42
    )
    X_train, X_test = standardizer(X_train, X_test)
    clf = INNE(contamination=0.1, random_state=42)
    clf.fit(X_train)
    y_train_scores = clf.decision_scores_
    y_test_pred = clf.predict(X_test)
    y_test_scores = clf.decision_function(X_test)
    evaluate_print("INNE", y_train, y_train_scores)
    evaluate_print("INNE", y_test, y_test_scores)
    assert "ROC" in capsys.readouterr().out
    assert (y_test_pred == y_test).mean() > 0.9


def test_river_script():
    from river import datasets, evaluate, metrics

    # from river.tree import HoeffdingTreeClassifier
    from eyot.river import IKOnlineClassifier as HoeffdingTreeClassifier

    model = HoeffdingTreeClassifier()
    metric = metrics.Accuracy()
    for x, y in datasets.Phishing().take(600):
        y_pred = model.predict_one(x)
        if y_pred is not None:
            metric.update(y, y_pred)
        model.learn_one(x, y)
    assert metric.get() > 0.8
    report = evaluate.progressive_val_score(datasets.Phishing().take(600), model.clone(), metrics.F1())
    assert report.get() > 0.7
