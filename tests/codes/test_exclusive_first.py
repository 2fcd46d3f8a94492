"""Exclusive features first: what is drawn, and when."""

import numpy as np
import pytest
import torch
from superposition import codes
from superposition.codes import exclusive_first as first


def test_exactly_one_of_each_group_is_on_and_features_are_independent_after_the_lesson():
    generator = torch.Generator().manual_seed(0)
    x = first._drawn(50, 0.05, 20, 1.0, True, 400, generator)
    assert x.shape == (400, 50) and ((x[:, :20] > 0).sum(dim=1) == 1).all() and ((x[:, 40:] > 0).sum(dim=1) <= 1).all()
    assert set((first._drawn(50, 0.05, 20, 1.0, False, 400, generator)[:, :20] > 0).sum(dim=1).tolist()) > {0, 1}
    on = (first._drawn(60, 0.1, 20, 0.0, True, 20_000, generator) > 0).float()
    np.testing.assert_allclose(on.mean(), 0.1, atol=0.002)  # 4.7 standard errors
    together = (on[:, 0] * on[:, 1]).mean()
    np.testing.assert_allclose(together, 0.01, atol=0.0035)  # 5


def test_the_lesson_ends():
    shares = [first._share(done, 0.3) for done in (0, 0.12, 0.21, 0.3, 0.9)]
    np.testing.assert_allclose(shares, [1, 1, 0.5, 0, 0], atol=1e-12)
    assert first._share(0.0, 0.0) == 0


def test_weights_are_bounded_and_follow_the_seed():
    code, same, other = (
        codes.train_exclusive_first(20, 4, 0.1, steps=30, lr=0.1, largest=0.3, seed=s) for s in (0, 0, 1)
    )
    assert max(np.abs(code.W_in).max(), np.abs(code.W_out).max()) <= 0.3 + 1e-7
    assert (code.W_in == same.W_in).all() and (code.W_in != other.W_in).any()


def test_refusals():
    with pytest.raises(ValueError, match="group = 21 is out of range; allowed: whole numbers from 1 to 20"):
        codes.train_exclusive_first(20, 4, 0.1, group=21)
    with pytest.raises(ValueError, match="nd = 30 is out of range"):
        codes.train_exclusive_first(20, 30, 0.1)
