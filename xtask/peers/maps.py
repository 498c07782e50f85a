"""The nearest of ψ sampled rows in each of t partitionings: the Voronoi map; with one comparison more, the hypersphere
map. The partitionings do not depend on each other, so that where all of them would take long, some are timed and the
time is scaled up; `measured` then says on how many partitionings and rows."""

import time

import numpy as np
from measure import REPEATS, cells, codes, folder, limit_memory, n, once, peer, points, say, t

ENOUGH = 5  # seconds of one repeat after which the time is scaled up
TRIAL = 500  # rows on which the cost of a partitioning is estimated

limit_memory()
x = points()
samples = np.fromfile(folder / "samples.u32", np.uint32).reshape(t, -1)


def with_numpy(block):
    """x·c − |c|²/2 by one matrix product per block of rows, then the largest."""
    one = np.hstack([x, np.ones((n, 1), np.float32)])
    room = np.empty((block, samples.shape[1]), np.float32)

    def nearest(centres, rows, distances):
        both = np.ascontiguousarray(np.hstack([centres, -0.5 * (centres * centres).sum(axis=1, keepdims=True)]).T)
        found, best = np.empty(rows, np.intp), np.empty(rows, np.float32)
        for first in range(0, rows, block):
            some = one[first : min(first + block, rows)]
            product = np.matmul(some, both, out=room[: len(some)])
            part = found[first : first + len(some)]
            product.argmax(axis=1, out=part)
            if distances:
                best[first : first + len(some)] = product[np.arange(len(some)), part]
        return found, squares[:rows] - 2 * best if distances else None

    squares = (x * x).sum(axis=1)
    return nearest


def with_faiss(_):
    import faiss

    faiss.omp_set_num_threads(1)

    def nearest(centres, rows, distances):
        index = faiss.IndexFlatL2(centres.shape[1])
        index.add(centres)
        best, found = index.search(x[:rows], 1)
        return found[:, 0], best[:, 0]

    return nearest


def with_sklearn(_):
    from sklearn.metrics import pairwise_distances_argmin, pairwise_distances_argmin_min

    def nearest(centres, rows, distances):
        if not distances:
            return pairwise_distances_argmin(x[:rows], centres), None
        found, best = pairwise_distances_argmin_min(x[:rows], centres)
        return found, best * best

    return nearest


def with_scipy(leaf):
    from scipy.spatial import cKDTree

    wide = x.astype(np.float64)

    def nearest(centres, rows, distances):
        best, found = cKDTree(centres.astype(np.float64), leafsize=leaf).query(wide[:rows], workers=1)
        return found, best * best

    return nearest


# A program and what it can be set to; the quickest on a trial is taken.
PEERS = {
    "numpy": (with_numpy, [64, 256, 1024, 4096]),
    "faiss": (with_faiss, [None]),
    "scikit-learn": (with_sklearn, [None]),
    "scipy": (with_scipy, [16, 64]),
}


def measure(nearest, distances):
    """Seconds for all rows and partitionings, repeats, and what was measured; then the codes found."""
    radii = np.full(samples.shape[1], np.float32(x.shape[1]))  # their values do not change the work

    def some(partitionings, rows):
        found = np.empty((rows, partitionings), np.uint16)
        for i in range(partitionings):
            cell, best = nearest(x[samples[i]], rows, distances)
            if distances:
                cell = np.where(best <= radii[cell], cell, 65535)
            found[:, i] = cell
        return found

    trial = min(TRIAL, n)
    rough, _ = once(lambda: some(1, trial))
    rows = n if rough * n / trial <= 10 * ENOUGH else trial
    first, _ = once(lambda: some(1, rows))
    partitionings = max(1, min(t, int(ENOUGH / first)))
    best, repeats = float("inf"), 0
    until = time.perf_counter() + 5 * ENOUGH
    while repeats < REPEATS and (repeats == 0 or time.perf_counter() < until):
        seconds, found = once(lambda: some(partitionings, rows))
        best, repeats = min(best, seconds), repeats + 1
    scaled = best * (t / partitionings) * (n / rows)
    measured = None if (partitionings, rows) == (t, n) else f"{partitionings} of {t} partitionings, {rows} of {n} rows"
    return scaled, repeats, measured, found


make, settings = PEERS[peer]
trials = []
for setting in settings:
    nearest = make(setting)
    nearest(x[samples[0]], min(n, TRIAL), False)
    seconds, _ = once(lambda: nearest(x[samples[0]], min(n, 8 * TRIAL), False))
    trials.append((seconds, setting))
setting = min(trials, key=lambda pair: pair[0])[1]
nearest = make(setting)
for cell in cells:
    balls = cell.startswith("sphere")
    seconds, repeats, measured, found = measure(nearest, balls)
    more = {} if measured is None else {"measured": measured}
    if setting is not None:
        more["setting"] = setting
    if not balls:
        # Ours are exact; theirs, in single precision, may differ where two centres are nearly equally far.
        more["same_codes"] = float(np.mean(codes()[: len(found), : found.shape[1]] == found))
    say(cell, seconds, repeats, **more)
