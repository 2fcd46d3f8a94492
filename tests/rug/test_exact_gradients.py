"""Written-down gradients against automatic differentiation, over shapes, rarities and dead outputs."""

import numpy as np
import pytest
import torch
from superposition import features, optimise
from superposition.rug import evaluation, exact_gradients, model, training

UNITS = 4  # float32 sums over a batch, in another order: a few units in the last place of the largest entry


def models(ns, nd, p, batch, bias=0.0):
    """The same weights twice: as automatic differentiation wants them, and with the encoder transposed."""
    settings = training.training_settings(ns, nd, p, 10, batch, None, None, "recipe", 0, "cpu")
    plain = evaluation.initial_weights(settings, np.random.default_rng(3), torch.device("cpu"))
    with torch.no_grad():
        plain[2].add_(bias)
    turned = [plain[0].detach().T.contiguous(), plain[1].detach().clone(), plain[2].detach().clone()]
    return settings, plain, turned


def both(ns, nd, p, batch, bias=0.0, products="float32"):
    """Loss and gradients of one batch by automatic differentiation, and by the written-down form."""
    settings, plain, turned = models(ns, nd, p, batch, bias)
    x = evaluation.draw(settings, np.random.default_rng(5), torch.device("cpu"))
    slow = optimise.by_autograd(plain, lambda: torch.mean((model.autoencoder_output(plain, x) - x) ** 2))()
    fast = exact_gradients.batch_gradient(turned, settings, np.random.default_rng(5), products=products)()
    grads = [turned[0].grad.T, turned[1].grad, turned[2].grad]
    return (float(slow), [w.grad for w in plain]), (float(fast), grads), x


@pytest.mark.parametrize("p", [0.002, 0.02, 0.1, 0.2, 1.0])
@pytest.mark.parametrize(("ns", "nd", "batch"), [(2, 1, 1), (7, 7, 5), (64, 13, 256), (300, 100, 33)])
def test_gradients_are_those_of_autograd(ns, nd, batch, p):
    (slow, expected), (fast, found), _ = both(ns, nd, p, batch)
    assert fast == pytest.approx(slow, rel=1e-5, abs=1e-12)
    for one, other in zip(found, expected, strict=True):
        scale = float(other.abs().max())
        assert float((one - other).abs().max()) <= UNITS * batch**0.5 * 1.2e-7 * scale + 1e-12


@pytest.mark.parametrize("p", [0.002, 0.2])
def test_batches_of_zeros(p):
    """No feature is on: only outputs that fire without one have a gradient, and the encoder none."""
    seed = next(s for s in range(10_000) if not len(features.nonzeros(3, p, 2, seed=s)[0]))
    settings, _, turned = models(3, 2, p, 2, bias=0.1)
    loss = exact_gradients.batch_gradient(turned, settings, np.random.default_rng(seed))()
    assert float(loss) == pytest.approx(0.01) and not turned[0].grad.any()
    np.testing.assert_allclose(turned[2].grad, 2 * 0.1 / 3, rtol=1e-6)


@pytest.mark.parametrize("p", [0.01, 0.5])
def test_dead_outputs_have_no_gradient(p):
    (slow, _), (fast, found), x = both(32, 8, p, 64, bias=-10.0)
    assert fast == pytest.approx(slow, rel=1e-6) == pytest.approx(float((x**2).mean()), rel=1e-6)
    assert not any(g.any() for g in found)


@pytest.mark.parametrize("p", [0.01, 0.3])
def test_rounded_products_are_near(p):
    (slow, expected), (fast, found), _ = both(256, 64, p, 512, products="bfloat16")
    assert fast == pytest.approx(slow, rel=2**-8)  # bfloat16 holds 8 bits
    for one, other in zip(found, expected, strict=True):
        # rounding switches outputs that lie at the kink of the ReLU; 0.05 was set after seeing 0.028
        assert 1e-6 < float((one - other).norm() / other.norm()) < 0.05


@pytest.mark.parametrize(("p", "way"), [(0.05, "_gathered"), (0.4, "_dense")])
def test_rare_features_are_gathered_on_a_cpu(monkeypatch, p, way):
    taken = []
    for name in ("_gathered", "_dense"):
        monkeypatch.setattr(exact_gradients, name, lambda *_, name=name: taken.append(name))
    settings = training.training_settings(6, 2, p, 1, 8, None, None, "recipe", 0, "cpu")
    weights = [torch.ones(size) for size in ((6, 2), (6, 2), (6,))]
    exact_gradients.batch_gradient(weights, settings, np.random.default_rng(0))
    assert taken == [way]
