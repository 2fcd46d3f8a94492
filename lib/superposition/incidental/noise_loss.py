"""Noise in the hidden layer: its laws, the expected loss, and descent on it without any noise.

Source: Incidental Polysemanticity, section 3. The loss is summed over the n inputs e_i and the n
outputs: L = sum_i |ReLU(W (W_i + xi)) - e_i|^2. Output j on input i is the ReLU of
W_i . W_j + W_j . xi, so the expectation needs the law of W_j . xi alone, one row at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.incidental import ranges as own
from superposition.incidental.noise_laws import one_law
from superposition.incidental.tail_moments import noise_sums, relu_moments, tails

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.incidental.noise_laws import Law


@checked(W=ranges.array("n m"), law=one_law)
def expected_loss(W: ArrayLike, law: Law) -> float:
    """Expected loss of tied weights (n, m), summed over the n inputs and the n outputs.

    Returns
    -------
    float
        Exact for discrete laws and the normal law; to about 1e-9 n^2 sigma^2 for the others.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or a discrete law has too many sums: bipolar noise goes up to m = 32,
        three points up to m = 20. The message has the count.

    Notes
    -----
    Source: section 3.1; the expectation is ours. Use `loss` without noise.

    Examples
    --------
    >>> from superposition.incidental import bipolar, normal
    >>> W = [[1.0, -0.1], [-0.1, 1.0]]  # overlaps of -0.2: noise of 0.1 does not get through if it is bipolar
    >>> round(expected_loss(W, bipolar(0.1)), 6), round(expected_loss(W, normal(0.1)), 6)
    (0.0204, 0.02052)
    """
    W = np.asarray(W, float)
    total = 0.0
    for j, w in enumerate(W):
        T = relu_moments(W @ w, w, law)
        total += T[2].sum() - 2 * T[1, j] + 1
    return float(total)


@checked(W=ranges.array("n m"), law=one_law)
def expected_loss_grad(W: ArrayLike, law: Law) -> Float[np.ndarray, "n m"]:
    """Gradient (n, m) of `expected_loss` in W: on average, a step of noisy descent is a step along it.

    Source: section 3.1; the expectation is ours. Use `expected_loss_grad_each` for many networks with few neurons.

    Raises
    ------
    ValueError
        As `expected_loss`.

    Examples
    --------
    >>> from superposition.incidental import uniform
    >>> expected_loss_grad([[1.0, 0.0], [-0.5, 0.5]], uniform(0.1)).round(4)
    array([[ 0.02, -0.  ],
           [ 0.99, -0.99]])
    """
    W = np.asarray(W, float)
    by_overlap, direct = np.empty((len(W), len(W))), np.empty_like(W)
    for j, w in enumerate(W):
        found = tails(W @ w, w, law)
        by_overlap[:, j] = 2 * found.T[1]
        by_overlap[j, j] -= 2 * found.T[0, j]
        direct[j] = 2 * found.mixed[1].sum(axis=0) - 2 * found.mixed[0, j]
    return (by_overlap + by_overlap.T) @ W + direct


def sums_fit(W: np.ndarray, law: Law) -> None:
    """Refuse networks and noises that together are larger than memory."""
    count = len(W) * W.shape[1] ** 2 * max(1, len(law.points)) ** W.shape[2]
    if count > own.MOST:
        raise ValueError(f"W of shape {W.shape} needs {count} numbers; allowed: up to {own.MOST}")


@checked(sums_fit, W=ranges.array("instances n m"), law=one_law)
def expected_loss_grad_each(W: ArrayLike, law: Law) -> Float[np.ndarray, "instances n m"]:
    """`expected_loss_grad` of many weights (instances, n, m) at once, under a discrete law and with few neurons.

    Source: ours, for section 3.1.

    Examples
    --------
    >>> from superposition.incidental import bipolar
    >>> expected_loss_grad_each([[[1.0, 0.0], [-0.5, 0.5]]], bipolar(0.1)).round(4)
    array([[[ 0.02,  0.  ],
            [ 0.99, -0.99]]])
    """
    W = np.asarray(W, float)
    noises, chances = noise_sums(law, W.shape[-1])
    noises = law.sigma * noises
    errors = (W @ W.mT)[..., None] + (W @ noises.T)[:, None]  # of outputs j on inputs i under every noise
    np.maximum(errors, 0, out=errors)
    for i in range(W.shape[1]):
        errors[:, i, i] -= errors[:, i, i] > 0
    mean = errors @ (2 * chances)
    return (mean + mean.mT) @ W + errors.sum(axis=1) @ (2 * chances[:, None] * noises)


@checked(W=own.rows("n m"), law=one_law)
def fourth_norm_slope(W: ArrayLike, law: Law) -> float:
    """Rate d/d(eta t) of the mean over rows of ||W_i / |W_i| ||_4^4 in descent on the expected loss.

    Source: ours, for section 3. Use `row_push` for one row at fixed overlaps.

    Examples
    --------
    >>> from superposition.incidental import bipolar
    >>> round(fourth_norm_slope([[0.9, 0.2], [-0.3, 0.8]], bipolar(0.4)), 4)
    -0.0686
    """
    W = np.asarray(W, float)
    lengths = np.linalg.norm(W, axis=1, keepdims=True)
    u, G = W / lengths, expected_loss_grad(W, law)
    sideways = G - np.sum(G * u, axis=1, keepdims=True) * u
    return float(np.mean(np.sum(-4 * u**3 * sideways / lengths, axis=1)))


@checked(
    own.descent_settles, own.recorded, W=ranges.array("n m"), law=one_law, eta=own.rate, steps=ranges.whole(0, 10**7),
    record=ranges.wholes(0), progress=ranges.function,
)  # fmt: skip
def descend_expected_loss(
    W: ArrayLike, law: Law, *, eta: float, steps: int, record: Sequence[int],
    progress: Callable[[int, int], object] | None = None,
) -> Float[np.ndarray, "records n m"]:  # fmt: skip
    """Weights (records, n, m) of gradient descent on the expected loss: training with its noise averaged out.

    Source: ours, for section 3. Lengths relax at the rate 8 eta. Use `train_with_noise` for training with its noise.

    Examples
    --------
    >>> from superposition.incidental import bipolar
    >>> descend_expected_loss([[0.6, 0.5]], bipolar(0.1), eta=0.1, steps=100, record=[0, 100]).round(3)
    array([[[0.6  , 0.5  ]],
    <BLANKLINE>
           [[0.766, 0.639]]])
    """
    # Lengths relax at the rate 8 eta, so 0.1 is safe and 0.25 is not.
    W = np.array(W, float)
    wanted = set(record)
    kept = [W.copy()] if 0 in wanted else []
    for step in range(1, max(wanted, default=0) + 1):
        W -= eta * expected_loss_grad.unchecked(W, law)
        if step in wanted:
            kept.append(W.copy())  # pyrefly: ignore[missing-attribute]: an array, as above
        if progress is not None and step % 100 == 0:
            progress(step, steps)
    return np.array(kept)
