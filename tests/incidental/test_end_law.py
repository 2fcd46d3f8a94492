"""The mean of the random end: against arbitrary precision, against draws, and between its limits."""

import mpmath
import numpy as np
import pytest
from superposition.incidental import end_law, sparsification_rate


def test_the_mean_by_arbitrary_precision():
    def left(s):
        x = 1 / (2 * mpmath.sqrt(s))
        return 1 - mpmath.sqrt(mpmath.pi) * x * mpmath.exp(x * x) * mpmath.erfc(x)

    def part(y):
        return mpmath.exp(y / 2) * (-mpmath.log(left(mpmath.exp(y))) - 1 + left(mpmath.exp(y)))

    with mpmath.workdps(40):
        expected = mpmath.quad(part, range(-32, 60, 4)) / mpmath.sqrt(mpmath.pi)  # below, exp(-16)
    assert end_law.mean_end() == pytest.approx(float(expected), abs=2e-5)


@pytest.mark.parametrize(("m", "draws"), [(2, 4000), (30, 4000)])
def test_the_mean_of_gaussian_weights_by_draws(m, draws):
    rng = np.random.default_rng(m)
    ends = [sparsification_rate.end_time(rng.standard_normal(m)) for _ in range(draws)]
    assert np.mean(ends) == pytest.approx(end_law.mean_end_gaussian(m), abs=4 * np.std(ends) / draws**0.5)


def test_gaussian_weights_tend_to_the_law_from_above():
    means = [end_law.mean_end_gaussian(m) for m in (100, 1000, 10**4, 10**6)]
    assert np.argmax(means) == 1 and min(means) > end_law.mean_end()
    assert np.mean(sparsification_rate.end_times(3000, seed=3)) == pytest.approx(end_law.mean_end(), abs=0.06)
