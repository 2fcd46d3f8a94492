"""Training on vectors that the device draws: their law, gradients, parts of a batch, and what is refused."""

import numpy as np
import pytest
import torch
from superposition import features, rug
from superposition.devices import accelerator
from superposition.rug import device_training, evaluation

FEW = {"steps": 40, "batch": 64, "eval_samples": 64}
PLACES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])  # with an accelerator the same tests run on it too
SIGMAS = 4.5


def drawn(p, place, shape=(1000, 1000)):
    """Feature vectors as a device draws them, on the host."""
    on = accelerator(place)
    return device_training.draw_there(torch.empty(shape, device=on), p, device_training.stream(5, on)).cpu().double()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("p", [0.001, 0.05, 0.5, 1.0])
def test_drawn_vectors_have_the_law_of_the_features(p, place):
    x = drawn(p, place).ravel()
    on = x[x > 0]
    assert abs(len(on) - len(x) * p) <= SIGMAS * (len(x) * p * (1 - p)) ** 0.5 + len(x) * 2**-20
    for power in (1, 2, 3):  # moments of a uniform number, and their own variances
        mean, spread = 1 / (power + 1), (1 / (2 * power + 1) - 1 / (power + 1) ** 2) ** 0.5
        assert abs(float((on**power).mean()) - mean) < SIGMAS * spread / len(on) ** 0.5
    assert float(features.second_moment(p)) == pytest.approx(
        float((x**2).mean()), rel=SIGMAS * 1.4 / (len(x) * p) ** 0.5
    )


@pytest.mark.parametrize("place", PLACES)
def test_gaps_between_features_are_geometric_as_those_of_the_host(place):
    p, size = 0.05, 10**6
    gaps = {
        "device": np.diff(np.flatnonzero(drawn(p, place).numpy())),
        "host": np.diff(features.nonzeros(1000, p, 1000, seed=3)[0]),
    }
    for one in gaps.values():
        longer = np.array([(one > gap).mean() for gap in (1, 5, 20, 60)])
        expected = (1 - p) ** np.array([1, 5, 20, 60])
        assert np.all(np.abs(longer - expected) < SIGMAS * (expected * (1 - expected) / (size * p)) ** 0.5)


def test_neighbours_in_a_vector_and_in_a_batch_are_independent():
    x = (drawn(0.2, "cpu") > 0).double() - 0.2
    for other in (x.roll(1, 0), x.roll(1, 1), x.roll((1, 1), (0, 1))):
        assert abs(float((x * other).mean())) < SIGMAS * 0.16 / 1000


def test_gradients_are_those_of_automatic_differentiation():
    usual = rug.training_settings(12, 5, 0.3, 8, 40, None, None, "recipe", 0, "cpu")
    rng, history = np.random.default_rng(0), torch.zeros(8)
    W_in, W_out, bias = (one.detach() for one in evaluation.initial_weights(usual, rng, torch.device("cpu")))
    weights = [W_in.T.contiguous(), W_out, bias + 0.05]
    expected = [one.clone().requires_grad_() for one in weights]
    step, _ = device_training._prepared(weights, usual, history, torch.Generator().manual_seed(3), torch.device("cpu"))
    step()
    x = device_training.draw_there(torch.empty(40, 12), 0.3, torch.Generator().manual_seed(3))
    loss = torch.mean((torch.relu(x @ expected[0] @ expected[1].T + expected[2]) - x) ** 2)
    loss.backward()
    assert float(history[0]) == pytest.approx(float(loss.detach()), rel=1e-5)
    for found, right in zip(weights, expected, strict=True):
        torch.testing.assert_close(found.grad, right.grad, rtol=1e-4, atol=1e-8)


