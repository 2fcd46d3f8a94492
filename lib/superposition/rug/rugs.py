"""Persian rugs: weights built from an orthogonal projector with constant diagonal.

Source: The Persian Rug, section 4.2.2 and Appendix C. A power of two gets rows of a
Hadamard matrix, any other size gets pairs of Fourier frequencies; both meet eq. 6 with
equality, and neither is ever stored as a matrix.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from superposition import checks, features
from superposition.features import Estimate
from superposition.rug import meanfield

LARGEST_GRID = 2**24  # points of a density: 128 MB


@dataclass(frozen=True, eq=False)
class Rug:
    """A symmetric (ns, ns) matrix of rank nd with unit diagonal and nd equal eigenvalues ns / nd.

    Parameters
    ----------
    ns : int
        Number of features, at least 2.
    nd : int
        Rank, from 1 to ns; from 1 to ns // 2 for an antipodal rug.
    seed : int
        Chooses the index set (Hadamard rows, or Fourier frequencies). The constant row is
        avoided whenever the parity of nd allows it.
    antipodal : bool
        Whether every feature i has a partner i + ns / 2 (modulo ns) with R = -1: the index set
        is then taken from an odd coset (Hadamard rows from ns / 2 on), or from the odd
        frequencies.
    indices : array_like of int, optional
        The index set itself, nd different numbers from 0 to ns - 1, in place of a random one.
        Frequencies come in pairs k, ns - k. Afterwards it is an increasing array in any case.

    Attributes
    ----------
    kept : numpy.ndarray, shape (ns,)
        1 for the Hadamard rows or Fourier frequencies in the index set, 0 for the others.

    Raises
    ------
    ValueError
        If `ns` is below 2, `nd` is out of range, or `indices` is no such set. If an antipodal
        rug does not exist: `ns` is odd, or `ns` is divisible by 4 but no power of two and `nd`
        is odd.

    Notes
    -----
    Source: The Persian Rug, section 4.2.2, with the Hadamard matrix corrected to
    H_ij = (-1)^popcount(i AND j); the circulant form for other sizes and the antipodal rug are
    ours.
    """

    ns: int
    nd: int
    seed: int = 0
    antipodal: bool = False
    indices: np.ndarray | None = field(default=None, repr=False, kw_only=True)
    kept: np.ndarray = field(init=False, repr=False)

    def __post_init__(self):
        """Choose the kept rows or frequencies."""
        ns = checks.whole("ns", self.ns, 2)
        if self.antipodal and ns % 2:
            raise ValueError(f"ns = {ns} has no antipodal rug; allowed: even numbers")
        nd = checks.whole("nd", self.nd, 1, ns // 2 if self.antipodal else ns)
        if self.indices is None:
            choose = _walsh_rows if _is_power_of_two(ns) else _fourier_frequencies
            kept = choose(ns, nd, np.random.default_rng(self.seed), self.antipodal)
        else:
            kept = _given(ns, nd, np.asarray(self.indices), self.antipodal)
        object.__setattr__(self, "kept", kept)
        object.__setattr__(self, "indices", np.flatnonzero(kept))

    def apply(self, x):
        """Multiply feature vectors by the rug, O(ns log ns) each.

        Parameters
        ----------
        x : array_like, shape (..., ns)
            Feature vectors.

        Returns
        -------
        numpy.ndarray, shape (..., ns)
        """
        if _is_power_of_two(self.ns):
            return walsh_hadamard(walsh_hadamard(x) * self.kept) / self.nd
        spectrum = np.fft.rfft(x, axis=-1) * self.kept[: self.ns // 2 + 1]
        return np.fft.irfft(spectrum, n=self.ns, axis=-1) * (self.ns / self.nd)

    def row(self):
        """First row; every other row is a permutation of it.

        Returns
        -------
        numpy.ndarray, shape (ns,)
        """
        return self.apply(np.eye(1, self.ns)[0])

    def power_sums(self):
        """Exact moments of the row: sum over j != i of R_ij^k for k = 1 to 4, the same for every i.

        Returns
        -------
        numpy.ndarray, shape (4,)
            The first is -1 (or ns / nd - 1 where the index set holds the constant row), the
            second ns / nd - 1. `superposition.rug.interference` turns them into cumulants.
        """
        row = self.row()[1:]
        return np.array([np.sum(row**k) for k in range(1, 5)])

    def dense(self):
        """The matrix itself, for small sizes.

        Returns
        -------
        numpy.ndarray, shape (ns, ns)
        """
        return self.apply(np.eye(self.ns))


def walsh_hadamard(x):
    """Multiply by the Hadamard matrix H_ij = (-1)^popcount(i AND j), in O(n log n).

    Parameters
    ----------
    x : array_like, shape (..., n)
        Vectors; n is a power of two.

    Returns
    -------
    numpy.ndarray, shape (..., n)

    Raises
    ------
    ValueError
        If n is no power of two.

    Notes
    -----
    Source: The Persian Rug, section 4.2.2; the printed XOR form has rank one.
    """
    x = np.asarray(x, dtype=np.float64)
    n = x.shape[-1]
    if not _is_power_of_two(n):
        raise ValueError(f"length = {n} is out of range; allowed: powers of two")
    shape, inner = x.shape, 1
    while inner < n:  # H of a product of sizes is a Kronecker product: one small matrix product a factor
        factor = min(64, n // inner)
        H = _hadamard(factor)
        x = x.reshape(-1, factor) @ H if inner == 1 else H @ x.reshape(-1, factor, inner)
        inner *= factor
    return x.reshape(shape)


def simulated_loss(rug, a, b, p, *, samples, seed, progress=None):
    """Loss per feature of ReLU(a R x + bias), by Monte Carlo.

    Parameters
    ----------
    rug : Rug
        The matrix R.
    a : float
        Gain, a > 0.
    b : float
        Effective bias: the mean of the interference is taken out of it.
    p : float
        Probability that a feature is on, in (0, 1].
    samples : int
        Number of feature vectors, at least 2.
    seed : int
        Seed of the feature vectors.
    progress : callable, optional
        Called as ``progress(done, total)`` after each chunk of samples.

    Returns
    -------
    Estimate
        Mean over samples and features, standard error over samples.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, eq. 1, 2 (per feature) and 4.
    """
    samples = checks.whole("samples", samples, 2)
    rng = np.random.default_rng(seed)
    bias = b - a * features.mean(p) * (rug.apply(np.ones(rug.ns)) - 1)
    chunk = max(1, 2**21 // rug.ns)
    errors = []
    for start in range(0, samples, chunk):
        x = features.sample(rug.ns, p, min(chunk, samples - start), seed=rng)
        errors.append(np.mean((x - np.maximum(a * rug.apply(x) + bias, 0)) ** 2, axis=1))
        if progress is not None:
            progress(start + len(x), samples)
    errors = np.concatenate(errors)
    return Estimate(float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(samples)))


def skewness_spread(ns, nd):
    """Standard deviation, between random index sets, of a rug's third power sum.

    Parameters
    ----------
    ns : int
        Number of features, a power of two from 8.
    nd : int
        Rank, from 1 to ns - 1.

    Returns
    -------
    float
        Of sum_{j != i} R_ij^3, for index sets without the constant row: exact. For large ns it is
        sqrt(6) (1 / r - 1)^(3/2) / ns, that is 0.82 sqrt(1 / r - 1) times the size of its mean.

    Raises
    ------
    ValueError
        If `ns` is no power of two from 8 or `nd` is out of range.

    Notes
    -----
    Source: ours. The sum is 6 ns / nd^3 times the number of triples with XOR zero, less 1; two of the
    (ns - 1) (ns - 2) / 6 triples share one number or none. Sets of a fixed size fluctuate only where
    all three members do: hence (r (1 - r))^(3/2) and not r^(5/2).

    Examples
    --------
    >>> round(skewness_spread(1024, 205), 4), round(6**0.5 * (1024 / 205 - 1) ** 1.5 / 1024, 4)
    (0.0191, 0.0191)
    """
    ns = checks.whole("ns", ns, 8)
    if ns & (ns - 1):
        raise ValueError(f"ns = {ns} is out of range; allowed: powers of two from 8")
    nd, all_ = checks.whole("nd", nd, 1, ns - 1), ns - 1
    inside = {k: Fraction(math.perm(nd, k), math.perm(all_, k)) for k in (3, 5, 6)}
    count, touching = Fraction(all_ * (all_ - 1), 6), Fraction(3 * (all_ - 3), 2)
    variance = count * (inside[3] + touching * inside[5] + (count - 1 - touching) * inside[6] - count * inside[3] ** 2)
    return 6 * ns / nd**3 * math.sqrt(variance)


def row_loss(off_diagonal, a, b, p):
    """Loss of one output for its actual row of weights, with no Gaussian assumption.

    The interference is a sum of independent terms, so its density follows from the product
    of their characteristic functions. A Gaussian of 1 % of its width makes the density smooth, and
    one of 2 % tells what that changes: the extrapolation (4 L(1 %) - L(2 %)) / 3 is good to 1e-9 of
    itself. Only where the ReLU closes exactly at an atom of the law are 1e-3 left.

    Parameters
    ----------
    off_diagonal : array_like, shape (n,)
        Weights of the other features, divided by the gain (rows of W have diagonal a).
    a : float
        Gain, a > 0.
    b : float
        Effective bias.
    p : float
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is outside its range, or `p` so small that the atoms of the law cannot be
        resolved.

    Notes
    -----
    Source: The Persian Rug, eq. 4 and 5, without "because nu becomes Gaussian".
    """
    weights = checks.real("off_diagonal", off_diagonal, open_low=True, open_high=True)
    weights, count = np.unique(np.round(weights, 12), return_counts=True)
    sigma = float(np.sqrt(features.variance(p) * np.sum(count * weights**2)))
    if sigma == 0:
        return float(meanfield.loss(a, b, 0, p))
    smooth = sigma / 100
    reach = 15 * sigma + 8 * np.abs(weights).max()
    points = 2 ** int(np.ceil(np.log2(2 * reach / (smooth / 3))))
    if points > LARGEST_GRID:
        raise ValueError(
            f"p = {float(p):g} is too small for these weights: the density needs {points} points; allowed: "
            f"{LARGEST_GRID}, so larger p or more even weights"
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
    return float(mass @ meanfield.loss(a, b + a * nu, 0, p))


def _feature_cf(t, p):
    """Characteristic function of x = c u."""
    ramp = np.exp(0.5j * t) * np.sinc(t / (2 * np.pi))
    return 1 - p + p * ramp


def _is_power_of_two(n):
    return n & (n - 1) == 0


def _hadamard(n):
    index = np.arange(n)
    return (-1.0) ** np.bitwise_count(index[:, None] & index)


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
        raise ValueError(f"indices = {indices} are no index set; allowed: each once, from 0 to {ns - 1}")
    kept = np.zeros(ns)
    kept[indices] = 1
    if not _is_power_of_two(ns) and np.any(kept[1:] != kept[:0:-1]):
        raise ValueError(f"indices = {indices} hold a frequency k without ns - k; allowed: pairs, as ns = {ns}")
    if antipodal and not np.all(indices >= ns // 2 if _is_power_of_two(ns) else indices % 2):
        raise ValueError(
            f"indices = {indices} make no antipodal rug; allowed: "
            + (f"from {ns // 2}" if _is_power_of_two(ns) else "odd frequencies")
        )
    return kept
