"""Incidental Polysemanticity: the expected loss under noise."""

from unittest import mock

import numpy as np
from scipy.integrate import solve_ivp
from superposition.incidental import noise_laws, noise_loss, one_feature, tail_moments
from timing import Row

W = np.random.default_rng(0).standard_normal((16, 64)) / 8


def by_all_frequencies(law):
    """The same sum from all frequencies up to the far end, mixed moments and all."""
    with mock.patch.object(tail_moments, "NOTHING", np.inf):
        T = [tail_moments.tails(W @ w, w, law).T for w in W]
    return sum(found[2].sum() - 2 * found[1, j] + 1 for j, found in enumerate(T))


def expected_losses():
    """At 16 features and 64 neurons, for the two laws that go through their characteristic function."""
    for law in (noise_laws.laplace(0.2), noise_laws.uniform(0.2)):

        def ours(law=law):
            return noise_loss.expected_loss(W, law)

        def other(law=law):
            return by_all_frequencies(law)

        def same(ours=ours, other=other):
            np.testing.assert_allclose(ours(), other(), rtol=1e-14)

        # what it is compared with took 80 to 150 ms here: ratios from .018 to .033
        yield Row(f"expected_loss, {law.name}, 16 x 64", "all frequencies, mixed moments too", 0.05, ours, other, same)


def by_time(w0, lambda_, t):
    """The cut below the largest weight and the scale at one time, from the equations as they stand."""
    gaps = np.abs(w0).max() - np.abs(w0)

    def move(_, state):
        d, u = state
        return -lambda_ * u, (np.maximum(d - gaps, 0) ** 2).sum() / u - u

    return solve_ivp(move, (0, t), (np.abs(w0).max(), 1.0), "LSODA", rtol=1e-11, atol=1e-14).y[:, -1]


def encoding(m):
    """Gaussian weights of norm .9 and a strength that they balance, with seven times from the start to long after."""
    w0 = 0.9 / np.sqrt(m) * np.random.default_rng(0).standard_normal(m)
    lambda_ = 0.1 / np.abs(w0).sum()
    return w0, lambda_, np.r_[1.0, 10.0, 100.0, np.array([0.1, 1.0, 10.0, 30.0]) / lambda_]


def same_trajectory():
    w0, lambda_, times = encoding(1000)
    path = one_feature.trajectory(w0, lambda_, times)
    for t in (10.0, 0.3 / lambda_):
        d, u = by_time(w0, lambda_, t)
        expected = np.maximum(d - (np.abs(w0).max() - np.abs(w0)), 0) / u
        np.testing.assert_allclose(np.abs(path.weights(t)), expected, atol=1e-8)


def trajectories():
    """The whole life of one encoding, in units of one sort of its weights."""
    for m, limit in ((10**5, 20), (10**7, 3)):
        w0, lambda_, times = encoding(m)

        def ours(w0=w0, lambda_=lambda_, times=times):
            return one_feature.trajectory(w0, lambda_, times)

        def sort(w0=w0):
            return np.sort(np.abs(w0))

        yield Row(f"trajectory of {m} weights", "one sort", limit, ours, sort, same_trajectory)


GROUPS = (expected_losses, trajectories)
