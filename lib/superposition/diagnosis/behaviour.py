"""The ReLU(W_out W_in x + b) that reproduces the forward pass of a model.

Source: ours. One step is affine; the responses to single features give it exactly. The other is a row of A times its
input, scaled, shifted and gated; A is among the object's arrays or is fitted, and scale and shift follow from
responses. If the result does not reproduce the forward pass, it is not used: the responses to pairs of features then
take the place of the product.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from superposition.diagnosis.objects import BLOCK, Model
from superposition.diagnosis.weights import Weights

AGREES = 1e-4  # of the root mean square of the outputs: 1000 units of single precision, far below any mistaken bias
FAR = (16.0, 32.0)  # strengths at which an output is on above its interference: two, as it has a scale and a shift
FITTED = 2e10  # products that a fit of the second step may take: seconds
PAIRS = 1024  # features of which all pairs are tried
OF_BATCH = 0.01  # of the root mean square of the outputs: rounding is far below, a choice among all vectors far above


def weights(model: Model, x: NDArray[np.floating], unit: float) -> tuple[Weights, bool]:
    """Weights that reproduce the forward pass on vectors x (batch, ns) in this unit, or else its responses to pairs.

    The second result says which of the two.
    """
    _refuse_batches(model, x * unit)
    ways = _of_arrays(model) if model.steps is None else _of_steps(model, x * unit, unit)
    worst = np.inf
    for candidates in ways:
        missed = [_misses(model, found, x * unit) for found in candidates]
        worst = min(worst, *missed)
        if worst <= max(AGREES, 4 * model.eps):
            found = candidates[int(np.argmin(missed))]
            gate = " with its gate" if found.k or found.threshold is not None else ""
            said = f"ReLU(W_out W_in x + b){gate} reproduces it to {worst:.1g}"
            return replace(found, told=(*model.told, said), is_sae=model.is_sae), True
    return _by_responses(model, x * unit, unit, worst)


def _refuse_batches(model, x):
    """Refuse a forward pass in which the vectors of a batch change one another's outputs, or which is random."""
    half = len(x) // 2
    whole = model.forward(x)[:half]
    if np.sqrt(np.mean((model.forward(x[:half]) - whole) ** 2)) > max(OF_BATCH, 4 * model.eps) * _size(whole):
        raise ValueError(
            "W has outputs that depend on the other vectors of their batch, or on chance, as those of BatchTopK and "
            "dropout do in training; allowed: the model for inference, or its file"
        )


def _size(out):
    return float(np.sqrt(max(np.mean(out**2), 1e-300)))


def _by_responses(model, x, unit, worst):
    """The product by the responses to pairs of features: exact if it reproduces the pass, else an approximation."""
    if model.ns > PAIRS:
        raise ValueError(f"ns = {model.ns} of a forward pass that no ReLU(W_out W_in x + b) reproduces; allowed: up to "
                         f"{PAIRS} features, all pairs of which are tried")  # fmt: skip
    for far in (FAR[0], 1.0):
        found = _pairs(model, far * unit, unit)
        missed = _misses(model, found, x)
        if missed <= max(AGREES, 4 * model.eps):
            said = f"ReLU(W x + b) of its responses reproduces it to {missed:.1g}"
            found = replace(found, W=_of_its_rank(found.W, model.eps))
            return replace(found, told=(*model.told, said), is_sae=model.is_sae), True
        worst = min(worst, missed)
    said = (
        f"ReLU(W_out W_in x + b) misses its forward pass by {100 * worst:.2g} %, so all that follows is its behaviour"
    )
    return replace(found, told=(*model.told, said), is_sae=model.is_sae), False


def _of_its_rank(W, eps):
    """The product without rounding errors of its precision: the difference of two responses at strength 32."""
    left, values, right = np.linalg.svd(W)
    kept = values > 4 * FAR[1] * eps * np.sqrt(len(W)) * values[0]
    return (left[:, kept] * values[kept]) @ right[kept]


def _pairs(model, own, other):
    """Gains, biases and weights from responses to one feature, and to pairs of features."""
    ns, eye = model.ns, np.eye(model.ns)
    once = np.concatenate([np.diagonal(model.forward(at * eye))[None] for at in (own, 2 * own)])
    gain = (once[1] - once[0]) / own
    W = np.empty((ns, ns))
    for i in range(ns):
        W[i] = (model.forward(own * eye[i] + other * eye)[:, i] - once[0, i]) / other
        W[i, i] = gain[i]
    b = once[0] - gain * own
    silent = once[1] <= 0
    nothing = model.forward(np.zeros((1, ns)))[0]
    return Weights(np.where(nothing > 0, nothing, np.where(silent, -own, b)), W=W)


def _misses(model, found, x):
    """Root mean square of the difference from the forward pass, divided by that of the outputs.

    Outputs so near the limit of their gate that rounding decides whether they pass are left out.
    """
    out = model.forward(x)
    with np.errstate(over="ignore", invalid="ignore"):
        drive = found.drive(x)
        off = found.outputs(drive) - out
        if found.k is not None or found.threshold is not None:
            off[np.abs(drive - found.bars(drive, middle=True)) < max(AGREES, 4 * model.eps) * np.abs(drive).max()] = 0
    missed = np.sqrt(np.mean(off**2)) / _size(out)
    return float(missed) if np.isfinite(missed) else np.inf


