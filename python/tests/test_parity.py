"""The command line, Python and (through both) Rust: the same data, parameters and seed give the same bytes and numbers."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons

import eyot


def scores(text, column=1):
    return np.array([float(line.split(",")[column]) for line in text.strip().splitlines()[1:]])


DETECTORS = [
    (eyot.IDKDetector(random_state=3), []),
    (
        eyot.IDKDetector(max_samples=16, n_estimators=50, contamination=0.05, random_state=3),
        ["--psi", "16", "-t", "50", "--contamination", "0.05"],
    ),
    (
        eyot.IDKDetector(max_samples=16, norm=True, scale=None, random_state=3),
        ["--method", "norm", "--psi", "16", "--scale", "none"],
    ),
    (
        eyot.INNEDetector(max_samples=8, scale="standard", random_state=3),
        ["--method", "inne", "--psi", "8", "--scale", "standard"],
    ),
    (eyot.IsolationForestDetector(contamination="auto", random_state=3), ["--method", "iforest"]),
    (eyot.GaussianMeanDetector(sigma=0.2, random_state=3), ["--method", "gaussian", "--sigma", "0.2"]),
    (eyot.GaussianMeanDetector(approximation="nystroem", random_state=3), ["--method", "gaussian-nystrom"]),
    (eyot.OneClassSVMDetector(nu=0.2, contamination="auto", random_state=3), ["--method", "ocsvm", "--nu", "0.2"]),
]


@pytest.mark.parametrize(("detector", "options"), DETECTORS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_detectors(program, tmp_path, numbers, detector, options, dtype):
    X = numbers.astype(dtype)
    np.save(tmp_path / "x.npy", X)
    program(
        "detect", tmp_path / "x.npy", "--seed", 3, "-f", tmp_path / "cli.eyot", "-o", tmp_path / "s.csv", "-q", *options
    )
    detector.fit(X)
    assert detector.to_bytes() == (tmp_path / "cli.eyot").read_bytes()
    assert np.array_equal(scores((tmp_path / "s.csv").read_text()), detector.decision_scores_)
    # Either way round.
    detector.save(tmp_path / "python.eyot")
    from_shell = program("predict", tmp_path / "python.eyot", tmp_path / "x.npy", "-q")
    assert np.array_equal(scores(from_shell), -detector.score_samples(X))
    labels = [line.split(",")[2] for line in from_shell.strip().splitlines()[1:]]
    assert [label == "anomaly" for label in labels] == list(detector.predict(X) == -1)
    loaded = eyot.load(tmp_path / "cli.eyot")
    assert type(loaded) is type(detector) and np.array_equal(loaded.score_samples(X), detector.score_samples(X))
    assert loaded.threshold_ == detector.threshold_ and loaded.to_bytes() == detector.to_bytes()
    # How many rows to flag is not in the file, all other parameters are.
    again = clone(loaded).set_params(contamination=detector.contamination).fit(X)
    assert again.to_bytes() == detector.to_bytes()


def test_frames_with_text(program, tmp_path, orders):
    orders.to_parquet(tmp_path / "orders.parquet")
    top = json.loads(program("detect", tmp_path / "orders.parquet", "-f", tmp_path / "m.eyot", "--json", "--explain"))[
        "top"
    ][0]
    detector = eyot.IDKDetector(random_state=0).fit(orders)
    assert detector.to_bytes() == (tmp_path / "m.eyot").read_bytes()
    row = top["row"] - 1
    assert detector.decision_scores_[row] == top["score"]
    shares = detector.explain(orders.iloc[[row]]).iloc[0]
    assert {why["column"]: why["share"] for why in top["why"]} == {
        name: share for name, share in shares.items() if share > 0
    }
    loaded = eyot.load(tmp_path / "m.eyot")
    assert np.array_equal(loaded.score_samples(orders), detector.score_samples(orders))
    assert np.array_equal(loaded.score_samples(orders[orders.columns[::-1]]), detector.score_samples(orders))


def test_sparse_rows(program, tmp_path):
    X = sparse.random(200, 40, density=0.1, random_state=0, format="csr")
    X[-1, 39] = 1.0
    lines = (" ".join(f"{column + 1}:{value!r}" for column, value in zip(row.indices, row.data.tolist())) for row in X)
    (tmp_path / "x.svm").write_text("".join(f"0 {line}\n" for line in lines))
    program("detect", tmp_path / "x.svm", "--psi", 16, "-f", tmp_path / "cli.eyot", "-q")
    detector = eyot.IDKDetector(max_samples=16, random_state=0).fit(X)
    assert detector.to_bytes() == (tmp_path / "cli.eyot").read_bytes()
    detector.save(tmp_path / "python.eyot")
    assert np.array_equal(
        scores(program("predict", tmp_path / "python.eyot", tmp_path / "x.svm", "-q")), detector.decision_scores_
    )
    assert np.array_equal(detector.score_samples(X.toarray()), detector.score_samples(X))


def test_sparse_models_of_every_kind_come_back(tmp_path):
    X = sparse.random(120, 30, density=0.2, random_state=0, format="csr")
    y = np.arange(120) % 2
    for model in (
        eyot.IsolationKernel(max_samples=8),
        eyot.IDKDetector(),
        eyot.IKClassifier(max_samples=8),
        eyot.IKOnlineClassifier(max_samples=8),
        eyot.ISKClassifier(max_samples=8, epsilon=1.0, C=1.0),
        eyot.GroupDetector(),
    ):
        model.set_params(random_state=0).fit(X, y).save(tmp_path / "m.eyot")
        loaded = eyot.load(tmp_path / "m.eyot")
        assert loaded.n_features_in_ == 30 and loaded.to_bytes() == model.to_bytes()
        apply = "transform" if hasattr(model, "transform") else "decision_function"
        for rows in (X, X.toarray()):
            assert np.allclose(*(as_array(getattr(m, apply)(rows)) for m in (loaded, model)), rtol=0, atol=0)
        with pytest.raises(ValueError, match="X has 29 features"):
            getattr(loaded, apply)(X[:, 1:])


def as_array(values):
    return values.toarray() if sparse.issparse(values) else values


def test_maps(program, tmp_path, numbers):
    np.save(tmp_path / "x.npy", numbers)
    for partition in ("voronoi", "tree", "sphere"):
        program(
            "map",
            tmp_path / "x.npy",
            "--partition",
            partition,
            "--psi",
            16,
            "-t",
            20,
            "-f",
            tmp_path / "m.eyot",
            "-o",
            tmp_path / "codes.csv",
            "-q",
        )
        kernel = eyot.IsolationKernel(partition=partition, max_samples=16, n_estimators=20, random_state=0).fit(numbers)
        assert kernel.to_bytes() == (tmp_path / "m.eyot").read_bytes()
        lines = (tmp_path / "codes.csv").read_text().splitlines()[1:]
        codes = np.array([[int(cell) if cell else 65535 for cell in line.split(",")] for line in lines])
        assert np.array_equal(codes, kernel.encode(numbers))
        loaded = eyot.load(tmp_path / "m.eyot")
        assert np.array_equal(loaded.encode(numbers), codes)
        assert clone(loaded).fit(numbers).to_bytes() == kernel.to_bytes()


def test_classifiers(program, tmp_path):
    X, y = load_iris(return_X_y=True)
    table = np.column_stack([X, y])
    np.savetxt(tmp_path / "iris.csv", table, delimiter=",", header="f0,f1,f2,f3,y", comments="", fmt="%.17g")
    options = [
        "--target",
        "y",
        "--psi",
        32,
        "--bias",
        "-f",
        tmp_path / "cli.eyot",
        "-q",
        "--test",
        tmp_path / "iris.csv",
    ]
    program("train", tmp_path / "iris.csv", *options)
    classifier = eyot.IKClassifier(max_samples=32, random_state=0).fit(X, y)
    assert classifier.to_bytes() == (tmp_path / "cli.eyot").read_bytes()
    classifier.save(tmp_path / "python.eyot")
    lines = program("predict", tmp_path / "python.eyot", tmp_path / "iris.csv", "-q").strip().splitlines()[1:]
    assert [int(line.split(",")[2]) for line in lines] == list(classifier.predict(X))
    assert [float(line.split(",")[1]) for line in lines] == list(classifier.decision_function(X).max(axis=1))
    loaded = eyot.load(tmp_path / "cli.eyot")
    assert np.array_equal(loaded.predict(X), classifier.predict(X)) and list(loaded.classes_) == [0, 1, 2]
    assert clone(loaded).fit(X, y).to_bytes() == classifier.to_bytes()
    program("train", tmp_path / "iris.csv", *options, "--probability")
    classifier = eyot.IKClassifier(max_samples=32, random_state=0, probability=True).fit(X, y)
    assert classifier.to_bytes() == (tmp_path / "cli.eyot").read_bytes()
    assert np.array_equal(eyot.load(tmp_path / "cli.eyot").predict_proba(X), classifier.predict_proba(X))


LEARNERS = [
    (
        eyot.IKOnlineClassifier(partition="tree", max_samples=32, random_state=1),
        ["--method", "ik-ogd", "--partition", "tree", "--psi", 32],
    ),
    (eyot.IKOnlineClassifier(loss="logistic", drift=True, random_state=1), ["--loss", "logistic", "--drift"]),
    (eyot.RRFClassifier(random_state=1), ["--method", "rrf"]),
    (eyot.OnlineKernelClassifier(method="nogd", gamma=4.0, random_state=1), ["--method", "nogd", "--gamma", 4.0]),
    (
        eyot.OnlineKernelClassifier(method="bogd", kernel="laplacian", random_state=1),
        ["--method", "bogd", "--kernel", "laplacian"],
    ),
    (eyot.IKOnlineRegressor(eta=0.2, random_state=1), ["--task", "regress", "--eta", 0.2]),
    (eyot.RRFRegressor(random_state=1), ["--task", "regress", "--method", "rrf"]),
    (eyot.OnlineKernelRegressor(method="fogd", random_state=1), ["--task", "regress", "--method", "fogd"]),
]


@pytest.mark.parametrize(("learner", "options"), LEARNERS)
def test_streams(program, tmp_path, learner, options):
    X, y = make_moons(1500, noise=0.2, random_state=0)
    np.savetxt(
        tmp_path / "moons.csv", np.column_stack([X, y]), delimiter=",", header="f0,f1,y", comments="", fmt="%.17g"
    )
    program("stream", tmp_path / "moons.csv", "--target", "y", "--seed", 1, "-f", tmp_path / "cli.eyot", "-q", *options)
    learner.fit(X, y)
    assert learner.to_bytes() == (tmp_path / "cli.eyot").read_bytes()
    loaded = eyot.load(tmp_path / "cli.eyot")
    assert type(loaded) is type(learner) and np.array_equal(loaded.predict(X), learner.predict(X))
    assert clone(loaded).fit(X, y).to_bytes() == learner.to_bytes()
    # Going on after loading is going on.
    loaded.partial_fit(X, y)
    learner.partial_fit(X, y)
    assert np.array_equal(loaded.predict(X), learner.predict(X))


@pytest.mark.parametrize(
    ("classifier", "options"),
    [
        (
            eyot.ISKClassifier(max_samples=[16, 32], epsilon=1.0, C=10.0, scale="minmax", random_state=2),
            ["--psi", "16,32", "--epsilon", "1", "--c", "10", "--scale", "minmax"],
        ),
        (
            eyot.ISKClassifier(max_samples=16, epsilon=0.8, power=[0.5, 0.0], C=10.0, scale=None, random_state=2),
            ["--psi", "16", "--epsilon", "0.8", "--power", "0.5,0", "--c", "10", "--scale", "none"],
        ),
        (
            eyot.ISKClassifier(metric="text", n_estimators=50, epsilon=1.0, C=10.0, random_state=2),
            ["--distance", "text", "-t", "50", "--epsilon", "1", "--c", "10"],
        ),
        (
            eyot.ISKClassifier(metric="text", n_estimators=50, C=10.0, random_state=2),
            ["--distance", "text", "-t", "50", "--c", "10"],
        ),
        (
            eyot.ISKClassifier(max_samples=16, tau=[0.5, 2.0], C=10.0, scale="minmax", random_state=2),
            ["--psi", "16", "--tau", "0.5,2", "--c", "10", "--scale", "minmax"],
        ),
        (
            eyot.BagClassifier(method="simple-mi", gamma=1.0, C=1.0, random_state=2),
            ["--method", "simple-mi", "--gamma", "1", "--c", "1"],
        ),
    ],
)
def test_bags(program, tmp_path, classifier, options):
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(rng.integers(3, 9), 2)) + 2 * (i % 2) for i in range(30)]
    y = np.array(["odd" if i % 2 else "even" for i in range(30)])
    lines = ["f0,f1,bag,y"] + [f"{a!r},{b!r},{i + 1},{y[i]}" for i, bag in enumerate(bags) for a, b in bag.tolist()]
    (tmp_path / "bags.csv").write_text("\n".join(lines) + "\n")
    program(
        "mil",
        tmp_path / "bags.csv",
        "--bag",
        "bag",
        "--target",
        "y",
        "--seed",
        2,
        "-f",
        tmp_path / "cli.eyot",
        "-q",
        "--test",
        tmp_path / "bags.csv",
        *options,
    )
    classifier.fit(bags, y)
    assert classifier.to_bytes() == (tmp_path / "cli.eyot").read_bytes()
    classifier.save(tmp_path / "python.eyot")
    lines = (
        program("predict", tmp_path / "python.eyot", tmp_path / "bags.csv", "--bag", "bag", "-q")
        .strip()
        .splitlines()[1:]
    )
    assert [line.split(",")[2] for line in lines] == list(classifier.predict(bags))
    loaded = eyot.load(tmp_path / "cli.eyot")
    assert np.array_equal(loaded.predict(bags), classifier.predict(bags))
    assert clone(loaded).fit(bags, y).to_bytes() == classifier.to_bytes()


def test_groups(program, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 2))
    ids = np.repeat(np.arange(20), 20)
    rows[ids == 4] *= 0.1
    np.savetxt(
        tmp_path / "g.csv", np.column_stack([rows, ids]), delimiter=",", header="f0,f1,bag", comments="", fmt="%.17g"
    )
    program("detect", tmp_path / "g.csv", "--bag", "bag", "-f", tmp_path / "cli.eyot", "-o", tmp_path / "s.csv", "-q")
    detector = eyot.GroupDetector(random_state=0).fit(rows, bags=ids)
    assert detector.to_bytes() == (tmp_path / "cli.eyot").read_bytes()
    assert np.array_equal(scores((tmp_path / "s.csv").read_text(), 2), detector.decision_scores_)
    loaded = eyot.load(tmp_path / "cli.eyot")
    assert np.array_equal(loaded.score_samples(rows, bags=ids), detector.score_samples(rows, bags=ids))
    assert clone(loaded).fit(rows, bags=ids).to_bytes() == detector.to_bytes()


def test_threads_and_batches_change_nothing(numbers):
    one = eyot.IDKDetector(random_state=0).fit(numbers)
    two = eyot.IDKDetector(random_state=0, n_jobs=2).fit(numbers)
    assert one.to_bytes() == two.to_bytes()
    rows = np.concatenate([two.score_samples(numbers[i : i + 7]) for i in range(0, 400, 7)])
    assert np.array_equal(rows, one.score_samples(numbers))
