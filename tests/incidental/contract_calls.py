"""One valid call of each name on the face, small enough to be made a few hundred times."""

import numpy as np
from superposition import incidental

W = np.array([[0.9, 0.1, -0.2], [-0.3, 0.8, 0.1]])
LAW = incidental.bipolar(0.1)

CALLS = [
    (incidental.expected, {"n": 3, "m": 4}),
    (incidental.count_polysemantic, {"W": W, "threshold": 0.5}),
    (incidental.loss, {"W": W, "lambda_": 0.1}),
    (incidental.gradient, {"W": W, "lambda_": 0.1}),
    (incidental.forces, {"W": W, "lambda_": 0.1}),
    (incidental.threshold, {"norm_squared": 0.5, "lambda_": 0.1}),
    (incidental.bipolar, {"sigma": 0.1}),
    (incidental.uniform, {"sigma": 0.1}),
    (incidental.normal, {"sigma": 0.1}),
    (incidental.laplace, {"sigma": 0.1}),
    (incidental.discrete, {"sigma": 0.1, "kurtosis": 1.0}),
    (incidental.four_point, {"kurtosis": -1.0, "kappa6": 28.0, "sigma": 0.1}),
    (incidental.expected_loss, {"W": W, "law": LAW}),
    (incidental.expected_loss_grad, {"W": W, "law": LAW}),
    (incidental.trajectory, {"w0": W[0], "lambda_": 0.1, "times": np.array([0.0, 1.0])}),
    (incidental.trajectory(W[0], 0.1, [1.0]).weights, {"t": 0.5}),
]
