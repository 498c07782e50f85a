"""What Python costs over Rust: a fit of 100,000 rows beside the command line's own clock, and one row scored.

    python python/benches/overhead.py target/release/eyot

One thread, minimum of several repeats. The command line's seconds are those of encoding, fitting and scoring, without
reading; Python's are those of the whole call.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import eyot

ROWS, COLUMNS, REPEATS = 100_000, 10, 5


def least(call, repeats):
    """Seconds of the quickest repeat."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def main(program):
    X = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        np.save(path, X)
        options = ["--psi", "256", "--threads", "1", "--json", "-q"]
        rust = float("inf")
        python = float("inf")
        # Turn by turn, so that both meet the same machine.
        for _ in range(REPEATS):
            report = json.loads(subprocess.run([program, "detect", path, *options], capture_output=True).stdout)
            seconds = report["seconds"]
            rust = min(rust, seconds["map"] + seconds["fit"])
            python = min(python, least(lambda: eyot.IDKDetector(max_samples=256, random_state=0).fit(X), 1))
    print(
        f"fit and score {ROWS} rows: Rust {rust:.3f} s, Python {python:.3f} s, overhead {100 * (python / rust - 1):.1f} %"
    )
    # What is not the detector's own work: checks, encoder, encoding, and one tree of two rows.
    rest = least(lambda: eyot.IsolationForestDetector(n_estimators=1, max_samples=2, random_state=0).fit(X), REPEATS)
    print(f"checks, encoder and encoding take {1000 * rest:.1f} ms of it, {100 * rest / python:.1f} %")
    for name, kind in [("IDK", eyot.IDKDetector), ("isolation forest", eyot.IsolationForestDetector)]:
        one_row(name, kind(max_samples=256, random_state=0).fit(X), X[:1].copy())


def one_row(name, detector, row):
    whole = least(lambda: [detector.score_samples(row) for _ in range(1000)], 10)
    core = least(lambda: [detector._model.score(row, 1) for _ in range(1000)], 10)
    print(f"one row by {name}: {1000 * whole:.1f} µs, of which {1000 * core:.1f} µs in the compiled half")


if __name__ == "__main__":
    main(*sys.argv[1:])
