"""Toy models trained on a fixed set of feature vectors: what they learn when data are few. Needs torch.

Source: Henighan and others (2023), Superposition, Memorization, and Double Descent. There features are normalised
to vectors of length one and weights decay; here they are those of this book, with no decay.
"""

from __future__ import annotations

import numpy as np

from superposition import checks, features, optimise
from superposition.devices import resolve_device, torch

TESTED = 20_000  # fresh feature vectors


def trained_on(
    *, n: int, m: int, p: float, vectors: int, steps: int, seed: int, device: str = "auto"
) -> dict[str, float]:
    """Train ReLU(W^T W x + b) on a fixed set of feature vectors, all of them in every step.

    Parameters
    ----------
    n : int
        Number of features, at least 1.
    m : int
        Number of hidden dimensions, from 1 to n.
    p : float
        Probability that a feature is on, in (0, 1].
    vectors : int
        How many feature vectors there are, at least 1.
    steps : int
        Training steps by Adam, at least 1; the rate falls from 0.02 to zero along a cosine.
    seed : int
        Seed of the weights, the training vectors and the fresh ones.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float
        ``train`` and ``test``, squared errors of training vectors and of fresh ones over that of the best constant
        answer, n Var[x]; ``test_se``, the standard error of the second; ``represented``, the number of features with
        |W_i|^2 above a quarter of the largest.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> few = trained_on(n=20, m=3, p=0.1, vectors=5, steps=300, seed=0, device="cpu")
    >>> few["train"] < 0.2 < 0.8 < few["test"]
    True
    """
    n = checks.whole("n", n, 1)
    m, p = checks.whole("m", m, 1, n), features.one_probability(p)
    vectors, steps = checks.whole("vectors", vectors, 1), checks.whole("steps", steps, 1)
    rng, on = np.random.default_rng(checks.whole("seed", seed, 0)), resolve_device(device)
    known, fresh = (
        torch.from_numpy(features.sample(n, p, size, seed=rng)).float().to(on) for size in (vectors, TESTED)
    )
    W = torch.from_numpy(rng.standard_normal((m, n)) * np.sqrt(2 / (m + n))).float().to(on).requires_grad_()
    b = torch.zeros(n, device=on, requires_grad=True)

    def errors(x):
        return ((x - torch.relu(x @ W.T @ W + b)) ** 2).sum(1)

    for _ in optimise.adam([W, b], optimise.by_autograd([W, b], lambda: errors(known).mean()), steps=steps, lr=0.02):
        pass
    with torch.no_grad():
        train, test = ((errors(x).double() / (n * float(features.variance(p)))).cpu().numpy() for x in (known, fresh))
        norms = W.norm(dim=0) ** 2
    return {
        "train": float(train.mean()),
        "test": float(test.mean()),
        "test_se": float(test.std(ddof=1) / np.sqrt(TESTED)),
        "represented": float((norms > norms.max() / 4).sum()),
    }
