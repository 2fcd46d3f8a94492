"""The least interference of a low-rank matrix: the bound on sigma, link by link.

Source: The Persian Rug, section 4.2.1 and Appendix C. The matrix W (ns, ns) of rank nd is
divided row by row by its diagonal; the noise of row i is then V sum_{j != i} W_ij^2, with V the
variance of a feature. Here everything is in units of V, so no law of the features enters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.rug.ranges import rank, squares, with_diagonal
from superposition.rug.tight_frames import unit_vectors

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Chain:
    """The links of the proof, each a mean over rows; no link is above the one before.

    ``entries`` = ||W||^2 / ns, ``schur`` = sum |lambda|^2 / ns, ``cauchy_schwarz`` =
    (sum |lambda|)^2 / (nd ns) and ``trace`` = |sum lambda|^2 / (nd ns) = ns / nd.
    """

    entries: float
    schur: float
    cauchy_schwarz: float
    trace: float

    @property
    def losses(self) -> tuple[float, float, float]:
        """Differences of neighbouring links, one for each inequality (Schur, Cauchy-Schwarz, triangle)."""
        return (self.entries - self.schur, self.schur - self.cauchy_schwarz, self.cauchy_schwarz - self.trace)


@dataclass(frozen=True)
class NoiseDescent:
    """``W``, where the descent ended, and ``history``, the mean noise before and after every step."""

    W: np.ndarray
    history: np.ndarray


@checked(rank, ns=ranges.whole(1, checks.LARGEST_WHOLE), nd=ranges.whole(1, checks.LARGEST_WHOLE))
def smallest_noise(ns: int, nd: int) -> float:
    """Least mean of sum_{j != i} W_ij^2 over the rows of a matrix (ns, ns) of rank nd with unit diagonal, ns / nd - 1.

    Notes
    -----
    Source: The Persian Rug, eq. 6 and eq. 21, in units of Var[x]. Use `noise_std` instead for the standard deviation.

    Examples
    --------
    >>> smallest_noise(256, 64)
    3.0
    """
    return ns / nd - 1


@checked(W=with_diagonal)
def with_unit_diagonal(W: ArrayLike) -> Float[np.ndarray, "ns ns"]:
    """W (ns, ns) with every row divided by its diagonal entry; the rank stays.

    Notes
    -----
    Source: The Persian Rug, section 4.2.1.

    Examples
    --------
    >>> with_unit_diagonal([[2, 1], [1, 4]])
    array([[1.  , 0.5 ],
           [0.25, 1.  ]])
    """
    W = np.asarray(W, float)
    diagonal = np.diag(W)
    return W / diagonal[:, None]


@checked(W=with_diagonal)
def row_noise(W: ArrayLike) -> Float[np.ndarray, " ns"]:
    """Noise of every row in units of Var[x], sum_{j != i} (W_ij / W_ii)^2, shape (ns,).

    Notes
    -----
    Source: The Persian Rug, eq. 19; its mean is at least `smallest_noise`.

    Examples
    --------
    >>> row_noise([[2, 1], [1, 4]])
    array([0.25  , 0.0625])
    """
    return (with_unit_diagonal(W) ** 2).sum(axis=1) - 1


@checked(lambda W, nd: rank(len(W), nd), W=with_diagonal, nd=ranges.whole(1))
def noise_chain(W: ArrayLike, nd: int) -> Chain:
    """Links of the proof that `smallest_noise` is a bound, for one matrix W (ns, ns) of rank at most nd.

    Returns
    -------
    Chain
        Fields ``entries``, ``schur``, ``cauchy_schwarz``, ``trace``, and the ``losses`` between them.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or the rank of `W` is above `nd`.

    Notes
    -----
    Source: The Persian Rug, eq. 18 and eq. 20; rows are divided by their diagonal entries first.

    Examples
    --------
    >>> round(noise_chain([[2, 1], [1, 2]], nd=2).schur, 4)
    1.25
    """
    W, ns = with_unit_diagonal(W), len(W)  # pyrefly: ignore[bad-argument-type]: a matrix
    singular = np.linalg.svd(W, compute_uv=False)
    rank = int(np.sum(singular > 1e-6 * singular[0]))  # float32 weights are of rank nd to 1e-7 only
    if rank > nd:
        raise ValueError(f"W has rank {rank}; allowed: up to nd = {nd}")
    # for complex eigenvalues the text's last step hides a third inequality, |sum lambda| <= sum |lambda|
    sizes = np.abs(np.linalg.eigvals(W))
    return Chain(
        entries=float(np.sum(W**2) / ns),
        schur=float(np.sum(sizes**2) / ns),
        cauchy_schwarz=float(np.sum(sizes) ** 2 / nd / ns),
        trace=float(np.trace(W) ** 2 / nd / ns),
    )


@checked(rank, ns=ranges.whole(2, checks.LARGEST_WHOLE), nd=ranges.whole(1, checks.LARGEST_WHOLE))
def welch_bound(ns: int, nd: int) -> float:
    """Least coherence: some pair of ns unit vectors in nd dimensions has abs(cosine) at least this.

    Notes
    -----
    Source: Welch (1974), by The Persian Rug, eq. 6.

    Examples
    --------
    >>> round(welch_bound(64, 28), 4)
    0.1429
    """
    # the largest entry of a row is at least the root mean square that eq. 6 leaves to it
    return float(np.sqrt(smallest_noise(ns, nd) / (ns - 1)))


@checked(lambda W, nd: rank(len(W), nd), W=squares, nd=ranges.whole(1))
def symmetrised_code(W: ArrayLike, nd: int) -> Float[np.ndarray, "ns ns"]:
    """Nearest symmetric matrix (ns, ns) of rank nd without negative eigenvalues, scaled to unit diagonal.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or the matrix does not represent a feature at all.

    Examples
    --------
    >>> symmetrised_code([[2, 1], [1, 2]], nd=1)
    array([[1., 1.],
           [1., 1.]])
    """
    W = np.asarray(W, float)
    values, vectors = np.linalg.eigh((W + W.T) / 2)
    frame = vectors[:, -nd:] * np.sqrt(np.maximum(values[-nd:], 0))
    length = np.linalg.norm(frame, axis=1, keepdims=True)
    if np.any(length == 0):
        raise ValueError("W has a feature that is not represented; allowed: none")
    frame /= length
    return frame @ frame.T


@checked(
    rank, ns=ranges.whole(2, 512), nd=ranges.whole(1, 512), seed=ranges.seed, steps=ranges.whole(1, 10_000),
)  # fmt: skip
def descend_on_noise(ns: int, nd: int, *, seed: int, steps: int = 200) -> NoiseDescent:
    """Minimise the mean noise over all W = W_out W_in of rank nd by gradient descent (L-BFGS).

    Returns
    -------
    NoiseDescent
        ``W`` (ns, ns) with unit diagonal, and ``history``, the mean noise before and after every step.

    Notes
    -----
    Source: ours. The minimum is `smallest_noise`, which a `Rug` reaches without a search.

    Examples
    --------
    >>> found = descend_on_noise(12, 4, seed=1)
    >>> round(float(found.history[-1]), 6)
    2.0
    """
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    W_in = unit_vectors(ns, nd, seed=rng).T
    start = np.stack([W_in.T + rng.standard_normal((ns, nd)) / np.sqrt(nd), W_in.T])
    start[0] /= np.sum(start[0] * start[1], axis=1, keepdims=True)  # unit diagonal
    history = [_mean_noise(start.ravel(), ns, nd)[0]]
    found = minimize(
        _mean_noise,
        start.ravel(),
        args=(ns, nd),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": steps, "ftol": 1e-15, "gtol": 1e-10},
        callback=lambda intermediate_result: history.append(intermediate_result.fun),
    )
    W_out, W_in = found.x.reshape(2, ns, nd)
    return NoiseDescent(with_unit_diagonal(W_out @ W_in.T), np.array(history))


def _mean_noise(parameters, ns, nd):
    """Mean over rows of sum_{j != i} (W_ij / W_ii)^2, and its gradient."""
    W_out, W_in = parameters.reshape(2, ns, nd)
    W = W_out @ W_in.T
    inverse = 1 / np.diag(W)
    noise = (W**2).sum(axis=1) * inverse**2 - 1
    slope = 2 * W * inverse[:, None] ** 2
    np.fill_diagonal(slope, -2 * noise * inverse)
    return noise.mean(), np.stack([slope @ W_in, slope.T @ W_out]).ravel() / ns
