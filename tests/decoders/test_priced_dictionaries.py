"""The price of activity at the truth and at pairs: closed forms against simulation, descents against their loss."""

import numpy as np
import pytest
from superposition import decoders, features
from superposition.features import Estimate


def _simulated(kind, loss, price, p, nd, ns=1024, samples=1000):
    """The loss per feature of the best encoder along a dictionary, with the best center, on activations of a rug."""
    truth = decoders.dictionary(ns, nd, "rug", p=p, seed=1)
    other = truth if kind == "rug" else decoders.dictionary(ns, nd, kind, p=p, seed=2)
    best = decoders.least_priced_loss(loss, price, p, nd / ns)
    D, center = other.directions, truth.directions @ truth.p / 2
    _, h = truth.activations(samples, seed=3)
    codes = np.maximum(best.a * (h - center) @ D + best.b, 0)
    rest = h - codes @ D.T
    each = ((rest - rest.mean(axis=0)) ** 2).sum(axis=1) / 2 + price * codes.sum(axis=1)
    return best, Estimate.of(each / ns)


@pytest.mark.parametrize(("price", "p", "nd"), [(0.01, 0.05, 384), (0.05, 0.05, 384), (0.05, 0.1, 256)])
@pytest.mark.parametrize(("kind", "loss"), [("rug", decoders.truth_loss), ("antipodal", decoders.pairs_loss)])
def test_closed_forms_are_those_of_large_rugs(kind, loss, price, p, nd):
    best, found = _simulated(kind, loss, price, p, nd)
    # the next order is 1 in p n_s, 0.02 here and less
    assert best.loss == pytest.approx(found.mean, abs=4 * found.se + 0.02 * found.mean)


def test_an_autoencoder_along_a_dictionary_reads_around_its_center():
    pytest.importorskip("torch")

    rng = np.random.default_rng(4)
    D, h, center = rng.standard_normal((3, 5)), rng.standard_normal((8, 3)), rng.standard_normal(3)
    read = decoders.sae_along(D, 0.7, -0.1, center).encode(h)
    assert read == pytest.approx(np.maximum(0.7 * (h - center) @ D - 0.1, 0))


def test_covariance_of_errors_is_not_left_out():
    # a linear reader that is never off rebuilds h times a / r: exact at a = r, where unrelated errors would cost
    assert decoders.truth_loss(0.3, 5.0, 0.0, 0.05, 0.3) == pytest.approx(0, abs=1e-12)


def test_pairs_reach_the_least_cost_of_rebuilding_everything():
    price, p, r = 1e-5, 0.05, 0.375
    cheap = decoders.least_priced_loss(decoders.pairs_loss, price, p, r).loss / price
    assert cheap == pytest.approx(np.sqrt(2 * r * features.variance(p) / np.pi), rel=1e-3)
    kept_on = decoders.least_priced_loss(decoders.truth_loss, price, p, r).loss / price
    assert kept_on > 2 * cheap  # a latent along the truth has to be on for noise on either side of zero


@pytest.mark.thorough
def test_the_border_separates_the_two():
    p, r = 0.05, 0.375
    middle = decoders.border_price(p, r)
    for price, lower in ((middle / 1.05, "pairs"), (middle * 1.05, "truth")):
        truth, pairs = (
            decoders.least_priced_loss(loss, price, p, r).loss for loss in (decoders.truth_loss, decoders.pairs_loss)
        )
        assert ("pairs" if pairs < truth else "truth") == lower


def test_descent_follows_the_gradient_of_the_loss_it_is_measured_by():
    torch = pytest.importorskip("torch")
    from superposition.decoders import priced_training

    truth = decoders.dictionary(12, 6, "rug", p=0.2, seed=4)
    rng = np.random.default_rng(5)
    parts = [rng.standard_normal(shape) for shape in ((2, 6, 12), (2, 1, 12), (2, 6, 12), (2, 1, 6))]
    weights = priced_training.Weights(*(torch.tensor(part, requires_grad=True) for part in parts))
    h = torch.from_numpy(truth.activations(40, seed=6)[1])
    prices = torch.tensor([0.1, 0.4], dtype=torch.float64)[:, None, None]
    drive = (h - weights.b_dec) @ weights.W_enc + weights.b_enc
    f = torch.relu(drive)
    loss = ((h - f @ weights.W_dec.transpose(1, 2) - weights.b_dec) ** 2).sum(2) / 2 + (prices * f).sum(2)
    loss.mean(1).sum().backward()
    expected = [one.grad.clone() for one in weights]
    with torch.no_grad():
        assert float(priced_training._gradient(weights, h, prices)) == pytest.approx(loss.mean(1).sum().item())
    for one, right in zip(weights, expected, strict=True):
        assert one.grad.numpy() == pytest.approx(right.numpy())
    sae = decoders.SparseAutoencoder(parts[0][0].T, parts[1][0, 0], parts[2][0], parts[3][0, 0])
    assert decoders.sae_losses(sae, 0.1, h.numpy()) == pytest.approx(loss[0].detach().numpy())


def test_descent_lowers_the_loss_and_keeps_directions_of_length_one():
    pytest.importorskip("torch")

    truth = decoders.dictionary(16, 6, "rug", p=0.1, seed=7)
    start = decoders.sae_along(truth.directions, 1.0, 0.0, truth.directions @ truth.p / 2)
    [after] = decoders.descend_saes(truth, [start], [0.1], steps=200, lr=0.01, seed=8)
    _, h = truth.activations(4000, seed=9)
    saved = Estimate.of(decoders.sae_losses(start, 0.1, h) - decoders.sae_losses(after, 0.1, h))
    assert saved.mean > 10 * saved.se
    np.testing.assert_allclose(np.linalg.norm(after.W_dec, axis=0), 1, rtol=1e-6)


@pytest.mark.parametrize("loss", [decoders.truth_loss, decoders.pairs_loss])
def test_no_gain_and_bias_on_a_grid_cost_less(loss):
    rng = np.random.default_rng(2026)
    places = [(0.1131, 0.2454, 0.0782)]  # here descents from six places all stopped at five times the least loss
    places += [(10 ** rng.uniform(-3, -0.5), 10 ** rng.uniform(-3, -0.1), rng.uniform(0.03, 0.5)) for _ in range(4)]
    for place in places:
        best = decoders.least_priced_loss(loss, *place)
        assert best.loss == pytest.approx(loss(best.a, best.b, *place), rel=1e-12)
        for a in np.geomspace(0.02, 3, 20):
            for b in a * np.array([-1.5, -0.7, -0.4, -0.2, -0.05, 0.0, 0.1, 0.5]):
                assert best.loss <= loss(a, b, *place) * (1 + 1e-9)


def test_losses_of_other_kinds_are_refused():
    with pytest.raises(ValueError, match="allowed: truth_loss, pairs_loss"):
        decoders.least_priced_loss(lambda *_: 0.0, 0.1, 0.1, 0.2)
