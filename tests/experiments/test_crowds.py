"""Networks beside the best crowd: for how long they are trained, and which losses are kept."""

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
