"""The batched simulator against autograd, against closed forms, and against itself in other batches."""

import numpy as np
import pytest
import torch
from superposition import incidental
from superposition.incidental import bipolar, initial_instances, noisy_training, train_with_noise


def autograd_step(W, xi, eta, lambda_=0.0, relu=True):
    """One step of one instance by autograd; xi has shape (draws, 1 or n, m)."""
    W = torch.tensor(W, requires_grad=True)
    loss = lambda_ * W.abs().sum()
    for draw in torch.from_numpy(xi):
        y = (W + draw) @ W.T
        y = torch.relu(y) if relu else y
        loss = loss + ((y - torch.eye(len(W))) ** 2).sum() / len(xi)
    loss.backward()
    return (W - eta * W.grad).detach().numpy()


def noise_of_seed(law, shape, seed):
    stream = np.random.SeedSequence(seed).spawn(1)[0]
    return law.sample(shape, np.random.default_rng(stream))


def test_without_a_word_outputs_pass_a_relu_and_noise_is_shared():
    start, law = initial_instances(5, 7, 2, seed=1), incidental.uniform(0.3)
    options = {"eta": 0.05, "steps": 4, "record": [4], "seed": 5}
    found = train_with_noise(start, law, **options).W
    np.testing.assert_array_equal(found, train_with_noise(start, law, relu=True, noise="shared", **options).W)
    for other in ({"relu": False}, {"noise": "independent"}):
        assert np.abs(found - train_with_noise(start, law, **other, **options).W).max() > 1e-3


@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("noise", ["shared", "independent"])
@pytest.mark.parametrize("draws", [1, 3])
def test_the_written_gradient_is_that_of_autograd(relu, noise, draws):
    n, m, instances, steps = 5, 7, 3, 4
    start, law = initial_instances(n, m, instances, seed=1), incidental.uniform(0.3)
    shape = (steps, instances, draws, n if noise == "independent" else 1, m)
    xi = noise_of_seed(law, shape, 5)
    eta, lambda_ = np.array([0.01, 0.02, 0.05]), np.array([0.0, 0.1, 0.2])
    found = train_with_noise(
        start, law, eta=eta, lambda_=lambda_, steps=steps, record=[steps], noise=noise, draws=draws, relu=relu, seed=5
    )
    for i in range(instances):
        W = start[i]
        for step in range(steps):
            W = autograd_step(W, xi[step, i], eta[i], lambda_[i], relu)
        np.testing.assert_allclose(found.W[0, i], W, rtol=0, atol=1e-13)  # float64, four steps


def test_without_noise_a_single_row_reaches_unit_length():
    found = train_with_noise(
        initial_instances(1, 4, 2, seed=0), incidental.normal(0), eta=0.05, steps=300, record=[300]
    )
    np.testing.assert_allclose(found.S, 1, rtol=1e-12)  # contraction 1 - 8 eta a step


def test_batches_of_one_law_do_not_depend_on_sigma_of_the_others():
    start = initial_instances(4, 6, 2, seed=3)
    together = train_with_noise(
        start, [incidental.bipolar(0.1), incidental.bipolar(0.3)], eta=0.02, steps=50, record=[50], seed=1
    )
    same = train_with_noise(
        start, [incidental.bipolar(0.1), incidental.bipolar(0.0)], eta=0.02, steps=50, record=[50], seed=1
    )
    np.testing.assert_array_equal(together.W[0, 0], same.W[0, 0])
    assert abs(together.W[0, 1] - same.W[0, 1]).max() > 1e-3


def test_records_and_blocks_do_not_change_the_run(monkeypatch):
    start = initial_instances(4, 6, 3, seed=3)
    run = {"eta": 0.02, "steps": 40, "seed": 1}
    monkeypatch.setattr(noisy_training, "BLOCK", 7 * 3 * 6)  # seven steps a block
    often = train_with_noise(start, incidental.bipolar(0.1), record=range(41), **run)
    once = train_with_noise(start, incidental.bipolar(0.1), record=[40], **run)
    np.testing.assert_array_equal(often.W[-1], once.W[0])
    np.testing.assert_array_equal(
        train_with_noise(often.W[0], incidental.bipolar(0.1), record=[13], **run).W[0], often.W[13]
    )


