"""Models trained side by side are those trained one by one."""

import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from superposition import optimise
from superposition.rug import batched_training, training

CELLS = [(4, 0.05, 0), (13, 0.05, 1), (32, 0.5, 2), (1, 1.0, 3), (13, 0.01, 0)]


def settings(nd=4, p=0.05, seed=0, **changed):
    one = training.checked_settings(32, nd, p, 40, 128, None, None, "recipe", seed, "cpu")
    return replace(one, **changed)


@pytest.mark.parametrize("together", [1, 2 * 128 * 32, 2**19], ids=["alone", "pairs", "all"])
def test_each_model_is_the_one_trained_alone(monkeypatch, together):
    monkeypatch.setattr(batched_training, "TOGETHER", together)
    models = batched_training.train_many([settings(*cell) for cell in CELLS], eval_samples=256)
    for cell, model in zip(CELLS, models, strict=True):
        assert_is_the_one_trained_alone(cell, model)


def assert_is_the_one_trained_alone(cell, model):
    nd, p, seed = cell
    alone = training.train(32, nd, p, steps=40, batch=128, seed=seed, eval_samples=256)
    other = training.train(32, nd, p, steps=40, batch=128, seed=seed + 1, eval_samples=256)
    assert model.settings == alone.settings
    # 40 steps of float32 on weights of order 0.1 to 1; another seed moves them by more than a hundred times that
    for name in ("W_in", "W_out", "bias", "loss_history"):
        np.testing.assert_allclose(getattr(model, name), getattr(alone, name), rtol=1e-4, atol=2e-5, err_msg=name)
    assert np.abs(alone.W_in - other.W_in).max() > 0.01
    np.testing.assert_allclose([model.loss, model.loss_se], [alone.loss, alone.loss_se], rtol=1e-4)


@pytest.fixture
def two_threads():
    """Of torch, as on a machine of two cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("limit", "value", "groups"), [("TOGETHER", 1, 4), ("ALONE", 0, 4), ("TOGETHER", 2**19, 2)], ids=str
)
def test_two_threads_at_once_mix_nothing_up(monkeypatch, two_threads, limit, value, groups):
    cells, seen, adam = CELLS[:4], [], optimise.adam
    meeting = threading.Barrier(2, timeout=60)  # no group takes a step unless another takes one in another thread

    def step_by_step(*weights, **options):
        for step in adam(*weights, **options):
            meeting.wait()
            seen.append((threading.get_ident(), torch.get_num_threads()))
            yield step
            meeting.wait()

    with monkeypatch.context() as patch:
        patch.setattr(batched_training, "DIVIDED", 0)
        patch.setattr(batched_training, limit, value)
        patch.setattr(optimise, "adam", step_by_step)
        models = batched_training.train_many([settings(*cell) for cell in cells], eval_samples=256)
    assert len(seen) == groups * 40 and len({thread for thread, _ in seen}) == 2
    assert {threads for _, threads in seen} == {1} and torch.get_num_threads() == 2
    for cell, model in zip(cells, models, strict=True):
        assert_is_the_one_trained_alone(cell, model)


def test_progress_counts_all_groups(monkeypatch):
    monkeypatch.setattr(batched_training, "TOGETHER", 1)
    seen = []
    batched_training.train_many([settings(), settings(seed=1)], eval_samples=2, progress=lambda *at: seen.append(at))
    assert seen == [(done, 80) for done in range(1, 81)]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([], "settings = .* is empty"),
        ([settings(), settings(lr=0.5)], "lr = .*allowed: one value"),
        ([settings(protocol="text")], "protocol = 'text'"),
        ([settings(products="bfloat16")], "products = 'bfloat16'"),
    ],
)
def test_what_cannot_go_together(wrong, message):
    with pytest.raises(ValueError, match=message):
        batched_training.train_many(wrong)
