"""Codes under budgets: each budget takes what it says, and the code that wins changes."""

import numpy as np
import pytest
from sampled import sampled
from superposition import codes
from superposition.codes import budgets

P = 0.05


@pytest.fixture(autouse=True, scope="module")
def few_ratios():
    """Three ratios of a small fan: tuning a code costs seconds."""
    with pytest.MonkeyPatch.context() as patch:
        few = (1.0, 3.0, 20.0)
        patch.setattr(budgets, "RATIOS", {"fan": few, "swept": few, "cone": (1.0, 2.0)})
        patch.setattr(budgets, "SIZES", {"fan": 6, "swept": 6, "cone": 6})
        budgets.candidate_codes.unchecked.cache_clear()
        yield
        budgets.candidate_codes.unchecked.cache_clear()


@pytest.mark.parametrize("kind", sampled(budgets.KINDS, kept=2))
def test_candidates_have_the_loss_they_promise(kind):
    for one in codes.candidate_codes(kind, P):
        found = codes.simulated_code_loss(one.code.W, one.code.b, P, samples=10_000, seed=1)
        assert abs(found.mean - one.loss) < 4 * found.se + 0.02 * one.loss


@pytest.mark.thorough
def test_decay_and_bounds_move_the_ratio():
    offered = codes.candidate_codes("fan", P)
    ratios = [codes.under_budget("decay", s, offered, P, samples=2, seed=0).ratio for s in (1e-12, 1e-5, 1e-2)]
    assert ratios[0] == 20.0 and ratios == sorted(ratios, reverse=True) and ratios[-1] == 1.0
    tight, wide = (codes.under_budget("bound", s, offered, P, samples=2, seed=0) for s in (30, 1e9))
    assert tight.ratio < wide.ratio and tight.loss > wide.loss and wide.costs == 0.0
    silence = codes.under_budget("bound", 0.1, offered, P, samples=2, seed=0)
    assert silence.loss == pytest.approx(P / 3 - P * P / 4)


@pytest.mark.thorough
def test_noise_turns_the_order_round():
    def loss(kind, noise, samples):  # as many vectors as the run on the price: loud fans err on few of them
        return codes.under_budget("noise", noise, codes.candidate_codes(kind, P), P, samples=samples, seed=0).loss

    assert loss("fan", 1e-9, 20_000) < 0.7 * loss("antipodal", 1e-9, 2000)
    assert loss("fan", 0.03, 20_000) > 1.3 * loss("antipodal", 0.03, 2000)


def test_a_loud_code_is_chosen_from_vectors_enough_to_decide_its_mean():
    offered = codes.candidate_codes("fan", P)
    few, many = (codes.under_budget("noise", 1e-9, offered, P, samples=n, seed=0).ratio for n in (3000, 20_000))
    assert (few, many) == (1.0, 20.0)  # of 600 vectors a dozen make two features meet, and one of them decides
    with pytest.raises(ValueError, match="noise = 1e-09 leaves a loss that one of 600 feature vectors decides"):
        budgets._noisy_loss(offered[-1].code, P, 1e-9, samples=600, seed=0)


def test_digits_cost_a_loud_code_nothing_until_its_range_ends():
    """Zeros stand between neighbours only, where a rounding error of 2^-11 meets one step of loudness, not all."""
    for ratio, most in ((10.0, 1.02), (50.0, np.inf)):  # 10^4.5 is within 65504, 50^4.5 is not
        code = codes.priority_fan(10, ratio)
        exact = codes.code_loss(code.W, code.b, 0.05)
        half, double = (budgets._rounded_loss(code, 0.05, bits, samples=50_000, seed=0) for bits in (16, 64))
        assert abs(double.mean - exact) < 4 * double.se
        assert half.mean < most * double.mean
    assert half.mean > 2 * exact


def test_rounding_has_its_formats_and_does_not_see_a_scale():
    code = codes.priority_fan(8, 20)
    with pytest.raises(ValueError, match="bits = 8 is unknown; allowed: 16, 32, 64"):
        budgets._rounded_loss(code, 0.1, 8, samples=10, seed=0)
    with pytest.raises(ValueError, match="kind = 'rugs' is unknown; allowed: fan, swept, cone, graph"):
        codes.candidate_codes("rugs", P)
    large = code._replace(W_in=1e9 * code.W_in, W_out=1e-9 * code.W_out)
    one, other = (budgets._rounded_loss(any_, 0.1, 16, samples=1000, seed=0).mean for any_ in (code, large))
    assert one == pytest.approx(other, rel=1e-3)


def test_costs_of_the_decay_are_those_of_the_best_factors():
    one = codes.candidate_codes("antipodal", P)[0]
    assert one.norm == pytest.approx(budgets._norm_cost(one.code.W)) and one.largest < 1.5
    found = codes.under_budget("decay", 1e-3, (one,), P, samples=2, seed=0)
    assert found.costs == pytest.approx(1e-3 * one.norm) and np.isfinite(found.loss)