@pytest.mark.parametrize(("laws", "shape"), [(1, (3, 6)), (4, (2, 5)), (3, (1, 1)), (2, (600, 700))])
def test_a_block_of_noise_is_as_long_as_its_numbers_allow(laws, shape):
    noise = noisy_training._Noise([incidental.bipolar(0.1)] * laws, (1, *shape), 0, "cpu")
    of_a_step = laws * shape[0] * shape[1]
    steps = noise.steps_per_block
    assert steps == 1 or steps * of_a_step <= noisy_training.BLOCK
    assert (steps + 1) * of_a_step > noisy_training.BLOCK


def test_records_start_end_and_derived_quantities():
    start = initial_instances(3, 5, 2, seed=0)
    seen = []
    found = train_with_noise(
        start, incidental.laplace(0.1), eta=0.01, steps=2030, record=[2030, 0, 7], seed=0,
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    assert found.steps.tolist() == [0, 7, 2030] and found.W.shape == (3, 2, 3, 5)
    assert seen == [(1000, 2030), (2000, 2030)]
    np.testing.assert_array_equal(found.W[0], start)
    np.testing.assert_allclose(found.S, np.linalg.norm(found.W, axis=-1) ** 2, rtol=1e-14)
    np.testing.assert_allclose(found.f, np.linalg.norm(found.W, ord=4, axis=-1) ** 4, rtol=1e-13)
    unit = found.W / np.linalg.norm(found.W, axis=-1, keepdims=True)
    np.testing.assert_allclose(found.direction, (unit**4).sum(-1), rtol=1e-13)


def test_the_start_has_fourth_norm_three_over_m():
    f = (initial_instances(8, 16, 4000, seed=0) ** 4).sum(-1)
    assert f.mean() == pytest.approx(3 / 16, abs=4 * f.std() / np.sqrt(f.size))
    unit = initial_instances(8, 16, 4000, seed=1)
    f = (unit**4).sum(-1) / (unit**2).sum(-1) ** 2
    assert f.mean() == pytest.approx(3 / 18, abs=4 * f.std() / np.sqrt(f.size))


def test_divergence_is_nan_and_stays_alone():
    laws = [bipolar(3.0), bipolar(0.05)]
    found = train_with_noise(initial_instances(8, 16, 2, seed=0), laws, eta=0.1, steps=400, record=[400], seed=0)
    assert np.isnan(found.W[0, 0]).all() and np.isnan(found.direction[0, 0]).all()
    assert np.isfinite(found.W[0, 1]).all()


def test_noise_has_the_streams_and_size_it_should():
    source = noisy_training._Noise(
        [incidental.bipolar(0.1), incidental.normal(2.0), incidental.bipolar(0.5)], (2, 3, 4), 0, torch.device("cpu")
    )
    xi = source.block(4000).numpy()
    assert xi.shape == (4000, 3, 2, 3, 4)
    assert set(np.unique(np.abs(xi[:, 0]))) == {0.1} and set(np.unique(np.abs(xi[:, 2]))) == {0.5}
    se = 2.0 / np.sqrt(2 * xi[:, 1].size)
    assert xi[:, 1].std() == pytest.approx(2.0, abs=4 * se)
    signs = np.sign(xi[:, [0, 2]]).reshape(4000, -1)
    correlation = signs.T @ signs / 4000 - np.eye(48)
    assert abs(correlation).max() < 5.5 / np.sqrt(4000)  # 1128 pairs of independent signs


ONE = np.ones((1, 2, 2))


def test_laws_are_one_or_one_per_instance():
    with pytest.raises(ValueError, match="laws has 0 entries; allowed: one law, or 1, one per instance"):
        train_with_noise(ONE, [], eta=0.1, steps=1, record=[])
