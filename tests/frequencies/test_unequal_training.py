"""Training on unequal features: gradients against automatic differentiation, and models of a known loss."""

import numpy as np
import pytest
from superposition import features, frequencies
from superposition.experiments.unequal import shuffled_signs, unequal_autoencoder

torch = pytest.importorskip("torch")
from superposition.frequencies import sparse_batches  # noqa: E402

P = frequencies.power_law(12, 1.0)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("importance", [1.0, np.linspace(0.5, 3, 12)])
def test_first_step_has_the_sign_of_the_gradient(tied, importance):
    rate = 1e-4
    start, after = (
        frequencies.train_unequal(P, 3, tied=tied, importance=importance, steps=1, batch=256, lr=lr, seed=1,
                                       device="cpu", eval_samples=64)
        for lr in (1e-30, rate)
    )  # fmt: skip
    W, D, b = (torch.tensor(w, requires_grad=True) for w in (start.W_in, start.W_out, start.bias))
    rng = np.random.default_rng(np.random.SeedSequence(1).spawn(3)[1])
    batch = features.sample_each(P, 256 * sparse_batches.AT_ONCE, seed=rng)[:256]
    x = torch.tensor(batch, dtype=torch.float32)
    error = torch.relu(x @ W.T @ D.T + b) - x
    loss = (error**2 * torch.tensor(np.broadcast_to(importance, 12).copy(), dtype=torch.float32)).sum(1).mean()
    assert loss.item() == pytest.approx(float(after.history[0]), rel=1e-5)
    loss.backward()
    on_W, on_D = (W.grad + D.grad.T, W.grad.T + D.grad) if tied else (W.grad, D.grad)
    for weights, before, slope in ((after.W_in, start.W_in, on_W), (after.W_out, start.W_out, on_D)):
        clear = np.abs(slope.numpy()) > 1e-5  # Adam's first step has the size of the rate
        moved = (weights - before)[clear] / rate
        assert clear.sum() > 10 and moved == pytest.approx(-np.sign(slope.numpy()[clear]), abs=0.02)


def test_loss_is_that_of_the_weights_on_other_vectors():
    model = frequencies.train_unequal(P, 4, steps=500, batch=128, eval_samples=40_000, device="cpu")
    x = features.sample_each(P, 40_000, seed=9)
    squares = (np.maximum(x @ model.W_in.T @ model.W_out.T + model.bias, 0) - x) ** 2
    se = np.hypot(model.loss_se, squares.sum(1).std() / 200)
    assert squares.sum(1).mean() == pytest.approx(model.loss, abs=4 * se)
    assert model.losses.sum() == pytest.approx(model.loss) and model.loss < 0.7 * features.second_moment(P).sum()


def test_a_vector_in_which_nothing_is_on_has_a_loss_and_a_gradient():
    p, importance = np.full(6, 0.05), np.arange(1.0, 7)
    weights = [torch.tensor(np.random.default_rng(2).standard_normal((6, k)).squeeze(), dtype=torch.float32,
                            requires_grad=True) for k in (2, 2, 1)]  # fmt: skip
    found = sparse_batches.batch_gradient(weights, p, importance, 64, np.random.default_rng(3))()
    slopes = [one.grad.clone() for one in weights]
    x = features.sample_each(p, 64 * sparse_batches.AT_ONCE, seed=np.random.default_rng(3))[:64]
    assert (x.sum(axis=1) == 0).sum() > 40
    W, D, b = weights
    for one in weights:
        one.grad = None
    error = torch.relu(torch.tensor(x, dtype=torch.float32) @ W @ D.T + b) - torch.tensor(x, dtype=torch.float32)
    loss = (error**2 @ torch.tensor(importance, dtype=torch.float32)).mean()
    assert float(found) == pytest.approx(loss.item(), rel=1e-5)
    (loss / 6).backward()  # of the mean over features
    for slope, one in zip(slopes, weights, strict=True):
        torch.testing.assert_close(slope, one.grad, rtol=1e-4, atol=1e-6)


def test_enough_dimensions_lose_nothing():
    model = frequencies.train_unequal(P, 12, steps=1500, batch=256, tied=True, eval_samples=6400, device="cpu")
    assert model.loss < 0.01 * features.second_moment(P).sum()


def test_importance_decides_between_features():
    p, importance = np.full(6, 0.05), np.array([1, 1, 20, 1, 1, 20.0])
    model = frequencies.train_unequal(p, 2, importance=importance, steps=1500, batch=512, eval_samples=20_000,
                                           device="cpu")  # fmt: skip
    assert model.losses[[2, 5]].max() < 0.2 * model.losses[[0, 1, 3, 4]].max()
    assert model.loss == pytest.approx(importance @ model.losses)


def test_columns_of_the_run():
    found = unequal_autoencoder(
        ns=20, nd=5, exponent=1.5, decoder="free", steps=300, batch=64, lr=0.01, seed=0, device="cpu"
    )
    assert 0 < found["used"] <= 1 and 0 < found["negative"] < 1 and found["gaussian"] > 0
    means = [found[f"share_{k}"] for k in range(5)]
    assert np.dot(means, [1, 2, 4, 8, 5]) == pytest.approx(5)  # the shares add up to the dimensions


