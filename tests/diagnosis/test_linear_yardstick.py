"""The least loss of a linear map, against the singular values of vectors of unequal features."""

from types import SimpleNamespace

import numpy as np
import pytest
from superposition.diagnosis import yardsticks

WORTH = np.array([1.0, 0.2, 3.0, 0.7, 2.0])


@pytest.mark.parametrize("worth", [None, WORTH])
@pytest.mark.parametrize("nd", [1, 3, 5])
def test_what_is_left_beside_the_kept_axes(nd, worth):
    weight = np.sqrt(1 if worth is None else worth)
    X = np.random.default_rng(2).random((400, 5)) @ np.diag([0.3, 1.0, 0.5, 2.0, 0.1])
    seen = SimpleNamespace(vectors=X, mean=X.mean(axis=0), variance=X.var(axis=0))
    lost = np.linalg.svd((X - X.mean(axis=0)) * weight, compute_uv=False)[nd:] ** 2
    assert yardsticks.linear(seen, worth, nd) == pytest.approx(lost.sum() / X.size, abs=1e-12)
    alone = SimpleNamespace(vectors=None, mean=seen.mean, variance=seen.variance)  # independent features
    axes = sorted(seen.variance * weight**2)[: 5 - nd]
    assert yardsticks.linear(alone, worth, nd) == pytest.approx(sum(axes) / 5, abs=1e-12)
