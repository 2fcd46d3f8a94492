"""How cost grows with size: medians of rounds over the sizes, stored beside this file."""

import csv
import statistics
import time
from pathlib import Path

import numpy as np
from rows_incidental import encoding
from rows_rug import exact_step
from superposition.incidental import noise_laws, noise_loss, one_feature
from superposition.rug import meanfield, rugs
from timing import seconds

TABLE = Path(__file__).parent / "growth.csv"


def optimum(ratios):
    """The best gain and bias at many compression ratios."""
    r = np.linspace(0.01, 0.99, ratios)
    return lambda: meanfield.optimum(0.05, r)


def expected_loss(neurons):
    """The loss of 16 encodings under Laplace noise."""
    W, law = np.random.default_rng(0).standard_normal((16, neurons)) / 8, noise_laws.laplace(0.2)
    return lambda: noise_loss.expected_loss(W, law)


def trajectory(weights):
    """The life of one encoding."""
    start = encoding(weights)
    return lambda: one_feature.trajectory(*start)


def transform(features):
    """One vector through a rug."""
    rug, x = rugs.Rug(features, features // 10 * 2), np.random.default_rng(0).random((1, features))
    return lambda: rug.apply(x)


def training_step(features):
    """A step on 1,024 vectors, a tenth as many dimensions as features."""
    return exact_step(features, features // 10, 0.01)


SIZES = (
    ("optimum", optimum, "ratios", (1, 4, 16, 64, 256)),
    ("expected_loss, Laplace noise", expected_loss, "neurons", (16, 32, 64, 128, 256)),
    ("trajectory", trajectory, "weights", (10**2, 10**3, 10**4, 10**5, 10**6)),
    ("rug transform", transform, "features", (2**10, 2**12, 2**14, 2**16, 2**18, 2**20)),
    ("training step", training_step, "features", (256, 512, 1024, 2048, 4096)),
)


def rows(rounds=15):
    """Median milliseconds at every size; the first round warms up."""
    for what, work, counted, sizes in SIZES:
        calls = [work(size) for size in sizes]
        taken = [[seconds(call, time.process_time) for call in calls] for _ in range(rounds + 1)][1:]
        for size, found in zip(sizes, zip(*taken, strict=True), strict=True):
            yield {"what": what, "counted": counted, "size": size, "ms": f"{statistics.median(found) * 1e3:.4g}"}


def store():
    """Measure and write the table."""
    found = list(rows())
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