def test_a_batch_in_parts_is_the_same_batch(monkeypatch):
    whole = rug.train_on_device(16, 5, 0.1, device="cpu", **FEW)
    monkeypatch.setattr(device_training, "MOST_AT_ONCE", 16 * 24)  # 64 vectors in parts of 24, 24 and 16
    parts = rug.train_on_device(16, 5, 0.1, device="cpu", **FEW)
    np.testing.assert_allclose(parts.loss_history, whole.loss_history, rtol=1e-4)


def test_dimensions_are_those_that_were_asked_for(monkeypatch):
    model = rug.train_on_device(16, 5, 0.1, device="cpu", **FEW)
    assert model.W_in.shape == (5, 16) and model.W_out.shape == (16, 5)
    monkeypatch.setattr(device_training, "LANES", 1)
    np.testing.assert_allclose(rug.train_on_device(16, 5, 0.1, device="cpu", **FEW).W_in, model.W_in, atol=1e-5)


def test_a_seed_is_a_run_and_its_first_weights_are_those_of_the_host():
    first, again, other = (rug.train_on_device(16, 5, 0.1, seed=seed, device="cpu", **FEW) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.W_in, again.W_in)
    assert first.loss == again.loss != other.loss
    still = [
        train(16, 5, 0.1, seed=1, lr=1e-12, device="cpu", **FEW)
        for train in (rug.train_on_device, rug.train_autoencoder)
    ]
    np.testing.assert_allclose(still[0].W_in, still[1].W_in, atol=1e-7)
    assert still[0].loss_history[0] != still[1].loss_history[0]  # other vectors


def test_the_evaluated_loss_is_that_of_the_weights():
    model = rug.train_on_device(32, 8, 0.1, steps=200, device="cpu", eval_samples=40_000)
    x = features.sample(32, 0.1, 40_000, seed=9)
    errors = np.mean((np.maximum(x @ (model.W_out @ model.W_in).T + model.bias, 0) - x) ** 2, axis=1)
    assert abs(errors.mean() - model.loss) < SIGMAS * 2**0.5 * model.loss_se
    assert model.loss_se == pytest.approx(errors.std() / 200, rel=0.05)
    assert model.settings.draws == "device" and model.settings.captured is False


def test_the_texts_rule_stops_it():
    model = rug.train_on_device(32, 8, 0.05, protocol="text", device="cpu", batch=128, eval_samples=64)
    means = model.loss_history.reshape(-1, 100).mean(axis=1)
    assert model.stopped and means[-1] >= means[-2] and np.all(np.diff(means[:-1]) < 0)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"captured": True}, "captured = True needs CUDA, and device is cpu; allowed: False, or None"),
        ({"products": "tf32"}, "products = 'tf32' needs CUDA, and device is cpu; allowed: float32"),
        ({"device": "mps:7"}, "device = 'mps:7' is not on this machine; allowed: auto, cpu"),
        ({"p": 1e-4}, "p = 0.0001 is out of range; allowed"),
    ],
)
def test_what_a_device_cannot_do_is_one_sentence(wrong, sentence):
    call = {"ns": 8, "nd": 3, "p": 0.1, "device": "cpu", **FEW, **wrong}
    with pytest.raises(ValueError, match=sentence):
        rug.train_on_device(**call)


def test_a_collapse_and_a_device_that_is_too_small_are_one_sentence(monkeypatch):
    with pytest.raises(FloatingPointError, match="collapsed to zero at step 100 .* try a smaller learning rate"):
        rug.train_on_device(32, 4, 0.05, steps=300, lr=1.0, device="cpu")

    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB.")

    monkeypatch.setattr(device_training, "_prepared", full)
    with pytest.raises(ValueError, match=r"device = 'cpu' is too small \(CUDA out of memory\); allowed: a larger one"):
        rug.train_on_device(8, 3, 0.1, device="cpu", **FEW)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="a graph needs CUDA")
def test_captured_steps_are_the_same_steps():
    models = [rug.train_on_device(64, 16, 0.05, steps=300, device="cuda", captured=how) for how in (True, False)]
    np.testing.assert_array_equal(models[0].loss_history, models[1].loss_history)
