"""Noise in the hidden layer: its laws, the expected loss, and descent on it without any noise.

Source: Incidental Polysemanticity, section 3. The loss is summed over the n inputs e_i and the n
outputs: L = sum_i |ReLU(W (W_i + xi)) - e_i|^2. Output j on input i is the ReLU of
W_i . W_j + W_j . xi, so the expectation needs the law of W_j . xi alone, one row at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.incidental.tail_moments import moments, tails

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.incidental.noise_laws import Law


def expected_loss(W: ArrayLike, law: Law) -> float:
    """Expected loss, summed over the n inputs and the n outputs.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Tied weights; row i encodes feature i.
    law : Law
        Law of the noise on each neuron.

    Returns
    -------
    float
        Exact for discrete laws and the normal law; to about 1e-9 n^2 sigma^2 for the others.

    Raises
    ------
    ValueError
        If `W` is no finite matrix, or a discrete law has too many sums: bipolar noise goes up to
        m = 32, three points up to m = 20. The message has the count.

    Notes
    -----
    Source: Incidental Polysemanticity, section 3.1; the expectation is ours.

    Examples
    --------
    >>> from superposition import incidental
    >>> W = [[1.0, -0.1], [-0.1, 1.0]]  # overlaps of -0.2: noise of 0.1 does not get through if it is bipolar
    >>> round(incidental.expected_loss(W, incidental.bipolar(0.1)), 6)
    0.0204
    >>> round(incidental.expected_loss(W, incidental.normal(0.1)), 6)
    0.02052
    """
    W = checks.array("W", W, "n m")
    total = 0.0
    for j, w in enumerate(W):
        T = moments(W @ w, w, law)
        total += T[2].sum() - 2 * T[1, j] + 1
    return float(total)


def expected_loss_grad(W: ArrayLike, law: Law) -> Float[np.ndarray, "n m"]:
    """Gradient of `expected_loss` in W.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Tied weights.
    law : Law
        Law of the noise on each neuron.

    Returns
    -------
    numpy.ndarray, shape (n, m)

    Raises
    ------
    ValueError
        As `expected_loss`.

    Notes
    -----
    Source: Incidental Polysemanticity, section 3.1; the expectation is ours. A step of noisy
    descent is, on average, a step along this gradient.

    Examples
    --------
    >>> from superposition import incidental
    >>> incidental.expected_loss_grad([[1.0, 0.0], [-0.5, 0.5]], incidental.uniform(0.1)).round(4)
    array([[ 0.02, -0.  ],
           [ 0.99, -0.99]])
    """
    W = checks.array("W", W, "n m")
    by_overlap, direct = np.empty((len(W), len(W))), np.empty_like(W)
    for j, w in enumerate(W):
        found = tails(W @ w, w, law)
        by_overlap[:, j] = 2 * found.T[1]
        by_overlap[j, j] -= 2 * found.T[0, j]
        direct[j] = 2 * found.mixed[1].sum(axis=0) - 2 * found.mixed[0, j]
    return (by_overlap + by_overlap.T) @ W + direct


def kurtosis_term(W: ArrayLike, law: Law) -> float:
    """Leading term of the expected loss in the excess kurtosis of the noise.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Tied weights, no row zero.
    law : Law
        Law of the noise; sigma above 0.

    Returns
    -------
    float
        kappa4 / 24 times ||W_j||_4^4 times the fourth derivative of the Gaussian expected loss
        in each overlap W_i . W_j, summed.

    Raises
    ------
    ValueError
        If `W` is no finite matrix, has a zero row, or sigma is 0.

    Notes
    -----
    Source: ours, for Incidental Polysemanticity, section 3. For i != j and |W_j| = 1 a term is
    (k sigma^2 / 12) b phi(b) ||W_j||_4^4 with b = -W_i . W_j / sigma. Higher cumulants are of
    relative order ||W_j||_4^4 and not small for sparse rows.
    """
    W = checks.array("W", W, "n m")
    s = law.sigma * np.linalg.norm(W, axis=1)
    checks.real("sigma times the length of a row", s, 0, open_low=True)
    z = (W @ W.T) / s
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    fourth = -2 * z * density / s**2
    own = np.diag_indices(len(W))
    fourth[own] -= 2 * ((z**2 - 1) * density / s**3)[own]
    return float(law.kappa4 / 24 * np.sum(fourth * np.sum(W**4, axis=1)))


def fourth_norm_slope(W: ArrayLike, law: Law) -> float:
    """Rate at which descent on the expected loss changes the mean directional fourth norm.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Tied weights, no row zero.
    law : Law
        Law of the noise.

    Returns
    -------
    float
        d/d(eta t) of the mean over rows of ||W_i / |W_i| ||_4^4.

    Raises
    ------
    ValueError
        If a row is zero, or as `expected_loss`.

    Notes
    -----
    Source: ours, for Incidental Polysemanticity, section 4.
    """
    W = checks.array("W", W, "n m")
    lengths = checks.real("length of a row", np.linalg.norm(W, axis=1, keepdims=True), 0, open_low=True)
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
    """Gradient descent on the expected loss: training with its noise averaged out.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Start.
    law : Law
        Law of the noise.
    eta : float
        Learning rate, 0 or more; lengths relax at the rate 8 eta, so 0.1 is safe and 0.25 is not.
    steps : int
        Steps, at least 1.
    record : sequence of int
        After which steps to keep the weights, 0 to `steps`.
    progress : callable, optional
        Called as ``progress(done, total)`` now and then.

    Returns
    -------
    numpy.ndarray, shape (records, n, m)
        In increasing order of the steps.

    Raises
    ------
    ValueError
        If an argument is out of range, or as `expected_loss`.

    Notes
    -----
    Source: ours, for Incidental Polysemanticity, section 3.
    """
    W = checks.array("W", W, "n m").copy()
    eta = checks.number("eta", eta, 0, open_high=True)
    steps = checks.whole("steps", steps, 1)
    wanted = set(checks.wholes("record", record, 0, steps))
    kept = [W.copy()] if 0 in wanted else []
    for step in range(1, max(wanted, default=0) + 1):
        W -= eta * expected_loss_grad(W, law)
        if step in wanted:
            kept.append(W.copy())
        if progress is not None and step % 100 == 0:
            progress(step, steps)
    return np.array(kept)
