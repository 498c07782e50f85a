"""Long calls: Ctrl-C, threads, processes, pickles, memory, the time of an import."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import joblib
import numpy as np
import pytest

import eyot


def python(code, **environment):
    code = textwrap.dedent(code)
    env = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=300)


SLOW = {
    "detector": "eyot.IDKDetector(max_samples=4096, n_estimators=20_000).fit(X)",
    "learner": "eyot.OnlineKernelClassifier(method='ogd', n_initial=10).fit(X, X[:, 0] > 0)",
    "svm": "eyot.IKClassifier(n_estimators=20_000, max_samples=4096).fit(X, X[:, 0] > 0)",
    "kernel": "eyot.IsolationKernel(n_estimators=20_000, max_samples=4096).fit(X)",
}


@pytest.mark.parametrize("what", SLOW)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_a_long_call(what, n_jobs):
    call = SLOW[what].replace("(", f"(n_jobs={n_jobs}, verbose=1, ", 1)
    code = f"""
        import numpy as np, eyot, eyot._base
        eyot._base.Progress.__call__ = lambda *_: print("working", flush=True)
        X = np.random.default_rng(0).normal(size=(200_000, 20))
        try:
            {call}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        print(eyot.IDKDetector(max_samples=4, random_state=0).fit(X[:100]).decision_scores_.shape)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    # The core tells that it is in the middle of something.
    assert process.stdout.readline() == "working\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out.replace("working\n", "") == "interrupted\n(100,)\n"


def test_a_fork_in_the_middle_of_threads_is_harmless():
    code = """
        import multiprocessing as mp
        import numpy as np, eyot
        X = np.random.default_rng(0).normal(size=(500, 4))
        detector = eyot.IDKDetector(random_state=0, n_jobs=2).fit(X)
        def work(_):
            other = eyot.IDKDetector(random_state=0, n_jobs=2).fit(X)
            return (other.score_samples(X) == detector.score_samples(X)).all()
        with mp.get_context("fork").Pool(2) as pool:
            assert all(pool.map(work, range(4)))
        print("same")
    """
    outcome = python(code)
    assert outcome.stdout == "same\n", outcome.stderr


def test_joblib_with_processes(numbers):
    detector = eyot.IDKDetector(max_samples=8, random_state=0).fit(numbers)
    parts = joblib.Parallel(n_jobs=2)(
        joblib.delayed(detector.score_samples)(part) for part in np.array_split(numbers, 4)
    )
    assert np.array_equal(np.concatenate(parts), detector.score_samples(numbers))


def test_pickles_are_the_bytes_of_the_model(numbers, orders):
    y = (numbers[:, 0] > 0).astype(int)
    bags = [numbers[i : i + 5] for i in range(0, 400, 5)]
    models = [
        eyot.IsolationKernel(max_samples=8).fit(numbers),
        eyot.IDKDetector(max_samples=8).fit(orders),
        eyot.IKClassifier(max_samples=8).fit(numbers, y),
        eyot.IKOnlineClassifier(max_samples=8).fit(numbers, y),
        eyot.IKOnlineRegressor(max_samples=8).partial_fit(numbers, y),
        eyot.ISKClassifier(max_samples=8, epsilon=1.0, C=1.0, scale="minmax").fit(bags, np.arange(80) % 2),
        eyot.GroupDetector().fit(bags),
    ]
    for model in models:
        for same in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            assert same.to_bytes() == model.to_bytes()
            assert model.to_bytes() in pickle.dumps(model)
            rows = orders if hasattr(model, "feature_names_in_") else numbers
            if hasattr(model, "predict"):
                assert np.array_equal(same.predict(rows), model.predict(rows))


def test_threads_of_python_work_at_the_same_time(numbers):
    detector = eyot.IDKDetector(max_samples=16, random_state=0).fit(numbers)
    learner = eyot.IKOnlineClassifier(max_samples=8, n_initial=50).partial_fit(numbers, numbers[:, 0] > 0)
    expected, wrong = detector.score_samples(numbers), []

    def work():
        for _ in range(20):
            learner.partial_fit(numbers, numbers[:, 0] > 0)
            learner.predict(numbers)
            if not np.array_equal(detector.score_samples(numbers), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong and learner.n_rows_ == 400 * 81


def test_the_interpreter_is_free_while_the_core_works():
    X = np.random.default_rng(0).normal(size=(100_000, 10))
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    eyot.IDKDetector(max_samples=64).fit(X)
    end = time.perf_counter()
    done.set()
    thread.join()
    inside = [t for t in ticks if start < t < end]
    assert len(inside) > 10


def test_arrays_are_not_copied():
    code = """
        import resource, sys
        import numpy as np, eyot
        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        small = np.random.default_rng(0).normal(size=(1000, 50))
        for dtype in (np.float64, np.float32):
            big = np.random.default_rng(0).normal(size=(800_000, 50)).astype(dtype)
            for scale in (None, "minmax"):
                kind = eyot.IsolationForestDetector(n_estimators=1, max_samples=2, scale=scale, random_state=0).fit(small)
                kind.score_samples(big[:1000])
                before = peak()
                kind.score_samples(big)
                assert peak() - before < 60, (dtype, scale, peak() - before, big.nbytes / 2**20)
            if dtype is np.float64:
                # Without scaling, even a fit looks at the caller's own numbers.
                kernel = eyot.IsolationKernel(n_estimators=1, max_samples=2, scale=None)
                before = peak()
                kernel.fit(big)
                assert peak() - before < 60, ("fit", peak() - before)
            del big
        print("flat")
    """
    outcome = python(code)
    assert outcome.stdout == "flat\n", outcome.stderr


def test_results_do_not_depend_on_later_changes_of_the_array():
    X = np.random.default_rng(0).normal(size=(100, 3))
    detector = eyot.IDKDetector(max_samples=8, scale=None, random_state=0).fit(X)
    rows, expected = X.copy(), detector.score_samples(X)
    X[:] = 0
    assert np.array_equal(detector.score_samples(rows), expected)
    read_only = rows.copy()
    read_only.flags.writeable = False
    assert np.array_equal(detector.score_samples(read_only), expected)


def test_import_is_quick():
    code = """
        import time
        import numpy, scipy.sparse, sklearn.base, sklearn.utils.validation, sklearn.utils.multiclass, sklearn.exceptions
        start = time.perf_counter()
        import eyot
        print(time.perf_counter() - start)
    """
    assert min(float(python(code).stdout) for _ in range(3)) < 0.3


def test_import_needs_neither_pandas_nor_others():
    code = """
        import sys
        import numpy, scipy.sparse, sklearn.base, sklearn.utils.validation, sklearn.utils.multiclass, sklearn.exceptions
        before = set(sys.modules)
        import eyot
        others = {"pandas", "polars", "pyarrow", "river", "pyod", "matplotlib", "tqdm"}
        print(sorted(others & (set(sys.modules) - before)))
    """
    assert python(code).stdout == "[]\n"


def test_progress_is_shown_if_asked_for(numbers, capfd):
    X = np.tile(numbers, (50, 1))
    eyot.IDKDetector(max_samples=256, verbose=1).fit(X)
    shown = capfd.readouterr().err
    assert "%" in shown
    eyot.IDKDetector(max_samples=256).fit(X)
    assert capfd.readouterr().err == ""
