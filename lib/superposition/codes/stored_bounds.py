"""The stored certificates of Theorem F, and the largest of all lower bounds on the loss.

The certificates are made by ``scripts/bound_certificates.py`` and verified by `superposition.codes.verified_bounds`.
Between the stored probabilities, a bound follows from a stored one by leaving features out, or by taking some as known.
Source: ours, against The Persian Rug, section 4.2.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import resources
from itertools import islice
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from superposition import ranges
from superposition.checked import checked
from superposition.codes import any_size
from superposition.codes.frequency_programs import Cell, Certificate, integral
from superposition.codes.pair_credits import GAMMA
from superposition.codes.rare_features import counting_bound

FILE = "bounds.safetensors"


@checked(p=ranges.sparse_probability, r=ranges.one_ratio)
def best_bound(p: float, r: float) -> float:
    """No code of any size has a lower loss per feature: the largest of all lower bounds of this book.

    Returns
    -------
    float
        From Theorem D (a count of patterns), Theorem E (rivals add up) or Theorem F (a certificate); 0 at r = 1.

    Notes
    -----
    Source: ours. Use `best_known` for the loss of the best code that is known.

    Examples
    --------
    >>> from superposition import codes
    >>> round(best_bound(0.05, 0.2) / codes.best_known(0.05, 0.2).loss, 1)
    0.5
    """
    if r == 1:
        return 0.0
    return max(counting_bound(p, r), rivals_bound.unchecked(p, r), certified_bound.unchecked(p, r))


@checked(p=ranges.sparse_probability, r=ranges.one_ratio)
def rivals_bound(p: float, r: float) -> float:
    """Theorem E with the gamma of Theorem A, at every number of features.

    Returns
    -------
    float
        At least the bound of `bound_at_any_size`, which uses the gamma of the plain Lemma.

    Examples
    --------
    >>> round(rivals_bound(1e-6, 0.5) / 1e-12, 3)
    0.138
    """
    limit = (1 - p) * any_size.ERRORS
    gain = np.maximum(0, 1 - np.sqrt(12 * np.minimum(limit, 1 / 12)))
    cost = p * (1 - p) * any_size.shares() * gain**2 * GAMMA
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.nan_to_num(r * (limit + cost) / (2 * cost), nan=1, posinf=1)
    g = np.clip(least, r, 1)
    return float(p * np.max((1 - g) * limit + cost * (g**2 / r - g)))


@checked(p=ranges.sparse_probability, r=ranges.one_ratio)
def certified_bound(p: float, r: float) -> float:
    """Theorem F, from the stored certificates at other probabilities.

    Returns
    -------
    float
        0 where no certificate applies: at r near 1, or far from the stored probabilities.

    Notes
    -----
    Source: ours. With B(p, r) a bound at p: for p < p' also p/p' B(p', r p'/p), since the features of p are those of p'
    with some left out; for p > p' also q/q' B(p', r q'/q), since some of the features that are on may be known.

    Examples
    --------
    >>> certified_bound(0.05, 0.2) > 3 * rivals_bound(0.05, 0.2)
    True
    """
    found = [0.0]
    for stored, A, phi in _proved():
        share = p / stored if p < stored else (1 - p) / (1 - stored)
        if r < share:
            found.append(share * stored * integral(A, phi, r / share))
    return max(found)


def saved(path: Path, certificates: Iterable[Certificate]) -> None:
    """Write certificates into one file, one after the other, in numbers of equal length."""
    all_of = sorted(certificates, key=lambda one: one.p)
    steps = [step for one in all_of for step in one.cells]
    cells = [cell for step in steps for cell in step]
    save_file(
        {
            "p": np.array([one.p for one in all_of]),
            "nodes": np.array([len(one.A) for one in all_of]),
            "A": np.concatenate([one.A for one in all_of]),
            "phi": np.concatenate([one.phi for one in all_of]),
            "cells": np.array([len(step) for step in steps]),
            "gain": np.array([cell.gain for cell in cells]),
            "gap": np.array([cell.gap for cell in cells]),
            "c": np.array([cell.c for cell in cells]),
            "terms": np.array([len(cell.mu) for cell in cells]),
            "harmonics": np.concatenate([cell.harmonics for cell in cells]).astype(np.uint8),
            "phases": np.concatenate([cell.phases for cell in cells]).astype(np.float32),
            "mu": np.concatenate([cell.mu for cell in cells]).astype(np.float32),
        },
        path,
    )


def certificates() -> list[Certificate]:
    """Read the stored certificates.

    Source: ours (Theorem F). Use `certified_bound` for the bound that they prove.

    Examples
    --------
    >>> len(certificates()) > 9
    True
    """
    return certificates_in(stored_file())


def certificates_in(path: Path) -> list[Certificate]:
    """The certificates of a file that `saved` wrote."""
    kept = load_file(path)
    ends = np.cumsum(kept["terms"])[:-1]
    terms = zip(*(np.split(kept[name], ends) for name in ("harmonics", "phases", "mu")), strict=True)
    numbers = zip(*(kept[name].tolist() for name in ("gain", "gap", "c")), strict=True)
    cells = (
        Cell(gain, gap, c, harmonics.astype(int), phases.astype(float), mu.astype(float))
        for (gain, gap, c), (harmonics, phases, mu) in zip(numbers, terms, strict=True)
    )
    steps = (tuple(islice(cells, size)) for size in kept["cells"].tolist())
    return [Certificate(p, A, phi, tuple(islice(steps, len(A) - 1))) for p, A, phi in _functions(kept)]


def stored_file() -> Path:
    """Where the certificates of the book are."""
    return Path(str(resources.files("superposition") / "data")) / FILE


@cache
def _proved():
    return _functions(load_file(stored_file()))


def _functions(kept):
    """p, A and phi of each certificate."""
    ends = np.cumsum(kept["nodes"])[:-1]
    return list(zip(kept["p"].tolist(), np.split(kept["A"], ends), np.split(kept["phi"], ends), strict=True))
