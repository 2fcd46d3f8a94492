"""The step of JumpReLU against the density of the drives at its threshold."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from superposition.decoders.threshold_step import Step  # noqa: E402

EVEN = (np.arange(200_000) + 0.5) / 200_000


@pytest.mark.parametrize(
    ("drive", "bar", "density"),
    [(EVEN, 0.4, 1.0), (2 * EVEN, 0.4, 0.5), (EVEN / 4, 0.1, 4.0), (EVEN**2, 0.16, 1.25), (EVEN, 1.5, 0.0)],
)
def test_the_slope_of_the_share_above_a_threshold_is_minus_the_density_at_it(drive, bar, density):
    x = torch.tensor(drive)[None, :, None].requires_grad_()
    threshold = torch.full((1, 1, 1), bar, dtype=torch.float64, requires_grad=True)
    share = Step.apply(x, threshold).mean()
    assert share.item() == np.mean(drive > bar)
    share.backward()
    assert threshold.grad.item() == pytest.approx(-density, rel=0.01)
    assert x.grad is None or not x.grad.any()
