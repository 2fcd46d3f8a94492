"""The loss of a code that is run as a network: encoder, hidden vector, decoder, in a number format.

The product W_out W_in would not show this loss, because it sums small terms before loud features enter.
Source: ours; the model and its loss are those of The Persian Rug, eq. 1 and 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from superposition import checks, ranges
from superposition.checked import checked
from superposition.codes import ranges as within
from superposition.codes.fans import Code, valid_code
from superposition.features import Estimate

FORMATS = ("float64", "float32", "bfloat16", "float16")
CHUNK = 2**20  # strengths that are drawn at a time


@checked(code=valid_code, p=within.rare, samples=within.draws, seed=ranges.seed, dtype=ranges.one_of(*FORMATS))
def network_loss(
    code: Code, p: float, *, samples: int, seed: int | np.random.Generator, dtype: str = "float64"
) -> Estimate:
    """Loss per feature of a code that is run as a network in a number format.

    Parameters
    ----------
    p : float
        Probability that a feature is on, from 1e-12 to 1.
    dtype : {"float64", "float32", "bfloat16", "float16"}
        Weights, strengths, hidden vector and output are rounded to this format; sums of 16-bit numbers are made in
        float32.

    Returns
    -------
    superposition.features.Estimate
        Mean and standard error over feature vectors with strengths of 53 random bits; few vectors are silent.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the network's numbers exceed the range of the format.

    Notes
    -----
    Source: ours. Use `code_loss` instead for W itself, without rounding.

    Examples
    --------
    >>> from superposition.codes import swept_fan
    >>> [round(float(network_loss(swept_fan(5, 100), 0.05, samples=20_000, seed=0, dtype=one).mean), 4)
    ...  for one in ("float64", "float32")]
    [0.0008, 0.0008]
    """
    rng, B, errors = np.random.default_rng(seed), len(code.b), []
    for count in np.diff(np.linspace(0, samples, -(-samples * B // CHUNK) + 1).astype(int)):
        x, share = drawn(B, p, int(count), rng)
        errors.append(np.square(network_output(code, x, dtype) - x).mean(axis=1) * share * count)
    silent = (1 - p) ** B * np.square(network_output(code, np.zeros((1, B)), dtype)).mean()
    found = Estimate.of(np.concatenate(errors))
    return Estimate(found.mean + silent, found.se)


def _blocks(name: str, value: Any) -> list[Code]:
    """Codes in a list, at least one."""
    if not isinstance(value, (list, tuple)) or isinstance(value, Code) or not value:
        raise ValueError(f"{name} = {checks.shown(value)} is not a list of codes; allowed: one or more")
    return [valid_code(name, one) for one in value]


@checked(blocks=_blocks, p=within.rare, samples=within.draws, seed=within.torch_seed, dtype=ranges.one_of(*FORMATS))
def measured_loss(blocks: list[Code], p: float, *, samples: int, seed: int, dtype: str = "float64") -> Estimate:
    """Loss per feature of blocks side by side that are run as a network, each kind with feature vectors of its own.

    Parameters
    ----------
    blocks : list of Code
        As `Best.blocks` returns them; equal ones are measured once.
    p : float
        Probability that a feature is on, from 1e-12 to 1.
    samples : int
        Feature vectors for each kind of block.

    Returns
    -------
    superposition.features.Estimate
        Source: ours. Use `network_loss` instead for one block.

    Examples
    --------
    >>> from superposition.codes import swept_fan
    >>> round(float(measured_loss([swept_fan(5, 100), swept_fan(5, 100)], 0.05, samples=20_000, seed=0).mean), 4)
    0.0008
    """
    kinds: dict[bytes, list[Code]] = {}
    for block in blocks:
        kinds.setdefault(block.W_in.tobytes() + block.b.tobytes(), []).append(block)
    features, loss, square = 0, 0.0, 0.0
    for k, (block, *others) in enumerate(kinds.values()):
        count = len(block.b) * (1 + len(others))
        found = network_loss(block, p, samples=samples, seed=seed + k, dtype=dtype)
        features, loss, square = features + count, loss + count * found.mean, square + (count * found.se) ** 2
    return Estimate(loss / features, square**0.5 / features)


def drawn(B: int, p: float, count: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Feature vectors with k features on, more often than they are where k is large; and the share that each has."""
    from scipy.stats import binom

    k = np.arange(1, B + 1)
    chance = binom.pmf(k, B, p)
    k, chance = k[chance > 1e-9 * p**2], chance[chance > 1e-9 * p**2]
    offered = np.sqrt(chance) / np.sqrt(chance).sum()
    at = rng.choice(len(k), count, p=offered)
    on = rng.random((count, B)).argsort(axis=1) < k[at, None]
    return rng.random((count, B)) * on, (chance / offered)[at] / count


def network_output(code: Code, x: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
    """Outputs of a code for feature vectors, shape (n, B), through its hidden vector."""
    W_in, W_out, b, x = (_rounded(value, dtype) for value in (*code, x))
    with np.errstate(over="ignore", invalid="ignore"):
        output = _rounded(np.maximum(_rounded(x @ W_in.T, dtype) @ W_out.T + b, 0), dtype)
    if not np.isfinite(output).all():
        raise ValueError(f"dtype = {dtype!r} overflows in this network; allowed: a format of more range")
    return output.astype(float)


def _rounded(value: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Numbers of a format, kept as float32 where it has 16 bits."""
    if dtype in ("float64", "float32"):
        return value.astype(dtype)
    with np.errstate(over="ignore"):
        if dtype == "float16":
            return value.astype(np.float16).astype(np.float32)
        bits = value.astype(np.float32).view(np.uint32)
    even = bits + 0x7FFF + ((bits >> 16) & 1)  # to the nearest, ties to even
    return (even & np.uint32(0xFFFF0000)).view(np.float32)
