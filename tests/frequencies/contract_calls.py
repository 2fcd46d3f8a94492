"""One valid call of each public function of the wing, small enough to be made a few hundred times."""

import numpy as np
from superposition import frequencies

P = np.array([0.5, 0.2, 0.1])
TRAINING = {"steps": 2, "batch": 4, "lr": 0.01, "bias_spread": 0.5, "largest": 1.0, "pull": 0.5, "seed": 0,
            "eval_samples": 64}  # fmt: skip

CALLS = [
    (frequencies.power_law, {"ns": 4, "exponent": 1.5, "total": 0.5}),
    (frequencies.shares, {"W_in": np.array([[1.0, 0.5, 0.2], [0.1, -0.4, 0.3]]), "p": P}),
    (frequencies.tied_shares, {"p": P, "nd": 2}),
    (frequencies.even_shares, {"p": P, "nd": 2}),
    (frequencies.rug_losses, {"p": 0.1, "share": 0.4}),
    (frequencies.unequal_rug, {"p": P, "share": np.array([0.8, 0.7, 0.5]), "seed": 0}),
    (frequencies.few_active_losses, {"p": P, "share": np.array([0.8, 0.7, 0.5]), "samples": 80, "seed": 0}),
    (frequencies.tuned_losses, {"W": np.eye(3) + 0.1, "p": P, "samples": 20, "seed": 0}),
    (frequencies.train_unequal, {"p": P, "nd": 2, "importance": 1.0, **TRAINING, "device": "cpu"}),
    (
        frequencies.train_unequal_alive,
        {
            "p": P,
            "nd": 2,
            "way": "revived",
            "steps": 2,
            "batch": 4,
            "lr": 0.01,
            "seed": 0,
            "eval_samples": 64,
            "device": "cpu",
        },
    ),
    (frequencies.allocate, {"p": P, "nds": [2], "importance": 2.0, "phases": ["fan"]}),
]
