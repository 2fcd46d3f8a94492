"""Dimensions of an autoencoder: how many it has and uses, how they are shared, and how even they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from superposition import checks
from superposition.diagnosis import ablations, names, record_verifier
from superposition.diagnosis.weights import Weights

WHOLE = 2048  # features up to which the eigenvalues of a product are worked out
SINGLE = float(np.finfo(np.float32).eps)


def scaled(weights: Weights, unit: float) -> Weights:
    """The same model for features in another unit: its biases and thresholds change, its product does not."""
    bar, other = weights.threshold, weights.otherwise
    other = None if other is None else (other[0], scaled(other[1], unit))
    return replace(weights, b=weights.b * unit, threshold=None if bar is None else bar * unit, otherwise=other)


def of(weights: Weights, nd: int | None) -> tuple[int, int]:
    """Dimensions, as given, or of the factors, or the rank of the product; and how many of them are used."""
    ns = weights.ns
    if weights.W_in is None:
        rank = _rank_of_product(weights)
        nd = rank if nd is None else checks.whole("nd", nd, 1, ns)
        return nd, min(nd, rank)
    width = min(len(weights.W_in), ns)
    nd = width if nd is None else checks.whole("nd", nd, 1, ns)
    return nd, min(nd, _rank(weights.W_in.T), _rank(weights.W_out))


def among(weights: Weights, heard: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The product for the features that are heard, each row divided by its gain."""
    W = weights.rows(0, weights.ns)[np.ix_(heard, heard)].astype(float)
    return W / np.diag(W)[:, None]


def capacity(weights: Weights) -> float:
    """Sum over features of (w_i w_i)^2 / sum_j (w_i w_j)^2, w the encoder's columns (or W_ij of a product)."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if weights.W_in is None:
            W = weights.rows(0, weights.ns)
            return float(np.nansum(np.diag(W) ** 2 / (W**2).sum(axis=1)))
        length = np.linalg.norm(weights.W_in, axis=0)
        unit = weights.W_in / np.where(length > 0, length, 1)
        shared = np.einsum("ij,ij->j", unit, (weights.W_in @ weights.W_in.T) @ unit)
        return float(np.nansum(np.where(length > 0, length**2 / shared, 0)))


def spread(
    weights: Weights, heard: NDArray[np.bool_], relative: NDArray[np.float64] | None, loud: NDArray[np.float64]
) -> float:
    """How unequal the eigenvalues of the product are among the features that are heard: 0 for a tight frame."""
    if relative is not None:
        even = relative * loud[:, None] / loud
        return names.spread_of(np.linalg.eigvalsh((even + even.T) / 2))
    if weights.W_in is None or weights.W_out is None:
        if heard.sum() > WHOLE:
            return np.nan
        W = among(weights, heard)
        return names.spread_of(np.linalg.eigvalsh((W + W.T) / 2))
    inner = weights.W_in[:, heard] @ (weights.W_out[heard] / weights.gains()[heard, None])
    return names.spread_of(np.linalg.eigvals(inner).real)


def _rank(columns):
    """Rank of a matrix (n, nd) at the precision of its entries, with rows scaled to equal length."""
    length = np.linalg.norm(columns, axis=1, keepdims=True)
    unit = columns / np.where(length > 0, length, 1)
    values = np.linalg.eigvalsh(unit.T @ unit)
    return max(1, int((values > values[-1] * 1e-10).sum()))


def _rank_of_product(weights):
    """Rank of a product at its precision, with its loudness balanced where it is small enough."""
    W = weights.W
    if not weights.single:
        few = len(W) <= names.NAMED
        return record_verifier.rank_of(W) if few else max(1, int(np.linalg.matrix_rank(W)))
    on = np.diag(W) > 0
    if on.all() and len(W) <= names.NAMED:
        loud = ablations.loudness(W / np.diag(W)[:, None])
        W = W * loud[:, None] / loud
    return max(1, int(np.linalg.matrix_rank(W, rtol=len(W) * SINGLE)))
