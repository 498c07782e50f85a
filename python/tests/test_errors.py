"""Bad input ends in an exception of the right type, in the words of the command line."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import eyot
from eyot import _eyot

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.arange(40) % 2


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: eyot.IDKDetector(n_estimators=0).fit(X), "`n_estimators` must be from 1 to 1048576, but is 0"),
        (lambda: eyot.IDKDetector(max_samples=1).fit(X), "`max_samples` must be from 2 to 1048576, but is 1"),
        (lambda: eyot.IDKDetector(max_samples="many").fit(X), "`max_samples` must be a whole number or auto"),
        (
            lambda: eyot.IDKDetector(contamination=0.7).fit(X),
            "`contamination` must be above 0 and at most 0.5, but is 0.7",
        ),
        (lambda: eyot.IDKDetector(n_estimators=-3).fit(X), "`n_estimators` must be at least 0, but is -3"),
        (lambda: eyot.IDKDetector(scale="big").fit(X), "`scale` must be minmax, standard or none, but is big"),
        (lambda: eyot.IDKDetector(missing="maybe").fit(X), "`missing` must be error or impute, but is maybe"),
        (lambda: eyot.IDKDetector(n_jobs=0).fit(X), "`n_jobs` must not be 0"),
        (lambda: eyot.IDKDetector(random_state=-1).fit(X), "`random_state` must be at least 0"),
        (
            lambda: eyot.IsolationKernel(partition="cube").fit(X),
            "`partition` must be voronoi, tree or sphere, but is cube",
        ),
        (lambda: eyot.OnlineKernelClassifier(method="magic").fit(X, Y), "`method` must be one of ik-ogd, rrf"),
        (lambda: eyot.OnlineKernelRegressor(method="bpas").fit(X, Y), "`method` must be one that can learn numbers"),
        (lambda: eyot.IKOnlineClassifier(loss="squared").fit(X, Y), "`loss` must be hinge or logistic, but is squared"),
        (lambda: eyot.IKOnlineClassifier(n_initial=0).fit(X, Y), "`n_initial` must be at least 1, but is 0"),
        (lambda: eyot.BagClassifier(method="magic").fit(X, Y), "`method` must be one of isk, mi-kernel"),
        (lambda: eyot.IKClassifier(C=-1.0).fit(X, Y), "`C` must be a number above 0, but is -1"),
        (
            lambda: eyot.IKClassifier().fit(X, np.zeros(40)),
            "all rows are of class `0`, and one class cannot be told from others",
        ),
        (lambda: eyot.IDKDetector().fit(np.where(X > 2, np.nan, X)), "the value is missing"),
        (
            lambda: eyot.IDKDetector().fit(np.where(X[3, 1] == X, np.inf, X)),
            "row 4, column `f1`: inf is not a finite number",
        ),
        (
            lambda: eyot.IDKDetector().fit(X).score_samples(X[:, :2]),
            "X has 2 features, but IDKDetector is expecting 3 features",
        ),
        (lambda: eyot.IDKDetector().fit(np.array([["a", "b"]] * 5)), "could not convert string to float"),
        (lambda: eyot.ISKClassifier().fit([X, X[:, :2]], [0, 1]), "all bags must have the same columns"),
        (lambda: eyot.ISKClassifier().fit([X, X[0]], [0, 1]), "two-dimensional"),
        (lambda: eyot.ISKClassifier().fit(X, Y, offsets=[0, 50]), "inconsistent numbers of samples|rows of the bags"),
        (lambda: eyot.ISKClassifier().fit(X, [0, 1], offsets=[0, 0, 40]), "bag `1` is empty"),
        (lambda: eyot.ISKClassifier().fit(X, [0], bags=np.zeros(40)), "all rows are of bag `0.0`"),
        (lambda: eyot.ISKClassifier().fit(X, [0, 1], bags=np.arange(39) % 2), "bag ids: expected 40, but there are 39"),
        (lambda: eyot.GroupDetector().fit(X, bags=np.zeros(40)), "at least two groups"),
        (lambda: eyot.from_bytes(b"nothing"), "this is not an eyot model"),
        (lambda: eyot.IKClassifier().fit(X, ["1"] * 20 + ["1.0"] * 20), "two labels are written alike"),
    ],
)
def test_value_errors(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_not_fitted():
    calls = [
        eyot.IDKDetector().score_samples,
        eyot.IDKDetector().explain,
        eyot.IsolationKernel().transform,
        eyot.IKClassifier().predict,
        eyot.IKOnlineClassifier().predict,
        eyot.ISKClassifier().predict,
        eyot.GroupDetector().predict,
    ]
    for call in calls:
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            call(X)
    with pytest.raises(NotFittedError):
        eyot.IDKDetector().save("nowhere.eyot")


def test_type_errors():
    with pytest.raises(TypeError):
        eyot.IDKDetector(n_estimators="many").fit(X)
    with pytest.raises(TypeError, match="`n_jobs` must be a whole number"):
        eyot.IDKDetector(n_jobs="all").fit(X)
    with pytest.raises(TypeError, match="column `b` holds"):
        eyot.IDKDetector().fit(pd.DataFrame({"a": [1.0, 2.0], "b": [{"x": 1}, [2]]}))
    with pytest.raises(TypeError, match="feature `a` must be a number"):
        _eyot.Learner.from_bytes(eyot.IKOnlineClassifier().fit(X, Y).to_bytes(), ["a", "b", "c"]).score_one({"a": []})


def test_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="No such file"):
        eyot.load(tmp_path / "none.eyot")
    with pytest.raises(IsADirectoryError):
        eyot.load(tmp_path)
    detector = eyot.IDKDetector().fit(X)
    with pytest.raises(FileNotFoundError):
        detector.save(tmp_path / "no" / "folder.eyot")
    path = tmp_path / "model.eyot"
    detector.save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match="altered|checksum"):
        eyot.load(path)
    with pytest.raises(ValueError, match="this is a model of kind `detector`, but `map` is needed"):
        _eyot.Map.from_bytes(detector.to_bytes())


def test_columns_that_are_unknown_or_gone(orders, tmp_path):
    detector = eyot.IDKDetector().fit(orders)
    with pytest.raises(ValueError, match="feature names should match"):
        detector.predict(orders.rename(columns={"items": "things"}))
    with pytest.raises(ValueError, match="same order"):
        detector.predict(orders[orders.columns[::-1]])
    detector.save(tmp_path / "m.eyot")
    with pytest.raises(ValueError, match="`items`.*`things`|`things`.*`items`"):
        eyot.load(tmp_path / "m.eyot").predict(orders.rename(columns={"items": "things"}))


def test_words_are_those_of_the_command_line(program, tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.loc[4, "b"] = np.nan
    frame.to_csv(tmp_path / "x.csv", index=False)
    said = program("detect", tmp_path / "x.csv", fails=True)
    with pytest.raises(ValueError) as error:
        eyot.IDKDetector().fit(frame)
    words = str(error.value).split(" (NaN)")[0]
    assert words == "row 5, column `b`: the value is missing" and words in said


def test_a_bug_in_rust_is_a_runtime_error(capfd):
    with pytest.raises(RuntimeError, match="a bug in eyot, please report it: on purpose"):
        _eyot._panic_for_tests()
    capfd.readouterr()


def test_a_failed_fit_leaves_the_learner_as_it_was():
    learner = eyot.IKOnlineClassifier(n_initial=10).partial_fit(X, Y)
    before = learner.to_bytes()
    with pytest.raises(ValueError):
        learner.partial_fit(np.where(X > 1, np.nan, X), Y)
    with pytest.raises(ValueError):
        learner.partial_fit(X[:, :2], Y)
    assert learner.to_bytes() == before


def test_a_learner_whose_first_rows_are_refused_has_not_begun():
    learner = eyot.IKOnlineClassifier()
    for call in (lambda: learner.partial_fit(X * np.nan, Y), lambda: learner.learn_one({"a": np.nan}, 1)):
        with pytest.raises(ValueError, match="the value is missing"):
            call()
        with pytest.raises(NotFittedError):
            learner.predict(X)
    assert learner.partial_fit(X, Y).n_rows_ == 40
