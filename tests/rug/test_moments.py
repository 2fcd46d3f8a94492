"""Moments of a rectified normal number far below its threshold, against integrals of fifty digits."""

import mpmath
import numpy as np
import pytest
from superposition import moments


def exact(k, z):
    """E[ReLU(Z + z)^k] for a standard normal Z."""
    with mpmath.workdps(50):
        t = -mpmath.mpf(z)
        return mpmath.quad(lambda x: (x - t) ** k * mpmath.npdf(x), [t, t + 1, t + 2, t + 4, t + 8, t + 20])


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("z", [-2.5, -2.6, -3.0, -5.0, -10.0])
def test_the_tail_loses_no_digits_where_its_fraction_begins(k, z):
    found = moments.moment_tail(k, *np.array([[z * 0.3], [0.3], [z]]))[0]  # what it promises: 3e-14
    assert float(abs(found / (mpmath.mpf(0.3) ** k * exact(k, z)) - 1)) < 3e-14
