"""Codes tuned under a budget keep to it, and the budget that is integrated is the one that is drawn."""

import numpy as np
import pytest
from superposition import codes
from superposition.codes import tempered

FEW = {"starts": 1}


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(tempered, "FEW", 500)
    monkeypatch.setattr(tempered, "MANY", 1000)
    monkeypatch.setattr(tempered, "SCREENED", 60)
    monkeypatch.setattr(tempered, "REFINED", 40)


def test_a_range_and_a_bound_are_kept():
    loud = np.linalg.norm(codes.tuned_code(2, 8, 0.05, "range", 5.0, **FEW).W_in, axis=0)
    assert loud.max() / loud.min() <= 5 * (1 + 1e-9)
    code = codes.tuned_code(3, 9, 0.05, "bound", 4.0, **FEW)
    assert max(np.abs(code.W_in).max(), np.abs(code.W_out).max()) <= 4 * (1 + 1e-9)


def test_it_is_below_what_is_tuned_in_ratio_alone():
    """The smallest case of the attack on equal codes: eight in a plane, no weight above ten."""
    found = codes.network_loss(codes.tuned_code(2, 8, 0.05, "bound", 10.0, **FEW), 0.05, samples=50_000, seed=3)
    offered = codes.candidate_code(2.9, codes.swept_fan(8, 2.9, 1.0), 1.0)
    assert offered.largest < 10 and found.mean + 4 * found.se < codes.code_loss(offered.code.W, offered.code.b, 0.05)


def test_even_starts_in_four_dimensions_are_below_equal_codes(monkeypatch):
    """The smallest case of the map: ten features in four dimensions, no weight above ten."""
    monkeypatch.setattr(tempered, "SCREENED", 120)
    code = codes.tuned_code(4, 10, 0.05, "bound", 10.0, starts=2, seed=2)
    found = codes.network_loss(code, 0.05, samples=50_000, seed=3)
    assert found.mean + 4 * found.se < 0.85 * codes.antipodal_optimum(0.05, 0.4).loss


@pytest.mark.parametrize("start", ["even", 1, 3])
def test_random_starts_are_read_along_themselves_and_of_the_loudness_that_is_asked_for(start):
    rng, span = np.random.default_rng(4), tempered.EVEN if start == "even" else 30.0
    code = tempered._even(4, 200, rng) if start == "even" else tempered._first(4, 200, span, start, rng)
    np.testing.assert_allclose(np.sum(code.W_in * code.W_out.T, axis=0), 1)
    loud = np.linalg.norm(code.W_in, axis=0)
    assert loud.max() / loud.min() <= span * (1 + 1e-9)
    assert np.unique(loud.round(9)).size == 200 and not code.b.any()


def test_integrated_noise_is_the_mean_of_drawn_noise():
    code, rng, noise = codes.swept_fan(5, 4.0), np.random.default_rng(0), 0.05
    found = codes.noisy_code_loss(code, 0.1, noise, samples=100_000, seed=1)
    x = rng.random((100_000, 5)) * (rng.random((100_000, 5)) < 0.1)
    hidden = x @ code.W_in.T + noise * np.linalg.norm(code.W_in, axis=0).max() * rng.standard_normal((100_000, 2))
    drawn = np.square(np.maximum(hidden @ code.W_out.T + code.b, 0) - x).mean(axis=1)
    assert abs(drawn.mean() - found.mean) < 4 * np.hypot(drawn.std() / 100_000**0.5, found.se) < 0.1 * found.mean


def test_without_noise_it_is_the_loss_of_the_network():
    code = codes.swept_fan(5, 30.0)
    one, other = (
        loss(code, 0.05, samples=2000, seed=4)
        for loss in (codes.network_loss, lambda *at, **how: codes.noisy_code_loss(*at, 0.0, **how))
    )
    assert one.mean == pytest.approx(other.mean, rel=1e-9)


def test_refusals():
    with pytest.raises(ValueError, match="budget = 'digits' is unknown; allowed: range, bound, noise, decay"):
        codes.tuned_code(2, 8, 0.05, "digits", 16)
