"""One valid call of each public function that trains; what takes models and settings is left to their own tests."""

from functools import wraps

import numpy as np
from superposition.rug import gaussian_training, stopping, training, walsh_descent

HISTORY = np.array([0.5, 0.4, 0.3, 0.35, 0.36])


def loss_of(train):
    """The loss of what was trained: the weights themselves are float32."""

    @wraps(train)
    def trained(**arguments):
        return train(**arguments).loss

    return trained


CALLS = [
    (training.default_lr, {"ns": 64, "protocol": "recipe"}),
    (
        loss_of(training.train),
        {"ns": 4, "nd": 2, "p": 0.5, "steps": 1, "batch": 64, "lr": 1e-3, "schedule": "cosine", "protocol": "recipe"}
        | {"seed": 0, "device": "cpu", "eval_samples": 2},
    ),
    (gaussian_training.row_losses, {"a": 1.2, "b": -0.4, "variance": 0.06, "p": 0.05}),
    (
        loss_of(gaussian_training.train_meanfield),
        {"ns": 4, "nd": 2, "p": 0.5, "steps": 1, "lr": 1e-3, "seed": 0, "device": "cpu"},
    ),
    (stopping.first_pause, {"history": HISTORY, "window": 1}),
    (stopping.first_below, {"history": HISTORY, "level": 0.38, "window": 1}),
    (walsh_descent.partner_share, {"indices": np.array([1, 3]), "ns": 4}),
    (walsh_descent.layered_indices, {"ns": 8, "nd": 3, "bits": 2, "seed": 0}),
    (
        loss_of(walsh_descent.descend),
        {"ns": 4, "nd": 2, "p": 0.5, "steps": 1, "lr": 0.01, "batch": 4, "seed": 0, "device": "cpu"},
    ),
]
