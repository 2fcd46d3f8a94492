"""The linear baseline of the text's public code, against the best linear code found from the exact moments.

Read at KfirD/PersianRug, commit e178d0b (``utils/opt_linear.py``): every eigenvalue is p / 3, and the sum leaves out
one more of them than there are dimensions. No file of theirs is used.
"""

import numpy as np
import pytest
from superposition import rug


def public(p, ns, nd):
    """Their loss per feature."""
    return p / 3 * (ns - nd - 1) / ns


def best_linear(p, ns, nd, bias):
    """Loss per feature of the best linear code: the eigenvalues of the moments that it does not keep."""
    mean = 0 if bias else p / 2
    moments = np.full((ns, ns), mean**2) + (p / 3 - p**2 / 4) * np.eye(ns)
    return np.linalg.eigvalsh(moments)[: ns - nd].sum() / ns


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("p", "ns", "nd"), [(0.05, 200, 20), (0.05, 64, 32), (0.8, 64, 3)])
def test_the_best_linear_code_has_our_loss_with_and_without_a_bias(p, ns, nd, bias):
    # without one it spends a dimension on the mean, which costs nothing: that direction is the largest anyway
    best = best_linear(p, ns, nd, bias)
    assert rug.linear_loss(p=p, r=nd / ns) == pytest.approx(best, rel=1e-11)  # eigenvalues of a matrix of 200
    # their two slips have opposite signs: at 64 in 32 they leave 0.6 %
    assert abs(public(p, ns, nd) - best) > 1e-3 * best


def test_the_size_of_the_erratum():
    p, ns, nd = 0.05, 8192, 819
    assert f"{public(p, ns, nd):.4f} {rug.linear_loss(p=p, r=nd / ns):.4f}" == "0.0150 0.0144"
    # at their size the mean makes nearly all of it, 4% at this p, and the slice 1 / 7373
    assert public(p, ns, nd) / rug.linear_loss(p=p, r=nd / ns) == pytest.approx(1 / (1 - 3 * p / 4), rel=2 / (ns - nd))


@pytest.mark.thorough
def test_the_rule_of_the_code_is_asked_before_each_epoch_and_ends_after_the_next(monkeypatch):
    """From the losses alone: windows of 40 batches here, so that a small training falls and stops."""
    torch = pytest.importorskip("torch")
    from superposition.rug import public_protocol

    monkeypatch.setattr(public_protocol, "CODE_WINDOW", 40)
    monkeypatch.setattr(public_protocol, "TEXT_WINDOW", 35)
    both = rug.train_as_published(16, 8, 0.3, epochs=150, seed=0, device="cpu")
    losses = both.code.loss_history
    batches, window = len(public_protocol.EPOCH), 40
    asked = [done for done in range(batches, len(losses) + 1, batches) if done > 2 * window]
    stops = [losses[done - window : done].mean() >= losses[done - 2 * window : done - window].mean() for done in asked]
    assert 5 < stops.index(True) < 145 and len(losses) == asked[stops.index(True)] + batches

    # asked only once, long after both stops, the rules name the same steps
    later, late = torch.from_numpy(np.concatenate([losses, losses])), {}
    ends = [done for done in range(1, len(later) + 1) if done % batches == 0 or done % public_protocol.TEXT_WINDOW == 0]
    public_protocol._look(late, [(done, None) for done in ends], later)
    assert late == {"text": (len(both.text.loss_history), None), "code": (len(losses), None)} and both.text.stopped


def test_the_bias_starts_uniform_within_one_over_the_root_of_the_dimensions():
    torch = pytest.importorskip("torch")
    from superposition.rug import public_protocol, training

    settings = training.Settings(2000, 4, 0.1, 30, 8, 0.01, "constant", "code", 0, "cpu", start="independent")
    bias = public_protocol._start(settings, np.random.default_rng(0), torch.device("cpu"))[2]
    values = np.sort(bias.detach().numpy()) * 2
    np.testing.assert_allclose(values, np.linspace(-1, 1, 2000), atol=0.07)  # Kolmogorov: 0.06 at one in a thousand


@pytest.mark.thorough
def test_vectors_of_the_device_train_as_those_of_the_host_in_batches_of_an_epoch(monkeypatch):
    torch = pytest.importorskip("torch")
    from superposition.rug import public_protocol

    sizes, plain = [], public_protocol.draw_there
    monkeypatch.setattr(public_protocol, "draw_there", lambda x, *how: (sizes.append(len(x)), plain(x, *how))[1])
    ends = {
        train: np.array([train(16, 4, p, epochs=20, seed=seed, device="cpu").code.loss for seed in range(5)])
        for train, p in ((rug.train_as_published, 0.2), (rug.train_as_published_on_device, 0.2))
    }
    assert tuple(sizes[:30]) == public_protocol.EPOCH and len(sizes) == 5 * 20 * 30
    host, there = ends.values()
    # the same first weights, so that the difference within a seed is that of the vectors alone
    apart = there - host
    assert abs(apart.mean()) < 4.5 * apart.std(ddof=1) / 5**0.5 < 0.1 * host.mean()
    other = rug.train_as_published_on_device(16, 4, 0.3, epochs=20, device="cpu").code.loss
    assert other > host.mean() + 10 * apart.std(ddof=1) and torch.get_float32_matmul_precision() == "highest"


@pytest.mark.parametrize("captured", [True, False])
def test_a_captured_epoch_is_the_epoch(captured):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("a graph needs CUDA")
    both = rug.train_as_published_on_device(64, 16, 0.1, epochs=40, seed=3, device="cuda", captured=captured)
    plain = rug.train_as_published_on_device(64, 16, 0.1, epochs=40, seed=3, device="cuda", captured=False)
    np.testing.assert_allclose(both.code.loss_history, plain.code.loss_history, rtol=1e-2)
    assert both.code.settings.captured is captured
