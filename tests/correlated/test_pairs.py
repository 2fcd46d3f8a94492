"""Two pairs in the plane: losses against integrals by another way, and where arrangements change places."""

import numpy as np
import pytest
from superposition import correlated
from superposition.correlated import pairs


@pytest.mark.parametrize(("p", "s", "sign"), [(0.1, 0.4, -1), (0.3, 0.9, -1), (0.5, 0.2, 1)])
def test_a_line_loses_what_samples_lose(p, s, sign):
    rng = np.random.default_rng(0)
    on = rng.random((400_000, 1)) < p / max(s, p)
    if s >= p:
        x = on * (rng.random((400_000, 2)) < s) * rng.random((400_000, 2))
        a, b = 1.1, -0.05
        error = (np.maximum(a * (x[:, 0] + sign * x[:, 1]) + b, 0) - x[:, 0]) ** 2
        product, square = pairs._moments(np.array(b / a), p, s, sign)
        found = p / 3 - 2 * a * product + a**2 * square
        assert found == pytest.approx(_both(x, a, b, sign), abs=5 * error.std() / 400_000**0.5)


def _both(x, a, b, sign):
    first = (np.maximum(a * (x[:, 0] + sign * x[:, 1]) + b, 0) - x[:, 0]) ** 2
    second = (np.maximum(a * (sign * x[:, 0] + x[:, 1]) + b, 0) - x[:, 1]) ** 2
    return (first.mean() + second.mean()) / 2


@pytest.mark.parametrize("p", [0.02, 0.2, 0.45])
def test_antipodal_and_orthogonal_change_places_at_independence(p):
    assert correlated.pairs_in_plane(p, 0.98 * p).best == "antipodal"
    assert correlated.pairs_in_plane(p, 1.02 * p).best != "antipodal"
    tie = correlated.pairs_in_plane(p, p)
    assert tie.antipodal == tie.orthogonal


def test_merged_is_half_of_the_sum():
    assert correlated.shared_line_loss(0.3, 0.6, 1) == pytest.approx(correlated.merged_bound(0.3, 0.6), rel=1e-7)


def test_sparse_pairs_never_merge():
    assert correlated.pairs_in_plane(0.24, 1.0).best == "orthogonal"
    assert correlated.pairs_in_plane(0.26, 1.0).best == "merged"


def test_the_slope_at_the_end_is_positive():
    """The proof that independence is the border: D by its formula and by a grid of strengths, and the polynomial."""
    u = (np.arange(400) + 0.5) / 400
    x, y = u[:, None], u[None, :]
    for a, beta in ((0.8, 0.0), (1.2, 0.3), (1.0, 0.7), (0.6, 1.4)):
        both = ((x - a * np.maximum(x - y + beta, 0)) ** 2).mean()
        alone, other = ((u - a * (u + beta)) ** 2).mean(), (a**2 * np.maximum(beta - u, 0) ** 2).mean()
        c = max(0, 1 - beta)
        K, M = c**3 / 6 - c**4 / 12, 1 / 4 - c**3 / 6 + c**4 / 24
        assert abs(both - alone - other + (a * beta) ** 2 - 2 * a * (K - (a - 1) * M)) < 1e-4
    b = np.linspace(0, 1, 1001)
    assert np.all(1 + 16 * b**2 + 60 * b**3 + 42 * b**4 - 56 * b**5 + 32 * b**6 - 12 * b**7 + b**8 > 0.99)


def test_pairs_that_cannot_be_are_refused():
    assert correlated.pairs_in_plane(0.6, 0.4).best == "antipodal"  # none is on with probability 0.04
    for function in (correlated.pairs_in_plane, correlated.merged_bound):
        with pytest.raises(
            ValueError, match="s = 0.3 is too small for two features with p = 0.6; allowed: 2 - 1/p to 1"
        ):
            function(0.6, 0.3)
