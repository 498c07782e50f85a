"""Other anomaly detectors at their defaults on the files of DIR/anomaly, AUC by file; then http against the clock.

usage: detectors.py DIR EYOT [SET,..]
EYOT is our program; it scores the same files without labels. One thread each.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
from isotree import IsolationForest as Isotree
from pyod.models.inne import INNE
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

SETS = ["mammography", "pendigits", "eeg_eye", "smtp", "shuttle", "aloi", "forestcover", "http", "mnist_230", "mnist_479"]
MOST_ROWS = 100_000  # INNE keeps all distances of a chunk; larger sets are scored in parts of this size
folder, program = Path(sys.argv[1]) / "anomaly", sys.argv[2]
wanted = sys.argv[3].split(",") if len(sys.argv) > 3 else SETS


def load(name):
    table = parquet.read_table(folder / f"{name}.parquet")
    x = np.column_stack([table[column].to_numpy() for column in table.column_names if column != "label"]).astype(float)
    low, high = x.min(axis=0), x.max(axis=0)
    return (x - low) / np.where(high > low, high - low, 1), table["label"].to_numpy()


def inne(x, seed):
    model = INNE(random_state=seed)
    part = x if len(x) <= MOST_ROWS else x[np.random.default_rng(seed).choice(len(x), MOST_ROWS, replace=False)]
    model.fit(part)
    return np.concatenate([model.decision_function(x[i : i + MOST_ROWS]) for i in range(0, len(x), MOST_ROWS)])


def eyot(name, seed, *options):
    command = [program, "detect", str(folder / f"{name}.parquet"), "--label", "label", "--json", "--threads", "1"]
    done = subprocess.run([*command, "--seed", str(seed), "-q", *options], capture_output=True, check=True)
    return json.loads(done.stdout)


print(f"{'set':<14}{'eyot auto':>12}{'sklearn IF':>12}{'PyOD INNE':>12}")
rows = []
for name in wanted:
    if not (folder / f"{name}.parquet").exists():
        print(f"{name:<14} not there")
        continue
    x, y = load(name)
    seeds = range(3)
    ours = np.mean([eyot(name, seed)["auc"] for seed in seeds])
    forest = np.mean([roc_auc_score(y, -IsolationForest(random_state=seed).fit(x).score_samples(x)) for seed in seeds])
    balls = np.mean([roc_auc_score(y, inne(x, seed)) for seed in seeds])
    rows.append((ours, forest, balls))
    print(f"{name:<14}" + "".join(f"{auc:>12.3f}" for auc in rows[-1]), flush=True)
if rows:
    print(f"{'mean':<14}" + "".join(f"{auc:>12.3f}" for auc in np.mean(rows, axis=0)))

if "http" in wanted and (folder / "http.parquet").exists():
    x, y = load("http")
    isotree, ours = [], []
    for _ in range(3):
        # Processor time, so that other work on the machine does not count; ours includes reading and scaling the file.
        start = time.process_time()
        model = Isotree(ntrees=100, sample_size=256, ndim=1, nthreads=1)
        scores = model.fit(x).predict(x)
        isotree.append(time.process_time() - start)
        start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        found = eyot("http", 0, "--psi", "128", "-t", "100")
        ours.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start)
    print(f"http, fit + score, processor seconds, minimum of 3: eyot {min(ours):.2f} (AUC {found['auc']:.3f}), "
          f"isotree {min(isotree):.2f} (AUC {roc_auc_score(y, scores):.3f})")
