"""Certificates of Theorem F: read by two checkers, and never above a code."""

import numpy as np
import pytest
from superposition import codes
from superposition.codes import any_size, frequency_programs, pair_credits, stored_bounds

KEPT = stored_bounds.certificates()
NAMES = [f"p={one.p:g}" for one in KEPT]


def credit(w):
    """C from its definition: 1.1422 w^2 while that is at most 1, else what any smaller partner asks for."""
    s = 3 / 4 + (25 / 9 + 9 / 25) / 8
    beta = np.linspace(0, s**-0.5, 2001)

    def share(a, b):
        both = np.minimum(1, ((a + b) / 2) ** 2) / 2
        return both + sum(np.minimum(1, ((x * a + b / x) / 2) ** 2) for x in (5 / 3, 3 / 5)) / 4

    asked = np.array([max(1, np.max(2 * share(x, beta) - s * beta**2)) for x in w])
    return np.where(s * w**2 <= 1, s * w**2, asked + 1e-6)


W = np.geomspace(1e-3, 1e4, 1000)
CREDIT = credit(W)


def accepted(one, step, cell, slack=1e-9):
    """The second checker, from the statement alone: on dense grids, with the curvature between their points."""
    p, g, theta = one.p, cell.gain, np.pi / 4 * cell.harmonics
    z = np.r_[np.linspace(-9, -1, 4001), np.linspace(-1, 0, 3001), np.geomspace(1e-6, 2, 2001)]
    s = np.clip(-z, 0, 1)
    h = s**3 / 3 + (1 - g) ** 2 * (1 - s**3) / 3 - (1 - g) * g * z * (1 - s**2) + g**2 * z**2 * (1 - s)
    h = np.where(z < -1, 1 / 3, h)
    off = np.maximum(z, 0) ** 2 * (1 - p) / p
    beta = np.where(z < -1, 0, ((1 + z) ** 3 - np.maximum(z, 0) ** 3) / 3) + off
    room = np.minimum(h + g**2 * off - cell.gap**2 / 4 * beta, 1 / 3)
    waves = cell.c + (1 - np.cos(z[:, None] * theta - cell.phases)) @ cell.mu
    bend = cell.mu @ theta**2 + 2 * g + 2 * g**2 / p
    step_z = np.diff(z, append=z[-1])
    # a maximum between two points lies above both by at most the curvature times the square of half the step
    fits = np.all(waves <= room + slack + bend * step_z**2 / 8)
    tau = np.outer(W, theta)
    chi = 1 - p + p * np.where(tau > 0, (np.exp(1j * tau) - 1) / (1j * tau), 1)
    rate = -np.log(np.abs(chi)) / CREDIT[:, None]
    reached = [cell.c + np.min((1 - np.exp(-A * rate)) @ cell.mu) >= phi - slack for A, phi in step]
    return fits and all(reached)


def test_the_credit_is_what_it_should_be():
    w = np.r_[0, np.geomspace(1e-3, 50, 600)]
    C = pair_credits.credit(w)
    assert np.all(C[:, None] + C >= 2 * pair_credits.two_loudness_share(w[:, None], w) - 1e-12)
    assert np.all(np.diff(C) >= 0) and C.max() <= 2
    assert np.abs(credit(w[1:]) - C[1:]).max() < 2e-3
    smaller = 0.99 * C
    assert np.any(smaller[:, None] + smaller < 2 * pair_credits.two_loudness_share(w[:, None], w))


def test_the_share_of_theorem_a_is_a_mean():
    pytest.importorskip("flint")
    from superposition.codes import verified_bounds

    draws = np.random.default_rng(0).uniform(0, 1.6, (2, 400_000))
    t = draws[0] - draws[1]
    for a, b in ((2, 0), (3.05, 0.22), (0.5, 0.3), (0.1, 4), (1, 1)):
        drawn = np.minimum(1, ((a * np.exp(t) + b * np.exp(-t)) / 2) ** 2)
        assert abs(drawn.mean() - float(verified_bounds._share(a, b))) < 4 * drawn.std() / 600 + 1e-12


@pytest.mark.parametrize(("n", "m"), [(5, 2), (8, 3), (12, 4)])
def test_the_lemma(n, m):
    rng = np.random.default_rng(n)
    for _ in range(300):
        W = (rng.standard_normal((n, m)) * np.exp(3 * rng.standard_normal((n, 1)))) @ rng.standard_normal((m, n))
        W /= np.diag(W)[:, None]
        assert pair_credits.symmetric_squares(W) >= n * n / m - 1e-9
    tight = np.kron(np.eye(2), np.ones((3, 3)))
    assert pair_credits.symmetric_squares(tight) == 18 == 6**2 / 2


@pytest.mark.parametrize("one", KEPT, ids=NAMES)
def test_a_second_checker_accepts_the_certificates(one):
    rng = np.random.default_rng(1)
    for k, cells in list(enumerate(one.cells))[::3]:
        step = list(zip(one.A[k : k + 2], one.phi[k : k + 2], strict=True))
        gains = np.array([cell.gain for cell in cells])
        gaps = np.array([cell.gap for cell in cells])
        assert np.all(np.diff(gains) <= np.minimum(gaps[1:], gaps[:-1]))
        assert (1 - gains[0]) ** 2 * (1 / 3 - one.p / 4) >= step[1][1]
        assert ((gains[-1] - 1) / (gains[-1] + 1)) ** 2 / 3 >= step[1][1]
        assert accepted(one, step, cells[rng.integers(len(cells))])
    slopes = np.diff(one.phi) / np.diff(one.A)
    assert np.all(np.diff(slopes) <= 0) and slopes[-1] >= 0


