"""What the named runs on decoders compute at one point: plain functions of numbers, which return plain numbers.

They take the fields of the point and ``device`` as keywords, and know nothing of sweeps, files or tables. All run on
the CPU, by fast transforms.
"""

from __future__ import annotations

import numpy as np

from superposition import checks, features
from superposition.codes import partners
from superposition.decoders.ladder import decode_rug
from superposition.decoders.shared_directions import decode_antipodal
from superposition.rug import meanfield
from superposition.rug.jumprelu import jumprelu_optimum
from superposition.rug.rugs import Rug

CHUNK = 8  # feature vectors at a time: what is needed of them stays in 64 MB


def ladder(
    *, ns: int, r: float, p: float, iterations: int, samples: int, seed: int, device: str = "cpu"
) -> dict[str, float]:
    """Loss of every decoder of the ladder on one rug and the same feature vectors.

    Parameters
    ----------
    ns : int
        Number of features, at least 2.
    r : float
        Compression ratio, in (0, 1); nd = round(r ns), at least 1.
    p : float
        Probability that a feature is on, in (0, 1].
    iterations : int
        At least 1.
    samples : int
        Feature vectors, at least 1.
    seed : int
        Seed of the rug and of the feature vectors.
    device : str
        Not used.

    Returns
    -------
    dict of str to float
        ``linear``, ``relu``, ``jumprelu`` with the gains and biases of theory, and ``bayes_1``, ``bayes_2``, ... after
        each iteration, all losses per feature.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    rug = _rug(ns, r, seed, antipodal=False)
    relu, jump = meanfield.optimum(p, rug.nd / ns), jumprelu_optimum(p, rug.nd / ns)
    centre, ratio = float(features.mean(p)), rug.nd / ns
    shift = centre * (rug.apply(np.ones(ns)) - 1)  # mean of the interference

    def decoders(readout):
        y = readout - shift
        yield "linear", centre + ratio * (y - centre)
        yield "relu", np.maximum(relu.a * y + relu.b, 0)
        above = jump.a * y + jump.b
        yield "jumprelu", np.where(above > jump.theta, above, 0)
        yield from _numbered("bayes", decode_rug(readout, rug, p, iterations=iterations))

    return _losses(rug, p, samples, seed, decoders)


def antipodal_ladder(
    *, ns: int, r: float, p: float, iterations: int, samples: int, seed: int, device: str = "cpu"
) -> dict[str, float]:
    """The same on an antipodal rug, with two iterated decoders.

    Parameters
    ----------
    ns : int
        Number of features, even.
    r : float
        Compression ratio, in (0, 1/2]; nd = round(r ns), at least 1.
    p : float
        Probability that a feature is on, in (0, 1].
    iterations : int
        At least 1.
    samples : int
        Feature vectors, at least 1.
    seed : int
        Seed of the rug and of the feature vectors.
    device : str
        Not used.

    Returns
    -------
    dict of str to float
        ``relu`` with the gain and bias of theory; ``plain_1``, ``plain_2``, ..., the decoder of rugs, which knows of no
        partners; and ``pairs_1``, ``pairs_2``, ..., the best one, which decodes signed pairs.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    rug = _rug(ns, r, seed, antipodal=True)
    relu = partners.antipodal_optimum(p, rug.nd / ns)
    others = float(features.mean(p)) * (rug.apply(np.ones(ns)))  # of all but the partner, whose mean cancels its own

    def decoders(readout):
        yield "relu", np.maximum(relu.a * (readout - others) + relu.b, 0)
        yield from _numbered("plain", decode_rug(readout, rug, p, iterations=iterations))
        yield from _numbered("pairs", decode_antipodal(readout, rug, p, iterations=iterations))

    return _losses(rug, p, samples, seed, decoders)


def _rug(ns, r, seed, antipodal):
    r = checks.number("r", r, 0, 1, open_low=True, open_high=True)
    return Rug(ns, max(1, round(r * ns)), seed=checks.whole("seed", seed, 0), antipodal=antipodal)


def _numbered(name, steps):
    for k, estimate in enumerate(steps, 1):
        yield f"{name}_{k}", estimate


def _losses(rug, p, samples, seed, decoders):
    """Mean loss of everything that ``decoders(readout)`` gives by name."""
    samples, rng = checks.whole("samples", samples, 1), np.random.default_rng([seed, 1])
    sums: dict[str, float] = {}
    for start in range(0, samples, CHUNK):
        x = features.sample(rug.ns, p, min(CHUNK, samples - start), seed=rng)
        for name, estimate in decoders(rug.apply(x)):
            sums[name] = sums.get(name, 0.0) + float(np.sum(np.mean((estimate - x) ** 2, axis=1)))
    return {name: total / samples for name, total in sums.items()}
