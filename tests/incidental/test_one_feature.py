"""One encoding: the exact trajectory against a solver and brute force, its limits, refusals."""

import tracemalloc

import numpy as np
import pytest
from sampled import sampled
from scipy.integrate import solve_ivp
from superposition import incidental
from superposition.incidental import cut_path


def gaussian(m, seed, scale=0.9):
    return scale / np.sqrt(m) * np.random.default_rng(seed).standard_normal(m)


def by_solver(w0, lambda_, t):
    """All weights by DOP853, restarted at every death, where the force jumps."""
    w, now = np.abs(w0), 0.0
    while now < t and (w > 0).any():
        alive = np.flatnonzero(w)

        def force(s, x):
            return (1 - x @ x) * x - lambda_

        def death(s, x):
            return x.min()

        death.terminal, death.direction = True, -1
        part = solve_ivp(force, (now, t), w[alive], "DOP853", rtol=1e-13, atol=1e-15, events=death)
        now, w[alive] = part.t[-1], part.y[:, -1]
        if part.t_events[0].size:
            w[alive[np.argmin(part.y[:, -1])]] = 0.0
    return np.copysign(w, w0)


@pytest.mark.parametrize(("m", "lambda_"), sampled([(3, 0.1), (30, 0.02), (100, 0.01), (30, 0.003)], kept=2))
def test_trajectory_against_an_ode_solver(m, lambda_):
    """To 1e-8, as asked, from the first moment until long after one weight is left."""
    for seed in range(2):
        w0 = gaussian(m, seed)
        times = np.array([0.0, 0.3, 1.0, 3.0, 0.3 / lambda_, 1 / lambda_, 2 / lambda_, 6 / lambda_])
        found = incidental.trajectory(w0, lambda_, times)
        for k, t in enumerate(times):
            w = by_solver(w0, lambda_, t)
            np.testing.assert_allclose(found.weights(t), w, rtol=0, atol=1e-8)
            assert found.norm_squared[k] == pytest.approx(w @ w, abs=1e-8)
            assert found.l1_norm[k] == pytest.approx(np.abs(w).sum(), abs=1e-8)
            assert found.survivors[k] == np.count_nonzero(w)


def test_brute_force_comes_closer_as_its_step_shrinks():
    """Euler with clipping at zero, as in the public code: an error of first order."""
    w0, lambda_, until = gaussian(500, 1), 0.005, 60.0
    exact = incidental.trajectory(w0, lambda_, [until])
    errors = []
    for h in (0.2, 0.1, 0.05):
        w = np.abs(w0)
        for _ in range(round(until / h)):
            w = np.maximum(w + h * ((1 - w @ w) * w - lambda_ * (w > 0)), 0)
        errors.append(np.abs(w - np.abs(exact.weights(until))).max())
    assert errors[0] < 0.01
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.15)
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.15)


def test_order_signs_and_fields_agree_with_the_weights():
    w0 = gaussian(2000, 2)
    found = incidental.trajectory(w0, 1e-3, [500.0, 5.0])  # any order
    for k, t in enumerate((500.0, 5.0)):
        w = found.weights(t)
        assert found.survivors[k] == np.count_nonzero(w)
        np.testing.assert_allclose([w @ w, np.abs(w).sum()], [found.norm_squared[k], found.l1_norm[k]], rtol=1e-12)
        assert np.all(w * w0 >= 0)
        order = np.argsort(np.abs(w0))
        assert np.all(np.diff(np.abs(w)[order]) >= 0)


def test_long_after_one_is_left():
    """The form with a cut alone would be off by 3.5e-6 at lambda t = 10 and dead at 40."""
    found = incidental.trajectory(gaussian(50, 3), 0.01, np.array([1e3, 4e3, 1e6]))
    np.testing.assert_allclose(found.l1_norm, incidental.resting_weight(0.01), rtol=1e-10)
    assert list(found.survivors) == [1, 1, 1]
    assert found.single < 1000


@pytest.mark.parametrize("w0", [[0.5, -0.5], [0.3, 0.3, 0.3, 0.1], [0.5, 0.0], [0.5], [0.0, 0.0]])
def test_ties_zeros_and_single_weights(w0):
    """Equal weights stay equal for good: p x^2 = 1 - lambda / x."""
    found = incidental.trajectory(w0, 0.01, [0.0, 2000.0])
    top = np.abs(w0) == np.max(np.abs(w0))
    count = int(top.sum()) if np.any(w0) else 0
    assert found.survivors[1] == count
    assert (found.single == 0) == (count == 0 or np.count_nonzero(w0) == count)  # no other weight has to die
    np.testing.assert_allclose(found.weights(0.0), w0, atol=1e-15)
    w = np.abs(found.weights(2000.0))
    if count:
        x = w[top]
        np.testing.assert_allclose((1 - count * x**2) * x, 0.01, rtol=1e-9)


