"""Persian rugs: weights built from an orthogonal projector with constant diagonal.

Source: The Persian Rug, section 4.2.2 and Appendix C. A power of two gets rows of a Hadamard matrix, any other size
gets pairs of Fourier frequencies; both meet eq. 6 with equality, and neither is ever stored as a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from superposition import checks, features, ranges
from superposition.checked import checked
from superposition.features import Estimate
from superposition.rug import meanfield
from superposition.rug.ranges import LARGEST, MOST, off_diagonal, one_bias, one_gain

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Float
    from numpy.typing import ArrayLike

MOST_DENSE = 8192  # features of a rug that is stored as a matrix: half a gigabyte
CACHED = 2**18  # bytes of a block of vectors that are transformed together
LARGEST_GRID = 2**24  # points of a density: 128 MB
NARROW = 0.002  # of the largest feature: largest width of smoothing. Width 0.005 gave relative errors of 1e-4


def _limited(self) -> None:
    """Refuse sizes at which not even one vector can be stored."""
    checks.whole("ns", self.ns, 2, MOST)


def _small(self) -> None:
    """Refuse matrices that would fill the memory."""
    checks.whole("ns", self.ns, 2, MOST_DENSE)


def _walsh_vectors(name: str, value: Any) -> np.ndarray:
    """Vectors along the last axis, whose length is a power of two."""
    found = np.atleast_1d(checks.real(name, value, -LARGEST, LARGEST))
    if not _is_power_of_two(found.shape[-1]) or not found.size:
        raise ValueError(f"{name} has shape {found.shape}; allowed: (..., n) with n a power of two")
    return found


@dataclass(frozen=True, eq=False)
class Rug:
    """A symmetric (ns, ns) matrix of rank nd with unit diagonal and nd equal eigenvalues ns / nd.

    Parameters
    ----------
    ns : int
        Number of features, from 2 to 2^24.
    nd : int
        Rank, from 1 to ns; from 1 to ns // 2 for an antipodal rug.
    seed : int
        Determines the index set (Hadamard rows, or Fourier frequencies), without the constant row if nd's parity
        allows.
    antipodal : bool
        Whether every feature i has a partner i + ns / 2 (modulo ns) with R = -1: the index set is then taken from an
        odd coset (Hadamard rows from ns / 2 on), or from the odd frequencies.
    indices : array_like of int, optional
        The index set itself, nd different numbers from 0 to ns - 1, in place of a random one. Frequencies come in pairs
        k, ns - k. Afterwards it is an increasing array in any case.

    Attributes
    ----------
    kept : numpy.ndarray, shape (ns,)
        1 for the Hadamard rows or Fourier frequencies in the index set, 0 for the others.

    Raises
    ------
    ValueError
        If `ns` or `nd` is out of range, or `indices` is not such a set. If an antipodal
        rug does not exist: `ns` is odd, or `ns` is divisible by 4 but no power of two and `nd`
        is odd.

    Notes
    -----
    Source: The Persian Rug, section 4.2.2, with the Hadamard matrix corrected to H_ij = (-1)^popcount(i AND j); the
    circulant form for other sizes and the antipodal rug are ours.

    Examples
    --------
    >>> rug = Rug(8, 3, indices=[3, 5, 6])
    >>> rug.row().round(3) + 0.0
    array([ 1.   , -0.333, -0.333, -0.333, -0.333, -0.333, -0.333,  1.   ])
    >>> rug.apply([1, 0, 0, 0, 0, 0, 0, 1]).round(3) + 0.0
    array([ 2.   , -0.667, -0.667, -0.667, -0.667, -0.667, -0.667,  2.   ])
    """

    ns: int
    nd: int
    seed: int = 0
    antipodal: bool = False
    indices: Any = field(default=None, repr=False, kw_only=True)
    kept: np.ndarray = field(init=False, repr=False)

    @checked(_limited)
    def __post_init__(self):
        """Choose the kept rows or frequencies."""
        ns = checks.whole("ns", self.ns, 2)
        if checks.flag("antipodal", self.antipodal) and ns % 2:
            raise ValueError(f"ns = {ns} has no antipodal rug; allowed: even numbers")
        nd = checks.whole("nd", self.nd, 1, ns // 2 if self.antipodal else ns)
        if self.indices is None:
            choose = _walsh_rows if _is_power_of_two(ns) else _fourier_frequencies
            kept = choose(ns, nd, np.random.default_rng(checks.whole("seed", self.seed, 0)), self.antipodal)
        else:
            kept = _given(ns, nd, np.asarray(self.indices), self.antipodal)
        object.__setattr__(self, "kept", kept)
        object.__setattr__(self, "indices", np.flatnonzero(kept))

    def apply(self, x: ArrayLike, dtype: type = np.float64) -> np.ndarray:
        """Multiply feature vectors by the rug, O(ns log ns) each.

        Parameters
        ----------
        x : array_like, shape (..., ns)
            Feature vectors.
        dtype : {numpy.float64, numpy.float32}
            Precision of the computation; float32 is 1.5 to 2 times as fast, depending on the machine.

        Raises
        ------
        ValueError
            If `x` does not consist of finite numbers or has the wrong length.
        """
        x = _vectors(x, dtype)
        if x.shape[-1] != self.ns:
            raise ValueError(f"x has shape {x.shape}; allowed: (..., {self.ns})")
        if _is_power_of_two(self.ns):
            return _walsh_multiplied(x, (self.kept / self.nd).astype(dtype))
        from scipy import fft

        spectrum = fft.rfft(x, axis=-1)
        spectrum *= (self.kept[: self.ns // 2 + 1] * (self.ns / self.nd)).astype(dtype)
        return fft.irfft(spectrum, n=self.ns, axis=-1, overwrite_x=True)

    def row(self) -> Float[np.ndarray, " ns"]:
        """First row, shape (ns,); every other row is a permutation of it."""
        return self.apply(np.eye(1, self.ns)[0])

    def power_sums(self) -> Float[np.ndarray, " 4"]:
        """Exact moments of the row, shape (4,): sum over j != i of R_ij^k for k = 1 to 4, the same for every i."""
        row = self.row()[1:]
        return np.array([np.sum(row**k) for k in range(1, 5)])

    @checked(_small)
    def dense(self) -> Float[np.ndarray, "ns ns"]:
        """The matrix itself, shape (ns, ns), for up to 8192 features."""
        return self.apply(np.eye(self.ns))


@checked(x=_walsh_vectors)
def walsh_hadamard(x: ArrayLike) -> Float[np.ndarray, "... n"]:
    """Multiply vectors (..., n), n a power of two, by H_ij = (-1)^popcount(i AND j), in O(n log n).

    Notes
    -----
    Source: The Persian Rug, section 4.2.2; the text's printed XOR form has rank one.

    Examples
    --------
    >>> walsh_hadamard([1, 2, 3, 4])
    array([10., -2., -4.,  0.])
    """
    # the text's printed XOR form has rank one
    x = np.atleast_1d(np.asarray(x, float))
    return _walsh(x, cycle((np.empty(x.shape), np.empty(x.shape))))


def _vectors(x, dtype):
    """Finite vectors along the last axis, in a given precision."""
    if type(x) is np.ndarray and x.dtype == dtype and x.ndim:
        if not (np.isfinite(np.vdot(x, x)) or np.isfinite(x).all()):  # the first is faster, and may overflow
            raise ValueError("x holds NaN or infinity; allowed: finite numbers")
        return x
    return np.atleast_1d(checks.real("x", x, open_low=True, open_high=True)).astype(dtype)


def _walsh_multiplied(x, factors):
    """The transform, factors, and the transform back, in blocks of vectors, so that a block stays in the cache."""
    rows, size = x.reshape(-1, len(factors)), max(1, CACHED // factors.nbytes)
    out, spare = np.empty(rows.shape, x.dtype), np.empty(rows[:size].shape, x.dtype)
    for start in range(0, len(rows), size):
        block = out[start : start + size]
        targets = cycle((spare[: len(block)], block))  # an even number of stages: the last one fills the block
        spectrum = _walsh(rows[start : start + size], targets)
        spectrum *= factors
        _walsh(spectrum, targets)
    return out.reshape(x.shape)


def _walsh(x, targets):
    """The transform as a Kronecker product: a matrix product for each of factors up to 16, into two arrays."""
    n, inner = x.shape[-1], 1
    bits = n.bit_length() - 1
    stages = max(1, -(-bits // 4))
    for stage in range(stages):  # the larger factors first: products of small matrices inside are slow
        factor, out = 2 ** (-(-bits * (stage + 1) // stages) - -(-bits * stage // stages)), next(targets)
        H = _hadamard(factor, x.dtype)
        if inner == 1:
            parts = (-1, factor) if n == factor else (-1, n // factor, factor)
            np.matmul(x.reshape(parts), H, out=out.reshape(parts))
        else:
            np.matmul(H, x.reshape(-1, factor, inner), out=out.reshape(-1, factor, inner))
        x, inner = out, inner * factor
    return x


@checked(
    rug=ranges.instance(Rug), a=one_gain, b=one_bias, p=ranges.one_probability, samples=ranges.whole(2, 10**8),
    seed=ranges.seed, progress=ranges.function,
)  # fmt: skip
def simulated_loss(
    rug: Rug, a: float, b: float, p: float, *, samples: int, seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> Estimate:  # fmt: skip
    """Loss per feature of ReLU(a R x + bias) by Monte Carlo, b being the effective bias.

    Parameters
    ----------
    progress : callable, optional
        Called as ``progress(done, total)`` now and then.

    Returns
    -------
    superposition.features.Estimate
        Mean and standard error over feature vectors.

    Notes
    -----
    Source: The Persian Rug, eq. 1, eq. 2 per feature and eq. 4. Use `row_loss` instead for the exact loss.

    Examples
    --------
    >>> simulated_loss(Rug(8, 3), a=1.1, b=-0.3, p=0.05, samples=1000, seed=0).se < 0.001
    True
    """
    rng = np.random.default_rng(seed)
    # b is the effective bias: the mean of the interference is taken out of it
    bias = b - a * features.mean(p) * (rug.apply(np.ones(rug.ns)) - 1)
    chunk = max(1, 2**21 // rug.ns)
    errors = []
    for start in range(0, samples, chunk):
        x = features.sample(rug.ns, p, min(chunk, samples - start), seed=rng)
        output = rug.apply(x)  # dense, not sparse, and then in place
        output *= a
        output += bias
        np.maximum(output, 0, out=output)
        output -= x
        errors.append(np.mean(np.square(output, out=output), axis=1))
        if progress is not None:
            progress(start + len(x), samples)
    return Estimate.of(np.concatenate(errors))


@checked(off_diagonal=off_diagonal, a=one_gain, b=one_bias, p=ranges.one_probability)
def row_loss(off_diagonal: ArrayLike, a: float, b: float, p: float) -> float:
    """Loss of one output for its actual row of weights, with no Gaussian assumption.

    The relative error is 1e-9 if no weight is above 1 in size, and 1e-5 for larger weights; it is 1e-3 where the ReLU
    closes exactly at an atom of the distribution of the interference.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or `p` so small, or a weight so large (a few hundred), that the
        atoms of the distribution cannot be resolved.

    Notes
    -----
    Source: The Persian Rug, eq. 4 and eq. 5, without "because nu becomes Gaussian". Use `loss` instead for many
    small weights, and `rug_loss` for a large rug.

    Examples
    --------
    >>> round(row_loss(Rug(8, 3, indices=[3, 5, 6]).row()[1:], a=1.1, b=-0.3, p=0.05), 5)
    0.01039
    """
    # The interference is a sum of independent terms, so its density follows from the product of their characteristic
    # functions. A Gaussian of 1 % of its width makes the density smooth, and one of 2 % shows the change: the
    # extrapolation (4 L(1 %) - L(2 %)) / 3. Under large weights 1 % is wide beside a feature, which ends at 1: hence
    # NARROW.
    weights, count = np.unique(np.round(np.asarray(off_diagonal, float), 12), return_counts=True)
    sigma = float(np.sqrt(features.variance(p) * np.sum(count * weights**2)))
    if sigma == 0:
        return float(meanfield.loss(a, b, 0, p))
    smooth = min(sigma / 100, NARROW)
    reach = 15 * sigma + 8 * np.abs(weights).max()
    points = 2 ** int(np.ceil(np.log2(2 * reach / (smooth / 3))))
    if points > LARGEST_GRID:
        raise ValueError(
            f"p = {float(p):g} is too small, or weights up to {np.abs(weights).max():g} are too large or uneven: the "
            f"density needs {points} points; allowed: {LARGEST_GRID}"
        )
    t = np.arange(points // 2 + 1) * np.pi / reach
    t = t[t * smooth < 9]  # beyond, the smoothing Gaussian is below 1e-17
    log_cf = -1j * t * features.mean(p) * np.sum(count * weights)
    for block in np.array_split(np.arange(len(weights)), max(1, len(weights) * len(t) // 2**22)):
        log_cf = log_cf + count[block] @ np.log(_feature_cf(np.outer(weights[block], t), p) + 1e-300)
    spectrum = np.zeros(points // 2 + 1, dtype=complex)
    narrow = np.exp(-((smooth * t) ** 2) / 2)
    spectrum[: len(t)] = np.exp(log_cf) * (4 * narrow - narrow**4) / 3  # narrow^4 is twice as wide
    nu = np.fft.fftfreq(points) * 2 * reach
    mass = np.fft.irfft(spectrum.conj(), n=points)
    return float(mass @ _noiseless_loss(a, b + a * nu, p))


def _noiseless_loss(a: float, b: np.ndarray, p: float) -> np.ndarray:
    """`loss` at sigma = 0, to the bit: cubes and squares, no normal distribution."""
    side = np.where(b > -a / 2, -1.0, 1.0)
    own, end, begin = side * a, np.maximum(side * (b + a), 0), np.maximum(side * b, 0)
    square = (end * end**2 - begin * begin**2) / (3 * own)
    product = end**2 / (2 * own) - 1 / (2 * own) * square
    base = np.where(side < 0, (1 - a) ** 2 / 3 - (1 - a) * b + b**2, 1 / 3)
    return (1 - p) * np.maximum(b, 0) ** 2 + p * (base - 2 * product + side * square)


def _feature_cf(t, p):
    """Characteristic function of x = c u."""
    ramp = np.exp(0.5j * t) * np.sinc(t / (2 * np.pi))
    return 1 - p + p * ramp


def _is_power_of_two(n):
    return n > 0 and n & (n - 1) == 0


@cache
def _hadamard(n, dtype):
    index = np.arange(n)
    return ((-1.0) ** np.bitwise_count(index[:, None] & index)).astype(dtype)


def _walsh_rows(ns, nd, rng, antipodal):
    first = ns // 2 if antipodal else 0 if nd == ns else 1  # row 0 is constant: its rug would have a common mean
    kept = np.zeros(ns)
    kept[first + rng.choice(ns - first, nd, replace=False)] = 1
    return kept


def _fourier_frequencies(ns, nd, rng, antipodal):
    if antipodal and ns % 4 == 0 and nd % 2:
        raise ValueError(
            f"nd = {nd} is odd and ns = {ns} divisible by 4: its odd frequencies come in pairs; allowed: even nd"
        )
    pairs, step = (ns // 4, 2) if antipodal else ((ns - 1) // 2, 1)
    kept = np.zeros(ns)
    lower = 1 + step * rng.choice(pairs, min(nd // 2, pairs), replace=False)
    kept[lower] = kept[ns - lower] = 1
    for single in ([ns // 2] if ns % 2 == 0 else []) + [0]:  # frequencies that are their own partner
        if kept.sum() < nd and (nd - kept.sum()) in (1, 2):
            kept[single] = 1
    return kept


def _given(ns, nd, indices, antipodal):
    """The mask of a given index set, or a refusal."""
    if indices.shape != (nd,) or not np.issubdtype(indices.dtype, np.integer):
        raise ValueError(f"indices of shape {indices.shape} are no index set; allowed: nd = {nd} whole numbers")
    if indices.min() < 0 or indices.max() >= ns or len(np.unique(indices)) < nd:
        raise ValueError(f"{_shown(indices)} are no index set; allowed: each once, from 0 to {ns - 1}")
    kept = np.zeros(ns)
    kept[indices] = 1
    if not _is_power_of_two(ns) and np.any(kept[1:] != kept[:0:-1]):
        raise ValueError(f"{_shown(indices)} hold a frequency k without ns - k; allowed: pairs, as ns = {ns}")
    if antipodal and not np.all(indices >= ns // 2 if _is_power_of_two(ns) else indices % 2):
        raise ValueError(
            f"{_shown(indices)} make no antipodal rug; allowed: "
            + (f"from {ns // 2}" if _is_power_of_two(ns) else "odd frequencies")
        )
    return kept


def _shown(indices):
    return f"indices = {checks.shown(indices.tolist())}"
