"""Let gradient descent choose the rug: matrices that a Hadamard matrix diagonalises.

Every W = H diag(eigenvalues) H / ns has a constant diagonal, and rows that are permutations of
each other. Descent on its eigenvalues, while the smallest are cut until nd are left, is a search
over all index sets and all weights on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import features, ranges
from superposition.checked import checked
from superposition.rug import rugs
from superposition.rug.ranges import MOST, device, numbers_of_a_batch, numbers_of_a_sample, power_of_two, rank

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Int
    from numpy.typing import ArrayLike

WINDOW = 100  # steps whose masks stay on the device until the host asks


@dataclass(frozen=True)
class WalshDescent:
    """Where a descent ended: ``eigenvalues`` (ns,), nd of them not 0, ``bias``, and the loss with its standard error.

    ``ranks`` and ``partners`` have, after each step, the number of eigenvalues left and the
    largest share of them that lies in one odd coset: 1 for an antipodal rug.
    """

    eigenvalues: np.ndarray
    bias: float
    loss: float
    loss_se: float
    ranks: np.ndarray
    partners: np.ndarray


def _partner_share(indices: ArrayLike, ns: int) -> float:
    """Largest share of an index set in one odd coset {k: k AND e has an odd number of ones}; 1 if antipodal."""
    kept = np.zeros(ns)
    kept[np.asarray(indices)] = 1
    # the most negative entry of the rug is 1 - 2 times the share
    return float(1 - rugs.walsh_hadamard(kept)[1:].min() / kept.sum()) / 2


@checked(
    rank, ns=ranges.whole(1, MOST), nd=ranges.whole(1, MOST), bits=ranges.whole(0, 24), seed=ranges.seed,
)  # fmt: skip
def layered_indices(ns: int, nd: int, bits: int, seed: int = 0) -> Int[np.ndarray, " nd"]:
    """Index set (nd,) in layers: numbers with many ones among their lowest bits first, ties at random.

    Notes
    -----
    Source: ours. With one bit and nd up to ns / 2 the rug of the set is antipodal.

    Examples
    --------
    >>> layered_indices(8, 3, bits=2)
    array([2, 3, 7])
    """
    # with one bit and nd up to ns / 2 the rug of the set is antipodal
    weight = np.bitwise_count(np.arange(ns) & (2**bits - 1)).astype(float)
    tie = np.random.default_rng(seed).random(ns)
    return np.sort(np.lexsort((tie, -weight))[:nd])


@checked(
    numbers_of_a_sample, rug=ranges.instance(rugs.Rug), p=ranges.one_probability, samples=ranges.whole(2),
    seed=ranges.seed,
)  # fmt: skip
def decoded_rug_loss(rug: rugs.Rug, p: float, *, samples: int, seed: int) -> features.Estimate:
    """Loss per feature of a rug with the gain and bias that suit it best, chosen on draws of their own.

    Returns
    -------
    superposition.features.Estimate
        Mean and standard error over ``samples`` feature vectors.

    Notes
    -----
    Source: ours. Use `simulated_loss` instead at a given gain and bias.

    Examples
    --------
    >>> decoded_rug_loss(rugs.Rug(8, 3), 0.1, samples=200, seed=0).mean < 0.05
    True
    """
    rng = np.random.default_rng(seed)
    x = features.sample(rug.ns, p, samples, seed=rng)
    y = rug.apply(x)  # dense, not sparse
    noise = float(np.std(y - x))

    def gained(shifts):
        return np.array([np.prod(_gain_and_overlap(x, y, shift)) for shift in shifts])

    grid = np.linspace(-5, 1, 61) * noise
    at = 6 * int(gained(grid[::6]).argmax())  # the loss has one valley: a coarse grid, and a fine one around its best
    near = grid[max(at - 6, 0) : at + 7]
    shift = _lowest(near, np.mean(x**2) - gained(near))
    a = _gain_and_overlap(x, y, shift)[0]
    x = features.sample(rug.ns, p, samples, seed=rng)
    error = np.mean((x - a * np.maximum(rug.apply(x) + shift, 0)) ** 2, axis=1)  # pyrefly: ignore  # dense, not sparse
    return features.Estimate.of(error)


@checked(
    rank, numbers_of_a_batch, ns=power_of_two, nd=ranges.whole(1), p=ranges.one_probability, steps=ranges.steps,
    lr=ranges.number(0, 100, open_low=True), batch=ranges.whole(1, 2**20), seed=ranges.seed, device=device,
    progress=ranges.function,
)  # fmt: skip
def descend_on_eigenvalues(
    ns: int, nd: int, p: float, *, steps: int = 1000, lr: float = 0.02, batch: int = 512, seed: int = 0,
    device: str = "auto", progress: Callable[[int, int], None] | None = None,
) -> WalshDescent:  # fmt: skip
    """Gradient descent on the eigenvalues of H diag(eigenvalues) H / ns, their number annealed from ns to nd.

    Notes
    -----
    Source: ours. Use `Rug` instead for a random index set with equal eigenvalues.

    Examples
    --------
    >>> found = descend_on_eigenvalues(8, 3, 0.1, steps=20, batch=64, device="cpu")
    >>> int((found.eigenvalues != 0).sum())
    3
    """
    # They start near 1, so that W is nearly the identity. At each of the first 70 % of the steps the smallest in
    # absolute value are set to zero, and stay there.
    from superposition import devices, optimise
    from superposition.devices import torch
    from superposition.rug.evaluation import fresh_walsh_loss, walsh_output

    on = devices.resolve_device(device)
    H = torch.from_numpy(rugs.walsh_hadamard(np.eye(ns))).float().to(on)
    rng = np.random.default_rng(seed)
    eigenvalues = torch.tensor(1 + 0.1 * rng.standard_normal(ns), dtype=torch.float32, device=on, requires_grad=True)
    bias = torch.zeros(1, device=on, requires_grad=True)
    ranks = _annealed(ns, nd, steps)
    mask, masks, partners = torch.ones(ns, device=on), [], []

    def loss():
        x = torch.from_numpy(features.sample(ns, p, batch, seed=rng)).float().to(on)
        return torch.mean((walsh_output(x, eigenvalues * mask, bias, H) - x) ** 2)

    mask = _largest(eigenvalues.detach() * mask, ranks[0])
    weights = [eigenvalues, bias]
    for done, _ in optimise.adam(weights, optimise.by_autograd(weights, loss), steps=steps, lr=lr, fused=False):
        masks.append(mask)
        if done % WINDOW == 0 or done == steps:
            partners += [_partner_share(np.flatnonzero(row), ns) for row in torch.stack(masks).cpu().numpy()]
            masks.clear()
        if done < steps:
            mask = _largest(eigenvalues.detach() * mask, ranks[done])
        if progress is not None:
            progress(done, steps)
    kept = (eigenvalues * mask).detach()
    mean, se = fresh_walsh_loss(kept, bias.detach(), H, p, rng)
    return WalshDescent(kept.cpu().numpy().astype(float), bias.item(), mean, se, np.array(ranks), np.array(partners))


def _annealed(ns, nd, steps):
    """Eigenvalues left after each step: from ns down to nd, geometrically over the first 70 %."""
    return [round(nd * (ns / nd) ** max(0.0, 1 - (step + 1) / (0.7 * steps))) for step in range(steps)]


def _largest(eigenvalues, count):
    from superposition.devices import torch

    mask = torch.zeros_like(eigenvalues)
    mask[torch.topk(eigenvalues.abs(), int(count)).indices] = 1
    return mask


def _gain_and_overlap(x, y, shift):
    """Best gain for ReLU(y + shift), and E[x ReLU]; the loss falls by their product (The Persian Rug, eq. 9)."""
    out = y + shift
    np.maximum(out, 0, out=out)
    overlap, power = (np.vdot(other, out) / out.size for other in (x, out))
    return (overlap / power if power > 0 else 0.0), overlap


def _lowest(grid, values):
    """Minimum of a parabola through the lowest point of a grid and its two neighbours."""
    i = int(np.clip(values.argmin(), 1, len(grid) - 2))
    low, middle, high = values[i - 1 : i + 2]
    bend = low - 2 * middle + high
    return grid[i] + (np.clip((low - high) / (2 * bend), -1, 1) if bend > 0 else 0) * (grid[1] - grid[0])