def test_signs_of_trained_weights_are_worth_something():
    found = shuffled_signs(ns=40, nd=8, exponent=1.0, steps=1500, batch=128, lr=0.01, seed=0, device="cpu")
    error = 4 * np.hypot(found["loss_se"], found["tuned_se"])
    assert found["tuned"] < found["loss"] + error  # no bias and gain are better than the best
    assert found["shuffled"] > found["tuned"] + 4 * np.hypot(found["tuned_se"], found["shuffled_se"])


def test_seed_zero_where_none_is_asked_for():
    few = {"steps": 1, "batch": 4, "eval_samples": 16, "device": "cpu"}
    np.testing.assert_array_equal(
        frequencies.train_unequal(P, 3, **few).W_in, frequencies.train_unequal(P, 3, seed=0, **few).W_in
    )


FEW = {"tied": True, "steps": 1, "batch": 16, "lr": 1e-30, "eval_samples": 6400, "device": "cpu"}


def test_a_pull_moves_a_row_by_hand():
    rows = torch.tensor([[3.0, 4.0], [0.3, 0.4], [0.0, 1.0]])
    sparse_batches.pull_to_length_one(
        rows, 0.1
    )  # lengths 5, 1/2 and 1 less 0.1 times 4, -1/2 and 0, in their own directions
    torch.testing.assert_close(rows, torch.tensor([[2.76, 3.68], [0.33, 0.44], [0.0, 1.0]]))


def test_a_pull_acts_at_the_rate_of_each_step(monkeypatch):
    strengths = []
    monkeypatch.setattr(sparse_batches, "pull_to_length_one", lambda rows, strength: strengths.append(strength))
    frequencies.train_unequal(P, 3, **FEW | {"steps": 4, "lr": 0.2, "pull": 0.5})
    assert strengths == pytest.approx([0.1, 0.1 * (1 + 0.5**0.5) / 2, 0.05, 0.1 * (1 - 0.5**0.5) / 2])  # a cosine


def test_a_pull_alone_ends_at_length_one():
    p = np.full(6, 1e-9)  # nothing is on, and biases start below zero: there is no gradient but the pull's
    model = frequencies.train_unequal(p, 3, **FEW | {"steps": 200, "lr": 0.1, "pull": 1.0})
    free = frequencies.train_unequal(p, 3, **FEW | {"steps": 200, "lr": 0.1})
    # lengths shrink to one by the product of 1 - rate, whose sum over the cosine is 200 * 0.1 / 2
    left = np.prod(1 - 0.1 * (1 + np.cos(np.pi * np.arange(200) / 200)) / 2)
    before, after = (np.linalg.norm(one.W_in, axis=0) - 1 for one in (free, model))
    assert np.abs(before).max() > 0.2 and after == pytest.approx(left * before, abs=1e-6)


def test_biases_start_with_the_spread_asked_for():
    p = np.full(4000, 1e-4)
    bias = frequencies.train_unequal(p, 2, **FEW | {"bias_spread": 0.7, "eval_samples": 64}).bias
    assert abs(bias.mean()) < 4 * 0.7 / 4000**0.5 and abs(bias.std() / 0.7 - 1) < 4 / 8000**0.5
    assert np.abs(frequencies.train_unequal(p, 2, **FEW | {"eval_samples": 64}).bias).max() < 1e-29  # one step


def test_features_twice_as_large_with_biases_twice_as_large_lose_four_times_as_much():
    one, two = (frequencies.train_unequal(P, 3, **FEW | {"largest": size, "bias_spread": size / 2})
                for size in (1.0, 2.0))  # fmt: skip
    assert two.loss == pytest.approx(4 * one.loss, rel=1e-6) and one.loss > 0
    small = frequencies.train_unequal(P, 3, **FEW | {"largest": 2.0, "bias_spread": 0.5})
    assert small.loss < 0.9 * two.loss or small.loss > 1.1 * two.loss  # the bias counts


def test_outputs_are_kept_from_falling_silent_and_nothing_else_changes():
    p, options = frequencies.power_law(200, 1.0), {"steps": 300, "batch": 64, "seed": 2, "device": "cpu"}
    options["eval_samples"] = 6400

    def dead(model):
        return int((np.sum(model.W_in**2, axis=0) + model.bias <= 0).sum())

    plain = frequencies.train_unequal(p, 3, tied=True, **options)
    floor, revived = (frequencies.train_unequal_alive(p, 3, way=way, **options) for way in ("floor", "revived"))
    assert dead(floor) == 0 and dead(revived) < dead(plain) / 2 and dead(plain) > 50
    assert np.min(floor.bias / np.sum(floor.W_in**2, axis=0)) == pytest.approx(-0.9, abs=1e-5)
    assert floor.history[0] == plain.history[0] and floor.losses.sum() == pytest.approx(floor.loss)
    wide = {"p": np.full(4, 0.2), "nd": 4, "steps": 40, "batch": 32, "seed": 1, "device": "cpu", "eval_samples": 640}
    kept = frequencies.train_unequal(**wide, tied=True)
    for way in ("floor", "revived"):  # where no output would fall silent
        np.testing.assert_array_equal(frequencies.train_unequal_alive(**wide, way=way).W_in, kept.W_in)
