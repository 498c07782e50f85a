"""What Python costs over Rust: a fit of 100,000 rows beside the command line, and one row scored.

    python python/benches/overhead.py target/release/eyot

One thread, seconds of the processor, which other programs disturb less than those on the wall; minimum of several
repeats, turn by turn, so that both meet the same machine. The command line's seconds are those of the whole program, which
reads the rows too; Python's are those of the call.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import eyot

ROWS, COLUMNS, REPEATS = 100_000, 10, 5


def seconds(call):
    """Seconds of the processor that a call takes in this process."""
    start = time.process_time()
    call()
    return time.process_time() - start


def seconds_of_program(arguments):
    """Seconds of the processor that a program takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(program):
    X = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))
    fit = lambda: eyot.IDKDetector(max_samples=256, random_state=0).fit(X)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        np.save(path, X)
        command = [program, "detect", path, "--psi", "256", "--threads", "1", "-q"]
        pairs = [(seconds_of_program(command), seconds(fit)) for _ in range(REPEATS)]
    rust, python = map(min, zip(*pairs))
    print(
        f"fit and score {ROWS} rows: Rust {rust:.3f} s, Python {python:.3f} s, overhead {100 * (python / rust - 1):.1f} %"
    )
    # What is not the detector's own work: checks, encoder, encoding, and one tree of two rows.
    small = lambda: eyot.IsolationForestDetector(n_estimators=1, max_samples=2, random_state=0).fit(X)
    rest = min(seconds(small) for _ in range(REPEATS))
    print(f"checks, encoder and encoding take {1000 * rest:.1f} ms of it, {100 * rest / python:.1f} %")
    for name, kind in [("IDK", eyot.IDKDetector), ("isolation forest", eyot.IsolationForestDetector)]:
        one_row(name, kind(max_samples=256, random_state=0).fit(X), X[:1].copy())
    stream(X)


def one_row(name, detector, row):
    """Microseconds of one row."""
    whole = min(seconds(lambda: [detector.score_samples(row) for _ in range(1000)]) for _ in range(20))
    core = min(seconds(lambda: [detector._model.score(row, 1) for _ in range(1000)]) for _ in range(20))
    print(f"one row by {name}: {1000 * whole:.1f} µs, of which {1000 * core:.1f} µs in the compiled half")


def stream(X):
    """Microseconds of one row of a stream, learned by itself and among many."""
    X, y = X[:20_000], X[:20_000, 0] > X[:20_000, 1]
    rows = [dict(zip(map("f{}".format, range(COLUMNS)), row)) for row in X.tolist()]
    one, many = (eyot.IKOnlineClassifier(partition="tree", n_initial=1000, random_state=0) for _ in range(2))
    alone = seconds(lambda: [one.learn_one(row, label) for row, label in zip(rows, y.tolist())])
    together = seconds(lambda: many.partial_fit(X, y))
    predicted = min(seconds(lambda: [one.predict_one(row) for row in rows[:1000]]) for _ in range(5))
    print(
        f"one row of a stream: {50 * alone:.1f} µs learned alone, {50 * together:.1f} among many, "
        f"{1000 * predicted:.1f} predicted alone"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