def test_the_second_checker_refuses():
    one = KEPT[len(KEPT) // 2]
    cell = min(one.cells[3], key=lambda cell: abs(cell.gain - 1))
    step = list(zip(one.A[3:5], one.phi[3:5], strict=True))
    assert accepted(one, step, cell)
    assert not accepted(one, step, cell._replace(c=cell.c + 0.02 * one.phi[4]))
    assert not accepted(one, step, cell._replace(c=cell.c - 0.2 * one.phi[4]))
    assert not accepted(one, [(A, 1.2 * phi) for A, phi in step], cell)


def test_verified_arithmetic_accepts_and_refuses():
    pytest.importorskip("flint")
    from superposition.codes import verified_bounds

    rng = np.random.default_rng(2)
    for one in KEPT:
        k = int(rng.integers(len(one.cells)))
        cell = one.cells[k][rng.integers(len(one.cells[k]))]
        assert verified_bounds.lies_below(one.p, cell)
        for at in (k, k + 1):
            assert verified_bounds.proves(one.p, cell, float(one.A[at]), float(one.phi[at]))
    one = next(kept for kept in KEPT if kept.p == 0.05)
    near = min(one.cells[2], key=lambda cell: abs(cell.gain - 1))
    assert not verified_bounds.lies_below(one.p, near._replace(c=near.c + 0.02 * one.phi[3]))
    assert not verified_bounds.proves(one.p, near, float(one.A[3]), 1.2 * float(one.phi[3]))
    assert not verified_bounds.lies_below(one.p, near._replace(mu=-near.mu))


@pytest.mark.thorough
@pytest.mark.parametrize("one", KEPT, ids=NAMES)
def test_verified_arithmetic_accepts_all(one):
    pytest.importorskip("flint")
    from superposition.codes import verified_bounds

    assert verified_bounds.failures(one) == []
    assert verified_bounds.failures(one._replace(cells=one.cells[1:]))
    step = one._replace(A=one.A[:2], phi=one.phi[:2], cells=(one.cells[0][1:],))  # a gain is missing in the first step
    assert verified_bounds.failures(step)


@pytest.mark.thorough
def test_the_pair_inequality_is_verified():
    pytest.importorskip("flint")
    from superposition.codes import verified_bounds

    assert verified_bounds.pair_inequality() and not verified_bounds.pair_inequality("0.3040")


@pytest.mark.parametrize("places", [30, pytest.param(300, marks=pytest.mark.thorough)])
def test_never_above_a_code(places):
    rng = np.random.default_rng(places)
    p = np.repeat(np.exp(rng.uniform(np.log(1e-6), np.log(0.95), places // 10)), 10)  # as hulls take time
    r = np.exp(rng.uniform(np.log(0.003), np.log(0.99), places))
    known = [codes.best_along(p[k], r[k : k + 10])[0] for k in range(0, places, 10)]
    share = [codes.best_bound(q, x) / loss for q, x, loss in zip(p, r, np.concatenate(known), strict=True)]
    assert 0 < max(share) <= 1


@pytest.mark.thorough
def test_it_says_something_where_the_count_of_rivals_does_not():
    for p, r, least in ((0.05, 0.2, 0.4), (0.2, 0.2, 0.4), (0.05, 0.5, 0.7)):
        loss = codes.best_known(p, r).loss
        assert any_size.bound_at_any_size(p, r) < 0.3 * loss and codes.best_bound(p, r) > least * loss


def test_a_bound_is_carried_to_other_probabilities():
    for p in (0.045, 0.055, 0.15):
        found = codes.certified_bound(p, 0.2) / codes.swept_loss(p, 10)  # within a thousandth of the best known
        assert 0.3 < found < 1
    assert codes.certified_bound(0.05, 1) == 0 == codes.best_bound(0.05, 1)
    assert codes.certified_bound(1e-12, 0.5) == 0 < codes.rivals_bound(1e-12, 0.5)
    assert codes.rivals_bound(1e-3, 0.2) > any_size.bound_at_any_size(1e-3, 0.2)


def test_a_certificate_is_made_and_proves_what_it_says():
    cell, proved = frequency_programs.solve_cell(0.05, 1.05, 0.03, np.array([2.0, 3.0]), np.array([0.013, 0.019]))
    assert 0.012 < proved[0] < proved[1] < 0.03
    # one rival of weight -w with the credit A = 2: its loss, drawn, is above
    assert accepted(KEPT[0]._replace(p=0.05), [(2.0, proved[0] - 1e-6), (3.0, proved[1] - 1e-6)], cell)


@pytest.mark.parametrize("w", [0.7, 1.4, 2.5])
def test_rows_lose_more_than_the_bound(w):
    one = next(kept for kept in KEPT if kept.p == 0.05)
    rng, count = np.random.default_rng(3), 6
    A = count * float(pair_credits.credit(w))
    x = rng.random((40_000, count + 1)) * (rng.random((40_000, count + 1)) < one.p)
    rest = -w * x[:, 1:].sum(axis=1)
    for gain in (0.95, 1.05, 1.15, 1.3):
        for bias in (-0.05, 0, 0.03):
            error = (x[:, 0] - np.maximum(gain * (x[:, 0] + rest) + bias, 0)) ** 2
            bound = one.p * np.interp(A, one.A, one.phi)
            assert error.mean() + 4 * error.std() / 200 > bound


def test_a_certificate_without_cells_is_no_proof():
    """Its steps would prove nothing, whatever phi it states."""
    pytest.importorskip("flint")
    from superposition.codes import verified_bounds

    for one in (KEPT[0]._replace(cells=(), phi=5 * KEPT[0].phi), KEPT[0]._replace(cells=KEPT[0].cells[:-1])):
        assert verified_bounds.failures(one) == ["there is not one list of gains for each step of A"]
