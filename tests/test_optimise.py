"""Adam with a cosine against its formulas, step by step."""

import numpy as np
import pytest
import torch
from superposition import optimise


def by_hand(w, slope, rates):
    """Adam as published (Kingma and Ba 2015): moments with rates 0.9 and 0.999, their starts corrected."""
    first = second = 0.0
    for t, rate in enumerate(rates, 1):
        g = slope(w)
        first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g**2
        w = w - rate * first / (1 - 0.9**t) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
        yield w


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("schedule", ["cosine", "constant"])
def test_every_step_is_that_of_the_formula(schedule, fused):
    share = 0.5 + 0.5 * np.cos(np.pi * np.arange(6) / 6) if schedule == "cosine" else np.ones(6)
    w = torch.tensor([3.0, -0.5], dtype=torch.float64, requires_grad=True)
    expected = list(by_hand(np.array([3.0, -0.5]), lambda w: 4 * (w - 1) ** 3, 0.25 * share))
    gradient = optimise.by_autograd([w], lambda: ((w - 1) ** 4).sum())
    seen, before = [], w.detach().numpy().copy()
    for done, loss in optimise.adam([w], gradient, steps=6, lr=0.25, schedule=schedule, fused=fused):
        assert not loss.requires_grad and loss.item() == pytest.approx(np.sum((before - 1) ** 4), rel=1e-12)
        before = w.detach().numpy().copy()
        np.testing.assert_allclose(before, expected[done - 1], rtol=1e-10)
        seen.append(done)
    assert seen == [1, 2, 3, 4, 5, 6]


def test_each_gradient_is_a_new_one():
    w = torch.tensor([2.0], requires_grad=True)
    gradient = optimise.by_autograd([w], lambda: (w**2).sum())
    for _ in range(3):
        gradient()
        assert w.grad.item() == 4
