"""Noise in the hidden layer: its laws, the expected loss, and descent on it without any noise.

Source: Incidental Polysemanticity, section 3. The loss is summed over the n inputs e_i and the n
outputs: L = sum_i |ReLU(W (W_i + xi)) - e_i|^2. Output j on input i is the ReLU of
W_i . W_j + W_j . xi, so the expectation needs the law of W_j . xi alone, one row at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition.incidental.tail_moments import moments, sums, tails

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.incidental.noise_laws import Law


def expected_loss(W: ArrayLike, law: Law) -> float:
    """Expected loss of tied weights (n, m), summed over the n inputs and outputs (section 3.1, expected by us)."""
    W = np.asarray(W, float)
    total = 0.0
    for j, w in enumerate(W):
        T = moments(W @ w, w, law)
        total += T[2].sum() - 2 * T[1, j] + 1
    return float(total)


def expected_loss_grad(W: ArrayLike, law: Law) -> Float[np.ndarray, "n m"]:
    """Gradient of `expected_loss` in W: on average, a step of noisy descent is a step along it."""
    W = np.asarray(W, float)
    by_overlap, direct = np.empty((len(W), len(W))), np.empty_like(W)
    for j, w in enumerate(W):
        found = tails(W @ w, w, law)
        by_overlap[:, j] = 2 * found.T[1]
        by_overlap[j, j] -= 2 * found.T[0, j]
        direct[j] = 2 * found.mixed[1].sum(axis=0) - 2 * found.mixed[0, j]
    return (by_overlap + by_overlap.T) @ W + direct


def expected_loss_grads(W: ArrayLike, law: Law) -> Float[np.ndarray, "instances n m"]:
    """`expected_loss_grad` of many weights (instances, n, m) at once, where few m leave few noises to add up."""
    W = np.asarray(W, float)
    noises, chances = sums(law, W.shape[-1])
    noises = law.sigma * noises
    errors = (W @ W.mT)[..., None] + (W @ noises.T)[:, None]  # of outputs j on inputs i under every noise
    np.maximum(errors, 0, out=errors)
    for i in range(W.shape[1]):
        errors[:, i, i] -= errors[:, i, i] > 0
    mean = errors @ (2 * chances)
    return (mean + mean.mT) @ W + errors.sum(axis=1) @ (2 * chances[:, None] * noises)


def kurtosis_term(W: ArrayLike, law: Law) -> float:
    """Leading term of the expected loss of weights (n, m) in the excess kurtosis of the noise. Ours."""
    # kappa4 / 24 times ||W_j||_4^4 times the fourth derivative of the Gaussian expected loss in each overlap W_i . W_j,
    # summed. For i != j and |W_j| = 1 a term is (k sigma^2 / 12) b phi(b) ||W_j||_4^4 with b = -W_i . W_j / sigma.
    # Higher cumulants are of relative order ||W_j||_4^4 and not small for sparse rows.
    W = np.asarray(W, float)
    s = law.sigma * np.linalg.norm(W, axis=1)
    z = (W @ W.T) / s
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    fourth = -2 * z * density / s**2
    own = np.diag_indices(len(W))
    fourth[own] -= 2 * ((z**2 - 1) * density / s**3)[own]
    return float(law.kappa4 / 24 * np.sum(fourth * np.sum(W**4, axis=1)))


def fourth_norm_slope(W: ArrayLike, law: Law) -> float:
    """Rate d/d(eta t) of the mean over rows of ||W_i / |W_i| ||_4^4 in descent on the expected loss. Ours."""
    W = np.asarray(W, float)
    lengths = np.linalg.norm(W, axis=1, keepdims=True)
    u, G = W / lengths, expected_loss_grad(W, law)
    sideways = G - np.sum(G * u, axis=1, keepdims=True) * u
    return float(np.mean(np.sum(-4 * u**3 * sideways / lengths, axis=1)))


def descend(
    W: ArrayLike,
    law: Law,
    *,
    eta: float,
    steps: int,
    record: Sequence[int],
    progress: Callable[[int, int], object] | None = None,
) -> Float[np.ndarray, "records n m"]:
    """Weights (records, n, m) of gradient descent on the expected loss: training with its noise averaged out. Ours."""
    # Lengths relax at the rate 8 eta, so 0.1 is safe and 0.25 is not.
    W = np.array(W, float)
    wanted = set(record)
    kept = [W.copy()] if 0 in wanted else []
    for step in range(1, max(wanted, default=0) + 1):
        W -= eta * expected_loss_grad(W, law)
        if step in wanted:
            kept.append(W.copy())
        if progress is not None and step % 100 == 0:
            progress(step, steps)
    return np.array(kept)