def _of_steps(model, x, unit):
    """Weights of an affine first step and a row per output for the second step, under every possible gate."""
    first, second = model.steps
    nothing = first(np.zeros((1, model.ns)))[0]
    F = _columns(first, model.ns, unit, nothing)
    if not np.allclose(first(x), x @ F.T + nothing, rtol=0, atol=max(1e-5, 4 * model.eps) * np.abs(first(x)).max()):
        return
    h = first(x)
    for A in _rows(model, F, second, h):
        scale, shift = _scaled_and_shifted(A, F, nothing, unit, second, h)
        found = Weights(shift + (scale[:, None] * A) @ nothing, W_in=F, W_out=scale[:, None] * A)
        bars = (np.exp(one) if sign else one for one in model.arrays if one.size in (1, model.ns) for sign in (0, 1))
        fit = [one for one in bars if one.shape in ((), (model.ns,)) and np.all(np.isfinite(one)) and np.any(one > 0)]
        gated = [replace(found, k=model.k)] if model.k is not None and model.k < model.ns else []
        yield [found, *gated, *(replace(found, threshold=np.broadcast_to(one, (model.ns,))) for one in fit)]


def _of_arrays(model):
    """Weights of a forward pass of one step, from two matrices and the biases that the object may have."""
    ns, sides = model.ns, [turned for one in model.arrays if one.ndim == 2 for turned in (one, one.T)]
    biases = [one for one in model.arrays if one.shape == (ns,)] or [np.zeros(ns)]
    for F in sides:
        inner = [np.zeros(len(F)), *(one for one in model.arrays if one.shape == F.shape[:1])]
        for A in sides:
            if A.shape == F.shape[::-1] == (ns, len(F)):
                yield [Weights(A @ hidden + b, W_in=F, W_out=A) for hidden in inner for b in biases]


def _columns(first, ns, unit, nothing):
    """The linear part of the first step, (nd, ns), block by block."""
    size = max(1, BLOCK // ns)
    parts = []
    for start in range(0, ns, size):
        one = np.zeros((min(size, ns - start), ns))
        one[np.arange(len(one)), start + np.arange(len(one))] = unit
        parts.append((first(one) - nothing) / unit)
    return np.concatenate(parts).T


def _rows(model, F, second, h):
    """Candidates for the second step's matrix: the object's arrays of that shape, the first's transpose, a fit."""
    nd, ns = F.shape
    for one in model.arrays:
        for turned in (one, one.T):
            if turned.shape == (ns, nd):
                yield turned
    yield F.T
    if ns * nd**3 <= FITTED:
        yield _fit(second, h, nd)


def _fit(second, h, nd):
    """Rows by least squares, each on the hidden vectors that put its output on."""
    rng = np.random.default_rng(0)
    spread = max(float(np.abs(h).max()), 1e-12) * 8
    h = spread * rng.standard_normal((6 * (nd + 2), nd))
    out, design = second(h), np.c_[h, np.full(len(h), spread)]
    rows = np.zeros((out.shape[1], nd))
    for i, on in enumerate(out.T > 0):
        if on.sum() > nd + 1:
            rows[i] = np.linalg.lstsq(design[on], out[on, i], rcond=None)[0][:nd]
    return rows


def _scaled_and_shifted(A, F, nothing, unit, second, h):
    """Scale and shift of each row: by two strengths of its own feature, the shift by given vectors that put it on."""
    drive, out = [], []
    for far in FAR:
        alone = nothing + far * unit * F.T
        drive.append(np.einsum("ij,ij->i", A, alone))
        out.append(_diagonal(second, alone))
    run, rise = drive[1] - drive[0], out[1] - out[0]
    on = (out[0] > 0) & (out[1] > 0) & (np.abs(run) > 1e-9 * np.abs(drive[1]).max())
    scale = np.where(on, rise / np.where(on, run, 1), np.nan)
    h = np.concatenate([h, nothing[None]])
    driven, seen = h @ A.T, second(h)
    for i in np.flatnonzero(~on):  # kept off by others, or without a gain of its own
        up = seen[:, i] > 0
        scale[i] = np.polyfit(driven[up, i], seen[up, i], 1)[0] if np.unique(driven[up, i]).size > 1 else np.nan
    usual = float(np.median(scale[on])) if on.any() else 1.0
    scale = np.where(np.isfinite(scale), scale, usual)
    rest = np.where(seen > 0, seen - scale * driven, 0).sum(axis=0)
    often = (seen > 0).sum(axis=0)
    never = np.where(out[0] > 0, out[0] - scale * drive[0], -np.abs(scale) * np.maximum(drive[1], 0) - unit)
    return scale, np.where(often > 0, rest / np.maximum(often, 1), never)


def _diagonal(second, h):
    """The i-th output of the i-th vector, block by block."""
    size = max(1, BLOCK // len(h))
    parts = [np.diagonal(second(h[i : i + size])[:, i : i + size]) for i in range(0, len(h), size)]
    return np.concatenate(parts)
