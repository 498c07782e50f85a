"""The same work in other programs, one thread, minimum of five repeats; one line `work seconds` each."""

import time

import numpy as np
from sklearn.ensemble import IsolationForest

REPEATS = 5
N, PSI, T = 100_000, 256, 100


def seconds(work):
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def nearest(x, centres):
    """Codes of one partitioning by a matrix product, the fastest way in numpy."""
    products = x @ centres.T
    products *= -2
    products += (centres * centres).sum(axis=1)
    return products.argmin(axis=1)


for d in (10, 54):
    x = np.random.default_rng(0).standard_normal((N, d))
    forest = IsolationForest(n_estimators=T, max_samples=PSI, random_state=0, n_jobs=1).fit(x)
    print(f"scikit-learn score_samples d={d} n={N} {seconds(lambda: forest.score_samples(x)):.3f}")
    some = x[:20_000].astype(np.float32)
    samples = [some[np.random.default_rng(i).choice(len(some), PSI, replace=False)] for i in range(T)]
    work = lambda: [nearest(some, centres) for centres in samples]
    print(f"numpy f32 voronoi d={d} n=20000 {seconds(work):.3f}")
