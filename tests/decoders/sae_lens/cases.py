"""Dictionaries, features and codes that are scored here and by SAELens: the same arrays from the same seeds."""

import numpy as np

SAMPLES = 2000
CASES = {  # latents, noise of their directions, price
    "as many latents as features": (64, 0.2, 0.05),
    "fewer": (32, 0.3, 0.1),
    "more, some of them twice": (96, 0.1, 0.05),
    "at random": (64, 100.0, 0.2),
    "turned round": (64, 0.2, 0.05),
}


def case(name):
    """Truth (24, 64), features (2000, 64), and an autoencoder: W_enc (24, k), b_enc, W_dec (k, 24), b_dec."""
    latents, noise, price = CASES[name]
    rng = np.random.default_rng(len(name))
    truth = rng.standard_normal((24, 64))
    truth /= np.linalg.norm(truth, axis=0)
    x = rng.random((SAMPLES, 64)) * (rng.random((SAMPLES, 64)) < 0.05)
    chosen = rng.permutation(64)[:latents] if latents <= 64 else rng.integers(64, size=latents)
    W_dec = truth.T[chosen] + noise * rng.standard_normal((latents, 24)) / np.sqrt(24)
    if name == "turned round":
        W_dec[::2] *= -1
    W_dec *= rng.uniform(0.5, 2, latents)[:, None] / np.linalg.norm(W_dec, axis=1, keepdims=True)
    b_enc = -price * np.ones(latents)
    b_enc[:3] = -10  # dead
    return truth, x, {"W_enc": W_dec.T.copy(), "b_enc": b_enc, "W_dec": W_dec, "b_dec": 0.02 * rng.standard_normal(24)}
