"""What every peer script shares: the task and its data, the clock, and the lines that results are written as.

A script is called as `SCRIPT FOLDER PEER CELL..`. FOLDER holds task.json and the data that our program wrote; PEER is
one of the programs the script knows; each CELL is a piece of work. It prints one JSON object per result. Reading data, importing and converting are never
on the clock; one thread.
"""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

REPEATS = 5  # of work that takes up to LONG seconds
LONG, VERY_LONG = 10, 60

folder, peer, cells = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
task = json.loads((folder / "task.json").read_text())
n, d, psi, t = task["n"], task["d"], task["psi"], task["t"]


def limit_memory(share=0.9):
    """A program that wants more memory than there is shall say so, not take the machine down."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    resource.setrlimit(resource.RLIMIT_AS, (int(share * free), resource.RLIM_INFINITY))


def points(kind=np.float32):
    return np.fromfile(folder / "x.f32", np.float32).reshape(n, d).astype(kind)


def labels():
    return np.fromfile(folder / "labels.u8", np.uint8)


def codes():
    kind = np.uint8 if psi <= 256 else np.uint16
    return np.fromfile(folder / f"codes.{'u8' if psi <= 256 else 'u16'}", kind).reshape(-1, t)


def once(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def fastest(work):
    """Seconds of the quickest repeat, how many there were, and what the last one returned."""
    seconds, result = once(work)
    repeats = REPEATS if seconds <= LONG else 2 if seconds <= VERY_LONG else 1
    for _ in range(repeats - 1):
        again, result = once(work)
        seconds = min(seconds, again)
    return seconds, repeats, result


def say(cell, seconds, repeats, **more):
    print(json.dumps({"cell": cell, "who": peer, "seconds": seconds, "repeats": repeats, **more}), flush=True)
