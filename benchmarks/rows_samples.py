"""Exact losses against Monte Carlo: how long sampling takes to the same error.

The error is one percent for losses of a feature, and .1 % for the sum over 16 x 16 outputs, where
chances average out: at one percent, 194 samples cost as much as the closed form (set after a look).
"""

import numpy as np
from superposition import features, toy
from superposition.codes import exact_losses, fans
from superposition.features import Estimate
from superposition.incidental import noise_laws, noise_loss
from superposition.rug import meanfield
from timing import Row

P = 0.05
FAN = fans.priority_fan(6, 1000)
ANGLES = 2 * np.pi * np.arange(5) / 5
PENTAGON = np.array([np.cos(ANGLES), np.sin(ANGLES)])
NOISY, LAPLACE = np.random.default_rng(0).standard_normal((16, 64)) / 8, noise_laws.laplace(0.2)


def estimate(errors):
    """Mean of samples and its standard error."""
    return Estimate(float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(len(errors))))


def row_by_samples(samples):
    """One row of the mean field: its own feature, and Gaussian interference."""
    rng = np.random.default_rng(0)
    x = features.sample(1, P, samples, seed=rng)[:, 0]
    return estimate((x - np.maximum(1.2 * (x + 0.25 * rng.standard_normal(samples)) - 0.4, 0)) ** 2)


def noise_by_samples(samples):
    """All 16 inputs, each with noise of its own."""
    rng, total, chunk = np.random.default_rng(0), [], 1000
    for start in range(0, samples, chunk):
        hidden = NOISY + LAPLACE.sample((min(chunk, samples - start), 16, 64), rng)
        total.append(((np.maximum(hidden @ NOISY.T, 0) - np.eye(16)) ** 2).sum(axis=(1, 2)))
    return estimate(np.concatenate(total))


CASES = (
    (
        "loss of one row, rug",
        0.01,
        200_000,
        lambda: meanfield.loss(1.2, -0.4, 0.25, P),
        row_by_samples,
    ),
    (
        "code_loss, priority fan of 6",
        0.01,
        200_000,
        lambda: exact_losses.code_loss(FAN.W, FAN.b, P),
        lambda samples: exact_losses.simulated_code_loss(FAN.W, FAN.b, P, samples=samples, seed=0),
    ),
    (
        "population_loss, pentagon",
        0.01,
        200_000,
        lambda: toy.population_loss(PENTAGON, -0.1, 1.0, P),
        lambda samples: toy.simulated_loss(PENTAGON, -0.1, 1.0, P, samples=samples, seed=0),
    ),
    (
        "expected_loss, laplace, 16 x 64",
        0.001,
        2000,
        lambda: noise_loss.expected_loss(NOISY, LAPLACE),
        noise_by_samples,
    ),
)


def against_samples():
    """At the number of samples that a pilot finds to give the error; the pilot must agree within 4 standard errors."""
    for name, error, first, exact, sampled in CASES:
        pilot = sampled(first)
        needed = max(2, int(np.ceil(first * (pilot.se / (error * pilot.mean)) ** 2)))

        def same(exact=exact, pilot=pilot):
            assert abs(float(exact()) - pilot.mean) < 4 * pilot.se

        yield Row(
            name, f"Monte Carlo to {error:.1%}: {needed} samples", 1, exact, lambda n=needed, f=sampled: f(n), same
        )


GROUPS = (against_samples,)
