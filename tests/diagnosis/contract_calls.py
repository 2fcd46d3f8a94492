"""One valid call of each name on the face of the wing, small enough to be made a few hundred times."""

from pathlib import Path

import numpy as np
from superposition import diagnosis, features

ROW = np.array([0.3, -0.2, 0.1])
FILE = Path(__file__).parent / "files" / "tied-wide.npz"
SQUARE = np.array([[1.0, -0.4, 0.1], [0.3, 1.2, -0.2], [0.0, 0.1, 0.9]])
DRAWS = {"samples": 4, "seed": 0}


def into(x):
    """Encode two features in one dimension."""
    return x @ SQUARE[:1, :2].T


def back(h):
    """Decode them."""
    return np.maximum(h @ SQUARE[:1, :2], 0)


def sampler(rng, shape):
    """Features of the text's law at p = 0.1."""
    return features.sample(shape[1], 0.1, shape[0], seed=rng)


VECTORS = features.sample(2, 0.3, 100, seed=1)
LAW = {"mean": 0.05, "variance": 0.37 / 12, "sampler": sampler}

CALLS = [
    (diagnosis.FeatureLaw, LAW),
    (diagnosis.FeatureLaw(**LAW).draw, {"batch": 2, "ns": 3, "seed": 0}),
    (diagnosis.survey_files, {"folders": [FILE], "l0": 2.0, "seed": 0}),
    (diagnosis.code_structure, {"W": SQUARE}),
    (diagnosis.ablated_losses, {"W": SQUARE, "p": 0.05} | DRAWS),
    (diagnosis.measured_record, {"W": SQUARE, "b": ROW, "p": 0.05} | DRAWS),
    (diagnosis.check_record, {"W": SQUARE, "b": ROW, "p": 0.05} | DRAWS),
    (diagnosis.diagnose, {"W": SQUARE[:2, :2], "b": ROW[:2], "p": 0.05, "nd": 1} | DRAWS),
    (diagnosis.diagnose, {"W": SQUARE[:, :2], "W_out": SQUARE[:2], "b": ROW[:2], "p": 0.05} | DRAWS),
    (
        diagnosis.diagnose,
        {"W": SQUARE[:2, :2], "b": ROW[:2], "p": 0.05, "importance": [1, 0.5], "loss_as": "sum"} | DRAWS,
    ),
    (diagnosis.diagnose, {"W": SQUARE[:2, :2], "b": ROW[:2], "features": VECTORS, "strength": 0.5} | DRAWS),
    (diagnosis.diagnose, {"encode": into, "decode": back, "ns": 2, "p": 0.05} | DRAWS),
    (diagnosis.diagnose, {"W": SQUARE, "b": ROW, "law": diagnosis.FeatureLaw(**LAW)} | DRAWS),
]
