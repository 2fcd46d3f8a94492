"""ANDs of pairs: the bound for linear readers, the moments of random signs, and both laws."""

from itertools import product

import numpy as np
import pytest
from superposition import decoders
from superposition.decoders import ands
from superposition.rug.rugs import Rug


def test_inputs_have_their_probabilities():
    x, chance = decoders.all_inputs(5, 0.3)
    assert len(np.unique(x, axis=0)) == 32
    assert chance.sum() == pytest.approx(1)
    assert chance @ decoders.ands_of_pairs(x) == pytest.approx([0.09] * 10)


@pytest.mark.parametrize("N", [1, 6, 20])
def test_no_units_leave_less_to_a_linear_reader_than_one_neuron_an_and(N):
    x, chance = decoders.all_inputs(7, 0.2)
    dedicated = decoders.missed_share(decoders.ands_of_pairs(x)[:, :N], x, chance)
    assert dedicated == pytest.approx(1 - N / 21, rel=1e-10)
    rng = np.random.default_rng(N)
    # the AND's own span in another basis ties, anything else loses
    mixed = decoders.ands_of_pairs(x)[:, :N] @ rng.standard_normal((N, N)) + x @ rng.standard_normal((7, N))
    assert decoders.missed_share(mixed, x, chance) == pytest.approx(dedicated, rel=1e-9)
    for h in (rng.standard_normal((len(x), N)), decoders.and_layer(decoders.random_signs(N, 7, 0), x)):
        assert decoders.missed_share(h, x, chance) > dedicated + 1e-3


def test_linear_units_leave_all_of_the_variance():
    x, chance = decoders.all_inputs(4, 0.2)
    assert decoders.missed_share(x @ np.ones((4, 1)), x, chance) == pytest.approx(1)


def test_moments_of_signs_by_enumeration():
    n = np.arange(7)
    first, square = decoders.sign_moments(n)
    for k in n:
        s = np.array(list(product((-1, 1), repeat=k))).reshape(2**k, k)
        h = np.maximum(s.sum(axis=1) - 1, 0)
        assert square[k] == pytest.approx(np.mean(h**2))
        assert first[k] == pytest.approx(np.mean(s[:, 0] * s[:, 1] * h) if k > 1 else 0)


def test_reading_over_many_signs_has_the_mean_and_variance_of_the_law():
    x = np.zeros((1, 6))
    x[0, :3] = 1
    u = np.concatenate([decoders.early_reading(decoders.random_signs(10, 6, seed), x) for seed in range(4000)])
    first, square = decoders.sign_moments(np.array([3]))
    mean, variance = (
        4 * first * decoders.ands_of_pairs(x)[0],
        16 / 10 * (square - first**2 * decoders.ands_of_pairs(x)[0]),
    )
    assert np.abs(u.mean(axis=0) - mean).max() < 5 * np.sqrt(variance.max() / 4000)
    np.testing.assert_allclose(u.var(axis=0), variance, rtol=0.15)  # standard errors of 3 %


@pytest.mark.parametrize("cases", [decoders.early_cases(20, 50, 0.05), decoders.late_cases(20, 10, 0.05)])
def test_cases_are_a_law(cases):
    assert cases.weight.sum() == pytest.approx(1)
    assert cases.weight @ cases.target == pytest.approx(0.05**2)
    loss, a, b = decoders.best_and_reader(cases)
    assert loss == pytest.approx(ands._reader_loss(cases, a, b))
    assert 0 < loss < 0.05**2
    for nearby in ((1.05 * a, b), (a, b - 0.05)):
        assert ands._reader_loss(cases, *nearby) > loss


def test_a_rug_of_full_rank_keeps_every_bit():
    cases = decoders.late_cases(16, 16, 0.05)
    assert ands._reader_loss(cases, 1.0, -1.0) == pytest.approx(0, abs=1e-12)
    seen = decoders.simulated_and_loss(
        lambda x: decoders.late_reading(Rug(16, 16), x), 16, 0.05, 1.0, -1.0, size=10, seed=0
    )
    assert seen.mean < 1e-20


def test_simulation_weighs_numbers_of_bits():
    silent = decoders.simulated_and_loss(lambda x: 0 * decoders.ands_of_pairs(x), 12, 0.1, 1.0, 0.0, size=5, seed=0)
    assert silent.mean == pytest.approx(0.1**2, rel=1e-4)  # one in a million inputs has more bits on