def test_above_the_line_everything_dies_and_a_warning_says_so():
    with pytest.warns(UserWarning, match=r"lambda_ = 0.39 is above 2 / \(3 sqrt 3\) = 0.3849"):
        found = incidental.trajectory([1.0, 0.5], 0.39, [0.0, 500.0])
    assert list(found.survivors) == [2, 0] and found.l1_norm[1] == found.norm_squared[1] == 0
    below = incidental.trajectory([1.0, 0.5], 0.384, [2000.0])
    assert below.l1_norm[0] == pytest.approx(incidental.resting_weight(0.384), rel=1e-6)


@pytest.mark.parametrize(
    ("m", "scale", "strength"),  # norms far below and above 1, and every strength up to one that no norm survives
    [(5000, 0.9, 0.1), (5000, 0.9, 1e-5), (5000, 0.9, 2.0), (400, 1e-4, 1e-5), (400, 1e-6, 3e-6), (400, 30.0, 0.1)],
)
def test_finer_panels_change_nothing(monkeypatch, m, scale, strength):
    """Every death an edge, and a hundred times smaller differences: 1e-8 of d and u, 1e-10 of the last death."""
    w0 = gaussian(m, 6, scale)
    lambda_ = strength / np.abs(w0).sum() * min(1.0, scale)
    usual = incidental.trajectory(w0, lambda_, [1e9 / lambda_])
    times = usual.single * np.array([0, 1e-6, 1e-4, 1e-3, 0.01, 0.1, 0.3, 0.6, 0.9, 0.99])
    monkeypatch.setattr(cut_path, "EDGES", m)
    monkeypatch.setattr(cut_path, "ROUGH", 1e-11)
    finer = incidental.trajectory(w0, lambda_, [1e9 / lambda_])
    assert finer._path.d.shape != usual._path.d.shape
    assert finer.single == pytest.approx(usual.single, rel=1e-10)
    for t in times:
        np.testing.assert_allclose(usual._path.at(t), finer._path.at(t), rtol=1e-8)


def test_the_path_obeys_the_equation_in_time():
    """d' = -lambda u and u' = Q(d) / u - u, by central differences at times that are no nodes."""
    w0, lambda_, h = gaussian(300, 8), 2e-3, 1e-4
    path = incidental.trajectory(w0, lambda_, [9 / lambda_])._path
    for t in (0.05, 0.7, 13.0, 150.0, 1000.0):
        (d, u), before, after = path.at(t), path.at(t - h), path.at(t + h)
        Q = (np.maximum(d - (np.abs(w0).max() - np.abs(w0)), 0) ** 2).sum()
        slopes = (np.array(after) - before) / (2 * h)
        # 2e-7: h^2 / 6 times the third derivative, and rounding over h
        np.testing.assert_allclose(slopes, [-lambda_ * u, Q / u - u], atol=2e-7)


def test_two_arrays_are_enough():
    """The sorted gaps and what the weights at one time need, beside the input; full prefix sums would be two more."""
    w0 = gaussian(3_000_000, 4)  # large enough for the path itself not to count
    tracemalloc.start()
    found = incidental.trajectory(w0, 1e-3, [1.0, 100.0])
    found.weights(100.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak + w0.nbytes < 3.5 * w0.nbytes


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: incidental.trajectory([1.0], 0, [1]), "lambda_ = 0 is out of range"),
        (lambda: incidental.trajectory([1.0], -1, [1]), "lambda_ = -1 is out of range"),
        (lambda: incidental.trajectory([1.0], np.nan, [1]), "lambda_ = nan is out of range"),
        (lambda: incidental.trajectory([1.0], 0.1, []), "times of shape .0,. are not allowed; allowed: at least one"),
        (lambda: incidental.trajectory([1.0], 0.1, [-1]), "times = -1 is out of range"),
        (lambda: incidental.trajectory([1.0, np.nan], 0.1, [1]), "w0 = nan is out of range"),
        (lambda: incidental.trajectory([1.0, np.inf], 0.1, [1]), "w0 = inf is out of range"),
        (lambda: incidental.trajectory([], 0.1, [1]), "w0 has shape .0,."),
        (lambda: incidental.trajectory([[1.0]], 0.1, [1]), "w0 has shape .1, 1.; allowed: .m,."),
        (lambda: incidental.trajectory([1.0], 0.1, [1]).weights(2), "t = 2 is out of range; allowed: .0, 1."),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
