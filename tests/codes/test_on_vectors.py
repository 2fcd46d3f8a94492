"""Training on feature vectors that a function gives."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from superposition import codes  # noqa: E402


def alone(step, weights, generator):
    """Vectors of the task itself, as `train_exclusive_first` draws them for groups that fit."""
    x = torch.rand(64, 20, generator=generator)
    return x * (torch.rand(64, 20, generator=generator) < 0.1), 0.1


def test_on_vectors_of_the_task_it_trains_as_the_task_alone_does():
    given = codes.train_on_vectors(20, 8, alone, steps=30, seed=3)
    own = codes.train_exclusive_first(20, 8, 0.1, lesson=0.0, steps=30, batch=64, seed=3)
    for one, other in zip(given, own, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_function_sees_each_step_and_may_change_the_weights():
    seen = []

    def vectors(step, weights, generator):
        seen.append(step)
        weights[0][:, 5:] = 0.0  # with features that are always off, these columns have no gradient
        return alone(step, weights, generator)[0] * (torch.arange(20) < 5), 0.1

    code = codes.train_on_vectors(20, 8, vectors, steps=4)
    assert seen == [0, 1, 2, 3] and not code.W_in[:, 5:].any() and code.W_in[:, :5].all()


def test_a_learning_rate_that_warms_up_and_falls_and_weights_that_are_cut():
    codes_of = {steps: codes.train_on_vectors(20, 8, alone, steps=steps, lr=0.1, seed=1) for steps in (1, 2)}
    start = codes.train_on_vectors(20, 8, alone, steps=1, lr=1e-30, seed=1)
    moved = [np.abs(code.b - start.b).max() for code in codes_of.values()]
    np.testing.assert_allclose(moved[0], 0.1, rtol=1e-3)  # the first step of Adam is the rate itself
    assert 0.1 < moved[1] <= 0.1 + 0.05 * 1.01  # half of the rate in the second of two steps
    np.testing.assert_allclose(start.W_out, 2 * 8 / 20 * start.W_in.T, atol=1e-6)
    cut = codes.train_on_vectors(20, 8, alone, steps=3, largest=0.2)
    assert max(np.abs(cut.W_in).max(), np.abs(cut.W_out).max()) <= 0.2 + 1e-7


def test_a_hundredth_of_the_steps_is_the_warmth_of_the_rate(monkeypatch):
    rates = []
    monkeypatch.setattr(torch.optim.Adam, "step", lambda self: rates.append(self.param_groups[0]["lr"]))
    codes.train_on_vectors(4, 2, lambda *_: (torch.zeros(3, 4), 0.5), steps=400, lr=0.1)
    step = np.arange(400)
    cosine = 0.1 * (1 + np.cos(np.pi * step / 400)) / 2
    np.testing.assert_allclose(rates, cosine * np.minimum((step + 1) / 4, 1))


def test_refuses_vectors_of_another_shape_and_what_is_no_function():
    with pytest.raises(ValueError, match=r"vectors have shape \(64, 20\) at step 0; allowed: \(batch, 21\)"):
        codes.train_on_vectors(21, 8, alone)
    with pytest.raises(ValueError, match=r"vectors gave .* at step 0; allowed: feature vectors and a probability"):
        codes.train_on_vectors(20, 8, lambda *_: torch.zeros(3, 20))
    with pytest.raises(ValueError, match="p = 2 is out of range"):
        codes.train_on_vectors(20, 8, lambda *_: (torch.zeros(3, 20), 2))
    with pytest.raises(ValueError, match="vectors = 3 is not a function"):
        codes.train_on_vectors(21, 8, 3)
    with pytest.raises(ValueError, match="nd = 9 is out of range; allowed: whole numbers from 1 to 8"):
        codes.train_on_vectors(8, 9, alone)
