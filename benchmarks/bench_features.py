"""Sampling features by their non-zeros, against drawing every entry."""

import numpy as np
from superposition import features
from timing import compare


def every_entry(ns, p, batch, rng):
    """Draw a switch and a strength for each entry."""
    return np.where(rng.random((batch, ns)) < p, rng.random((batch, ns)), 0.0)


for p in (0.01, 0.05, 0.3, 1.0):
    rng = np.random.default_rng(0)
    compare(
        f"sample 1024 x 1024, p = {p}",
        ours=lambda p=p, rng=rng: features.sample(1024, p, 1024, seed=rng),
        alternative=lambda p=p, rng=rng: every_entry(1024, p, 1024, rng),
        name="two uniform draws an entry",
    )