def test_balanced_factors_are_equally_long():
    for B, ratio in ((5, 3.0), (20, 10.0)):
        code = codes.priority_fan(B, ratio)
        even = budgets.balanced(code)
        assert np.linalg.norm(even.W_in) == pytest.approx(np.linalg.norm(even.W_out))
        np.testing.assert_allclose(even.W, code.W, atol=1e-9 * np.abs(code.W).max())


def test_norm_cost_is_the_least_sum_of_squares():
    rng = np.random.default_rng(0)
    W_out, W_in = rng.standard_normal((6, 2)), rng.standard_normal((2, 6))
    least = budgets._norm_cost(W_out @ W_in)
    left, values, right = np.linalg.svd(W_out @ W_in)
    root = np.sqrt(values[:2])
    assert ((left[:, :2] * root) ** 2).sum() / 6 + ((root[:, None] * right[:2]) ** 2).sum() / 6 == pytest.approx(least)
    for _ in range(50):
        mix = rng.standard_normal((2, 2))
        parts = W_out @ mix, np.linalg.solve(mix, W_in)
        assert sum((part**2).sum() for part in parts) / 6 >= least * (1 - 1e-9)


def test_noise_without_noise_is_the_loss():
    code = codes.priority_fan(6, 30)
    found = budgets._noisy_loss(code, 0.1, 0.0, samples=100_000, seed=0)
    assert found.mean == pytest.approx(codes.code_loss(code.W, code.b, 0.1), abs=4 * found.se)
    assert found.se < 0.05 * found.mean


def test_noise_silences_the_quiet():
    """Ratio 10 hides its quietest feature at a noise of 10^-5; far below it nothing is lost."""
    code = codes.priority_fan(6, 10)
    clean, little, much = (budgets._noisy_loss(code, 0.1, s, samples=50_000, seed=0) for s in (0, 1e-8, 1e-2))
    assert little.mean == pytest.approx(clean.mean, rel=0.01)
    assert much.mean > 3 * clean.mean
    assert much.mean < 0.1 / 3 * 1.05  # a drowned feature costs no more than a dropped one


def test_noise_is_that_of_drawn_noise_where_that_has_a_mean():
    code, rng = codes.priority_fan(4, 2), np.random.default_rng(4)
    found = budgets._noisy_loss(code, 0.2, 0.05, samples=60_000, seed=0)
    spread = 0.05 * np.linalg.norm(code.W_in, axis=0).max() * np.linalg.norm(code.W_out, axis=1)
    y = rng.standard_normal((400_000, 4)) * 0.5
    mean, square = budgets._smoothed(y, spread)
    drawn = np.maximum(y + spread * rng.standard_normal(y.shape), 0)
    assert np.abs((drawn - mean).mean(axis=0)).max() < 5e-3 and np.abs((drawn**2 - square).mean(axis=0)).max() < 5e-3
    assert found.mean < 0.2 / 3


def test_noise_costs_no_more_than_silence():
    for noise in (1e-3, 0.1, 10.0):
        assert (
            budgets._noisy_loss(codes.priority_fan(8, 20), 0.05, noise, samples=20_000, seed=1).mean < 1.02 * 0.05 / 3
        )


def test_a_mean_that_one_sample_decides_is_refused():
    with pytest.raises(ValueError, match="bits = 16 leaves a loss that one of 1000 feature vectors decides"):
        budgets._decided(np.r_[np.full(999, 1e-3), 1e3], "bits = 16")


@pytest.mark.thorough
def test_swept_fans_need_less_range_than_fans():
    sets = [codes.candidate_codes(kind, P) for kind in ("fan", "swept")]
    fan, pairs = (codes.under_budget("range", 300, one, P, samples=2, seed=0).loss for one in sets)
    assert pairs < fan and all(one.reach >= 1 for offered in sets for one in offered)


@pytest.mark.parametrize(("budget", "measure"), [("noise", "_noisy_loss"), ("digits", "_rounded_loss")])
def test_a_fifth_of_other_vectors_choose_a_code_and_all_measure_it(monkeypatch, budget, measure):
    offered = tuple(codes.candidate_code(ratio, codes.priority_fan(4, ratio), 1.0) for ratio in (2.0, 3.0, 5.0))
    losses, asked = dict(zip([id(one.code) for one in offered], (0.3, 0.1, 0.2), strict=True)), []

    def measured(code, p, strength, *, samples, seed):
        asked.append((losses[id(code)], p, strength, samples, seed))
        if losses[id(code)] == 0.2:
            raise ValueError
        return budgets.Estimate(losses[id(code)], 0.25)

    monkeypatch.setattr(budgets, measure, measured)
    found = codes.under_budget(budget, 16, offered, 0.07, samples=1009, seed=3)
    assert found == budgets.Priced(3.0, 0.1, 0.0, 0.25)
    assert asked == [*((loss, 0.07, 16, 201, 3) for loss in (0.3, 0.1, 0.2)), (0.1, 0.07, 16, 1009, 5)]
    asked.clear()
    codes.under_budget(budget, 16, offered[:1], 0.07, samples=1009, seed=3)
    assert asked == [(0.3, 0.07, 16, 1009, 5)]
    assert budgets._trusted(measured, offered[2].code, 0.1, 16, 7, 0) == np.inf and asked[-1][3] == 100
