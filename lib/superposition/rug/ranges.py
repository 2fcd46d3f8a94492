"""Ranges of the arguments of this wing, in addition to `superposition.ranges`, and relations between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from superposition import checks, features, ranges
from superposition.ranges import LARGEST

MOST = 2**24  # features of a rug: beyond, one vector of them is over 128 MB
MOST_NUMBERS = 2**28  # of feature vectors that are held at once: 2 GB
RAREST = 1e-280  # below, what is computed from p leaves the range of float64
FURTHEST = 30.0  # standard deviations beyond [0, 1] at which a posterior is still resolved


def gains(name: str, value: Any) -> np.ndarray:
    """Gain, the diagonal of W, in [1e-30, 1e30], one or an array."""
    return checks.real(name, value, 1 / LARGEST, LARGEST)


def one_gain(name: str, value: Any) -> float:
    """Gain, the diagonal of W, one number in [1e-30, 1e30]."""
    return checks.number(name, gains(name, value))


def biases(name: str, value: Any) -> np.ndarray:
    """Effective bias, the bias plus the mean interference, in [-1e30, 1e30], one or an array."""
    return checks.real(name, value, -LARGEST, LARGEST)


def one_bias(name: str, value: Any) -> float:
    """Effective bias, the bias plus the mean interference, one number in [-1e30, 1e30]."""
    return checks.number(name, biases(name, value))


def spreads(name: str, value: Any) -> np.ndarray:
    """Standard deviation of the interference, in [0, 1e30], one or an array; below 1e-30 it counts as 0."""
    return checks.real(name, value, 0, LARGEST)


def positive_spreads(name: str, value: Any) -> np.ndarray:
    """Standard deviation of the interference, in [1e-30, 1e30], one or an array."""
    return checks.real(name, value, 1 / LARGEST, LARGEST)


def rare(name: str, value: Any) -> np.ndarray:
    """Probability that a feature is on, in [1e-280, 1], one or an array."""
    return checks.real(name, value, RAREST, 1)


def loud_enough(p: Any, r: Any) -> None:
    """Refuse noise that is so small, with p below 1e-30, that float64 no longer resolves the best bias."""
    p, r = np.broadcast_arrays(p, r)
    quiet = (p < ranges.SMALLEST) & (r < 1) & (features.variance.unchecked(p) * (1 - r) / r < 1e-16)
    if np.any(quiet):
        raise ValueError(
            f"p = {p[quiet][0]:g} is out of range at r = {r[quiet][0]:g}; allowed: from {ranges.SMALLEST:g} on, "
            "or a ratio so small that the noise is above 1e-8"
        )


def not_all(name: str, value: Any) -> np.ndarray:
    """Probability that a feature is on, in [1e-150, 1), as not all are on, one or an array."""
    return checks.real(name, value, 1e-150, 1, open_high=True)


def off_diagonal(name: str, value: Any) -> np.ndarray:
    """Weights of the other features in one row of W, shape (n,), divided by the gain."""
    return checks.real(name, checks.array(name, value, "n"), -LARGEST, LARGEST)


def cumulants(name: str, value: Any) -> np.ndarray:
    """Second, third and fourth cumulant of the interference, shape (3, ...), the second above 1e-30."""
    found = checks.real(name, value, -LARGEST, LARGEST)
    if found.shape[:1] != (3,):
        raise ValueError(f"{name} has shape {found.shape}; allowed: (3, ...)")
    checks.real(name, found[0], 1 / LARGEST, LARGEST)
    return found


def squares(name: str, value: Any) -> np.ndarray:
    """Matrix W, shape (ns, ns), of numbers up to 1e30 in size."""
    return checks.real(name, checks.array(name, value, "ns ns"), -LARGEST, LARGEST)


def with_diagonal(name: str, value: Any) -> np.ndarray:
    """Matrix W, shape (ns, ns), of numbers up to 1e30 in size, on its diagonal from 1e-30 on."""
    found = squares(name, value)
    if np.any(np.abs(np.diag(found)) < 1 / LARGEST):
        raise ValueError(f"{name} has a zero on its diagonal; allowed: from {1 / LARGEST:g} on in size there")
    return found


def power_of_two(name: str, value: Any) -> int:
    """Number of features, a power of two from 2 to 16384."""
    found = checks.whole(name, value, 2, 16384)
    if found & (found - 1):
        raise ValueError(f"{name} = {found} is not a power of two; allowed: powers of two from 2 to 16384")
    return found


def rank(ns: int, nd: int) -> None:
    """Refuse a rank above the number of features."""
    checks.whole("nd", nd, 1, ns)


def seen(y: Any, sigma: Any) -> None:
    """Refuse values y too far outside of [0, 1] for the interference to have brought them there."""
    ranges.together("y", "sigma")(y=y, sigma=sigma)
    outside = np.maximum(np.maximum(np.negative(y), np.subtract(y, 1)), 0)
    if np.any(outside > FURTHEST * np.asarray(sigma)):
        raise ValueError(f"y = {checks.shown(y)} is out of range; allowed: up to {FURTHEST:g} sigma outside of [0, 1]")


def seen_in_wide_noise(y: Any, sigma: Any) -> None:
    """The same where the standard deviation of the interference is 1 or more; beside less, such values are clear."""
    wide = np.asarray(sigma) >= 1
    if np.any(wide):
        seen(np.where(wide, y, 0.0), sigma)


def partner_fits(weight: float, r: float) -> None:
    """Refuse a partner that alone makes more noise than the smallest at this ratio."""
    if weight**2 > (1 / r - 1) * (1 + 1e-12):
        raise ValueError(f"weight = {weight:g} is out of range; allowed: up to {(1 / r - 1) ** 0.5:g} at r = {r:g}")


def separate(t: Any, sigma: Any) -> None:
    """Refuse thresholds at which the interval of the tail is empty (Appendix B)."""
    ranges.together("t", "sigma")(t=t, sigma=sigma)
    if np.any(2 * np.multiply(t, sigma) >= 1):
        raise ValueError(f"t = {checks.shown(t)} is out of range; allowed: 2 t sigma below 1")


def flush_underflow(sigma: np.ndarray) -> np.ndarray:
    """Return standard deviations with 0 for those whose inverse would overflow."""
    return sigma * (sigma >= 1 / LARGEST)


def some_weights(name: str, value: Any) -> np.ndarray:
    """Weights of the other features in one row of W, shape (n,), not all below 1e-30 in size."""
    found = off_diagonal(name, value)
    if np.abs(found).max() < 1 / LARGEST:
        raise ValueError(f"{name} = 0 everywhere; allowed: at least one weight from 1e-30 on in size")
    return found


def power_sums(name: str, value: Any) -> np.ndarray:
    """Sums of the first to fourth powers of the weights of the other features in one row, shape (4,)."""
    return checks.real(name, checks.array(name, value, (4,)), -LARGEST, LARGEST)


def fitting_cumulants(cumulants: Any, a: Any, b: Any, p: Any) -> None:
    """Refuse cumulants whose shape behind the first axis does not broadcast with the other arguments."""
    ranges.together("cumulants", "a", "b", "p")(cumulants=cumulants[0], a=a, b=b, p=p)


def rank_without_constant_row(ns: int, nd: int, antipodal: bool = False) -> None:
    """Refuse a rank that index sets without the constant row cannot have."""
    checks.whole("nd", nd, 1, ns // 2 if antipodal else ns - 1)
    if antipodal and ns % 2:
        raise ValueError(f"ns = {ns} has no antipodal rug; allowed: even numbers")


def ranks(name: str, value: Any) -> list[int]:
    """Ranks, whole numbers from 1, at least one of them."""
    found = checks.wholes(name, value, 1, checks.MOST_FEATURES)
    if not found:
        raise ValueError(f"{name} = [] is empty; allowed: at least one rank")
    return found


def ranks_within(ns: int, nds: list[int]) -> None:
    """Refuse ranks above the number of features."""
    checks.wholes("nds", nds, 1, ns)


def device(name: str, value: Any) -> str:
    """Device of the training: "auto", "cpu", or an accelerator that has float64, as "cuda:1"."""
    from superposition.devices import resolve_device

    resolve_device(value)
    return value


def any_device(name: str, value: Any) -> str:
    """Device of the training: "auto", "cpu", or an accelerator, as "cuda:1" or "mps"; one without float64 will do."""
    from superposition.devices import accelerator

    accelerator(value)
    return value


def captures(captured: bool | None, device: str) -> None:
    """Refuse to capture steps on a device that has no graphs."""
    from superposition.devices import accelerator

    if captured and (on := accelerator(device).type) != "cuda":
        raise ValueError(f"captured = True needs CUDA, and device is {on}; allowed: False, or None for what it has")


def rounds_on(products: str, device: str) -> None:
    """Refuse products in tf32 on a device that has none."""
    from superposition.devices import accelerator

    if products == "tf32" and (on := accelerator(device).type) != "cuda":
        raise ValueError(f"products = 'tf32' needs CUDA, and device is {on}; allowed: float32")


def autoencoder(name: str, value: Any) -> Any:
    """Weights W_in (nd, ns), W_out (ns, nd) and bias (ns,), as torch tensors."""
    parts = list(value) if isinstance(value, (list, tuple)) else []
    if len(parts) != 3 or not all(map(_is_tensor, parts)):
        raise ValueError(f"{name} = {checks.shown(value)} is of another kind; allowed: tensors W_in, W_out and bias")
    W_in, W_out, bias = (tuple(part.shape) for part in parts)
    if len(W_in) != 2 or W_out != W_in[::-1] or bias != W_in[1:]:
        raise ValueError(f"{name} has shapes {W_in}, {W_out}, {bias}; allowed: (nd, ns), (ns, nd), (ns,)")
    return value


def vectors(name: str, value: Any) -> Any:
    """Feature vectors (batch, ns), as a torch tensor."""
    if not _is_tensor(value) or value.ndim != 2:
        raise ValueError(f"{name} = {checks.shown(value)} is of another kind; allowed: a tensor (batch, ns)")
    return value


def features_fit(weights: Any, x: Any) -> None:
    """Refuse feature vectors whose length is not the number of features of the autoencoder."""
    if x.shape[1] != len(weights[2]):
        raise ValueError(f"x has shape {tuple(x.shape)}; allowed: (batch, {len(weights[2])})")


def numbers_of_a_batch(ns: int, batch: int | None) -> None:
    """Refuse batches that would fill the memory."""
    checks.whole("batch", 1 if batch is None else batch, 1, MOST_NUMBERS // ns)


def numbers_of_a_sample(rug: Any, samples: int) -> None:
    """Refuse samples that would fill the memory."""
    checks.whole("samples", samples, 2, MOST_NUMBERS // rug.ns)


def _is_tensor(value):
    from superposition.devices import torch

    return isinstance(value, torch.Tensor)


def or_none(taken: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """Make the range that also allows None."""

    def given(name: str, value: Any) -> Any:
        return None if value is None else taken(name, value)

    given.__doc__ = f"{taken.__doc__} None for the protocol's own."
    return given
