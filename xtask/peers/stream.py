"""A linear learner and a tree learner over the same stream, every point predicted before it is learned."""

import os

import numpy as np
from measure import d, fastest, folder, labels, n, peer, points, say, task

initial, cell = task["initial"], task["set"]
x, y = points(), labels()


def vowpal_wabbit():
    """Its own driver on its own binary cache of the examples, which is the fastest way to run it: four times as fast
    as handing it parsed examples one by one. Its parser takes a thread of its own."""
    from vowpalwabbit import pyvw

    text, cache, found = folder / "stream.vw", folder / "stream.cache", folder / "stream.predictions"
    cache.unlink(missing_ok=True)
    with text.open("w") as out:
        for row, label in zip(x, y):
            out.write(f"{2 * int(label) - 1} | " + " ".join(f"{k}:{v:.6g}" for k, v in enumerate(row)) + "\n")
    options = "--quiet --loss_function logistic"
    model = pyvw.Workspace(f"{options} -d {text} --cache_file {cache} -p {found}")
    model.run_parser()
    model.finish()
    predicted = np.loadtxt(found) > 0

    def work():
        model = pyvw.Workspace(f"{options} --cache_file {cache}")
        model.run_parser()
        model.finish()

    return work, predicted


def river():
    from river.tree import HoeffdingTreeClassifier

    names = [f"f{k}" for k in range(d)]
    rows = [dict(zip(names, map(float, row))) for row in x]
    truth = [int(label) for label in y]
    predicted = []

    def work():
        model = HoeffdingTreeClassifier()
        predicted.clear()
        for row, label in zip(rows, truth):
            predicted.append(model.predict_one(row))
            model.learn_one(row, label)

    return work, predicted


def on_one_core():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    return vowpal_wabbit()


makers = {"Vowpal Wabbit": vowpal_wabbit, "Vowpal Wabbit, one core": on_one_core, "River": river}
work, predicted = makers[peer]()
seconds, repeats, _ = fastest(work)
right = np.array([label is not None and bool(label) for label in predicted]) == (y == 1)
say(cell, seconds, repeats, points_per_second=n / seconds, accuracy=float(right[initial:].mean()))
