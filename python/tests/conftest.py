"""Data and programs that several tests use."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

# Without this, set before SciPy is imported, scikit-learn skips its checks of array API input.
os.environ.setdefault("SCIPY_ARRAY_API", "1")


@pytest.fixture(scope="session")
def program():
    """The command-line program of the same sources."""
    named = os.environ.get("EYOT_PROGRAM")
    places = [Path(named)] if named else [ROOT / "target" / kind / "eyot" for kind in ("release", "debug")]
    for place in places:
        if place.is_file():
            break
    else:
        pytest.fail("no `eyot` program: build it with `cargo build --release`, or name it in EYOT_PROGRAM")

    def run(*arguments, fails=False):
        outcome = subprocess.run([str(place), *map(str, arguments)], capture_output=True, text=True)
        assert (outcome.returncode != 0) == fails, outcome.stderr
        return outcome.stderr if fails else outcome.stdout

    return run


@pytest.fixture(scope="session")
def numbers():
    """Rows of three columns, two of them related, some odd rows first."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    X[:4] += [[6, -6, 0], [0, 8, 0], [0, 0, 9], [-7, -7, 7]]
    return X


@pytest.fixture(scope="session")
def orders():
    """A frame with text, an odd row first."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    n = 300
    frame = pd.DataFrame(
        {
            "amount": rng.gamma(2.0, 20.0, n).round(2),
            "items": rng.integers(1, 6, n),
            "country": rng.choice(["DE", "FR", "NL"], n),
            "express": rng.random(n) < 0.2,
        }
    )
    frame.loc[0, ["amount", "country"]] = [900.0, "NL"]
    return frame
