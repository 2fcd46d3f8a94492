"""Receptive fields: stationary samples on a ring."""

import numpy as np
from superposition.receptive import ring
from timing import Row

PIXELS, SAMPLES, XI = 2048, 1000, 2.0


def by_transforms():
    """From the first row of the covariance."""
    return ring.stationary_sample(ring.covariance_row(PIXELS, XI), SAMPLES, seed=0)


def by_matrix():
    """With the symmetric root of the covariance as a matrix."""
    root = ring.square_root(ring.gaussian_covariance(PIXELS, XI))
    return np.random.default_rng(0).standard_normal((SAMPLES, PIXELS)) @ root


def samples():
    """1,000 vectors of 2,048 pixels."""

    def same():
        np.testing.assert_allclose(by_transforms(), by_matrix(), atol=1e-13)

    yield Row(
        f"{SAMPLES} samples on {PIXELS} pixels", "the root of the covariance", 1 / 5, by_transforms, by_matrix, same
    )


GROUPS = (samples,)
