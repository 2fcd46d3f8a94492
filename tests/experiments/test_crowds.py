"""Networks beside the best crowd: for how long they are trained, and which losses are kept."""

from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest
from superposition import receptive
from superposition.experiments import crowds

TASK = {"n": 12, "xi1": 1.0, "xi2": 0.5, "gain": 3.0, "biased": True}
TRAINING = {"K": 4, "steps": 7, "lr": 0.3, "batch": 20, "samples": 100, "most": 1, "seed": 0}


@pytest.mark.parametrize(
    ("losses", "kept", "still"),
    [((0.4, 0.3, 0.2995, 0.2992), 4, 1), ((0.3, 0.2999, 0.2998), 3, 1), ((0.5, 0.4, 0.3, 0.299, 0.25), 5, 0)],
)
def test_a_training_is_doubled_until_two_doublings_change_nothing(monkeypatch, losses, kept, still):
    asked = []

    def loss(task, fresh, *, steps, **_):
        asked.append(steps)
        return losses[len(asked) - 1]

    monkeypatch.setattr(crowds, "FRESH", 200)
    monkeypatch.setattr(crowds, "_trained_loss", loss)
    monkeypatch.setattr(crowds, "_polished", lambda crowd, task, **_: (crowd.fields, crowd.biases))
    one = receptive.Mixture(np.eye(1, 12), np.full(1, 0.1), 0.0, 0.0)
    monkeypatch.setattr(receptive, "best_crowd", lambda data, **_: one)
    monkeypatch.setattr(receptive, "steepest_pair", lambda *_, **__: (np.eye(1, 13)[0], -0.5))
    found = crowds.ended(**TASK, **TRAINING)
    assert asked == [7 * 2**k for k in range(kept)]
    assert (found["trained_loss"], found["before"]) == (losses[kept - 1], losses[kept - 2])
    assert (found["longest"], found["still"]) == (asked[-1], still)


def loss_of(fields, biases, pair):
    """Half the squared error of the mean over all shifts of each field and its clone of the other sign."""
    found = 0.0
    for x, y in zip(pair, (1, 0), strict=True):
        x, out = np.asarray(x, float), 0.0
        for w, c in zip(fields, biases, strict=True):
            u = np.stack([x @ np.roll(w, shift) for shift in range(len(w))])
            out = out + (np.maximum(u + c, 0) + np.maximum(c - u, 0)).mean(axis=0) / 2
        found += ((out - y) ** 2).mean() / 4
    return found


@pytest.mark.parametrize("biased", [True, False])
def test_the_first_step_of_the_polish_is_against_the_gradient(monkeypatch, biased):
    rng, task, far = np.random.default_rng(4), (6, 1.5, 0.6, 2.0), 3 + 2 * crowds.APART
    fields, biases = 0.4 * rng.standard_normal((2, 6)), np.array([-0.2, 0.1])
    monkeypatch.setattr(crowds, "POLISH", 1)
    crowd = SimpleNamespace(fields=fields, biases=biases)
    W, b = crowds._polished(crowd, task, biased=biased, seed=3, device="cpu")
    (pair,) = islice(receptive.nlgp_batches(*task, 1000, seed=far, device="cpu"), 1)
    start, step = np.concatenate([fields.ravel(), biases]), 1e-4

    def loss(flat):
        return loss_of(flat[:12].reshape(2, 6), flat[12:], [part.numpy() for part in pair])

    slopes = np.array([loss(start + step * one) - loss(start - step * one) for one in np.eye(14)])
    moved = np.concatenate([(W - fields).ravel(), b - biases])
    np.testing.assert_allclose(
        moved[: 14 if biased else 12], -0.01 * np.sign(slopes)[: 14 if biased else 12], rtol=1e-3
    )
    assert biased or np.all(np.abs(moved[12:]) < 1e-7)


@pytest.mark.parametrize("biased", [True, False])
def test_many_fields_begin_equally_large_and_meet_a_network_on_the_same_vectors(monkeypatch, biased):
    asked = []

    def polished(crowd, task, **form):
        asked.append((crowd, task, form))
        return crowd.fields, crowd.biases

    monkeypatch.setattr(crowds, "FRESH", 300)
    monkeypatch.setattr(crowds, "_polished", polished)
    found = crowds.spread(**TASK | {"biased": biased}, **TRAINING | {"most": 5})
    [(crowd, task, form)] = asked
    assert (task, form) == ((12, 1.0, 0.5, 3.0), {"biased": biased, "seed": 0, "device": "cpu"})
    data, fresh = receptive.sample_waves(*task, 100, seed=0), receptive.sample_waves(*task, 300, seed=crowds.APART)
    sizes = [receptive.root_mean_square(w, data)[0] for w in crowd.fields]
    np.testing.assert_allclose(sizes, 4 / 5, rtol=1e-6)
    assert np.array_equal(crowd.biases, np.full(5, -0.4 * biased))
    assert found["size"] == pytest.approx(5 * np.hypot(0.8, 0.4 * biased))
    assert found["loss"] == receptive.crowd_loss(crowd.fields, crowd.biases, fresh)[0]
    joined, searched = receptive.steepest_pair(crowd.fields, crowd.biases, data, biased=biased, seed=0)
    ours = receptive.crowd_errors(crowd.fields, crowd.biases, fresh)
    assert found["searched"] == searched
    assert found["slope"] == receptive.joining_slope(joined[:12], joined[12], ours, fresh)[0]
    training = {"K": 4, "biased": biased, "steps": 7, "lr": 0.3, "batch": 20, "seed": 0, "device": "cpu"}
    assert found["trained_loss"] == pytest.approx(crowds._trained_loss(task, fresh, **training))
    theirs = crowds._network_errors(task, fresh, **training)
    apart = [np.var((one**2 - two**2) / 4) / 300 for one, two in zip(theirs, ours, strict=True)]
    assert found["above_se"] == pytest.approx(sum(apart) ** 0.5)
