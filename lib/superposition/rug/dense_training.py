"""Can training be led to loud and quiet codes? Descent on a whole network, dense at the start, no block imposed.

Each method changes one thing about the start or the way; the loss that counts is always the plain one.
Source: ours, against The Persian Rug, section 5.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from superposition import checks, features
from superposition.devices import torch
from superposition.rug import meanfield
from superposition.rug.tile_search import draw, measured_loss

METHODS = ("plain", "loudness", "unequal", "softplus", "sparse encoder", "shared blocks")


def train_dense(
    ns: int,
    nd: int,
    p: float,
    method: str,
    *,
    steps: int = 2000,
    batch: int = 256,
    lr: float = 3e-3,
    fresh: int = 40_000,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, float]:
    """Train W_in, W_out and b from a dense start by one of several methods.

    Parameters
    ----------
    ns, nd : int
        Features, at least 4, and dimensions, from 1 to ns.
    p : float
        Probability that a feature is on, in (0, 1].
    method : str
        "plain"; "loudness": every feature has a log loudness as a parameter; "unequal": that, and loudness drawn from
        a log-normal law of width 1 at the start; "softplus": that of "loudness", with a softplus that sharpens to the
        ReLU over the first half; "sparse encoder": that of "loudness", with an l1 term on the encoder that fades over
        the first half; "shared blocks": that of "loudness", with blocks of four dimensions imposed, a control.
    steps, batch : int
        Steps of Adam and feature vectors a step, at least 1.
    lr : float
        Learning rate at the start, above 0.
    fresh : int
        Feature vectors that measure the loss.
    seed : int
        Seed of everything.
    progress : callable, optional
        Called as ``progress(done, total)`` now and then.

    Returns
    -------
    dict
        ``loss``, ``loss_se``, ``over_rug`` (loss over the rug's), ``asymmetry`` (|W - W^T| / |W|), ``spread`` (standard
        deviation of the log norms of the encoder's columns) and ``strongest`` (median over features of the most
        negative entry over the diagonal).

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> found = train_dense(16, 4, 0.1, "plain", steps=300, batch=64, fresh=2000)
    >>> 0.9 < found["over_rug"] < 1.3  # as good as a rug; without any dimension it would be 1.9
    True
    >>> -1.3 < found["strongest"] < -0.7  # each feature has an opposite one
    True
    """
    ns = checks.whole("ns", ns, 4)
    nd, p = checks.whole("nd", nd, 1, ns - 1), float(features.probability(p))
    checks.one_of("method", method, METHODS)
    steps = checks.whole("steps", steps, 1)
    generator = torch.Generator().manual_seed(seed)
    weights, mask = _start(ns, nd, method, generator)
    optimiser = torch.optim.Adam(weights, lr=lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for step in range(steps):
        x, share = draw(ns, p, batch, generator)
        left = max(0.0, 1 - 2 * step / steps)
        loss = _loss(weights, mask, x, share, 0.3 * left if method == "softplus" else 0.0) / p**2
        if method == "sparse encoder":
            loss = loss + 0.3 * left * weights[0].abs().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if progress is not None and step % 50 == 49:
            progress(step + 1, steps)
    return _report(weights, mask, p, fresh, seed)


def _start(ns, nd, method, generator):
    W_in = torch.randn(nd, ns, generator=generator) / nd**0.5
    mask = torch.ones(nd, ns)
    if method == "shared blocks":
        mask = (torch.arange(nd)[:, None] * (nd // 4) // nd == torch.arange(ns) * (nd // 4) // ns).float()
        W_in = W_in * mask * (nd / 4) ** 0.5
    width = 1.0 if method == "unequal" else 0.0
    loud = width * torch.randn(ns, generator=generator)
    weights = [W_in, W_in.T.clone(), torch.zeros(ns), loud]
    for value in weights:
        value.requires_grad_(method != "plain" or value is not loud)
    return weights[: 3 if method == "plain" else 4], mask


def _product(weights, mask):
    W_in, W_out, b = weights[:3]
    loud = weights[3].exp() if len(weights) > 3 else torch.ones(())
    return W_in * mask * loud, W_out * mask.T / loud.reshape(-1, 1), b


def _loss(weights, mask, x, share, temperature):
    W_in, W_out, b = _product(weights, mask)
    out = x @ W_in.T @ W_out.T + b
    out = torch.nn.functional.softplus(out, beta=1 / temperature) if temperature > 0 else torch.relu(out)
    return (x - out).square().mean(dim=1) @ share


def _report(weights, mask, p, fresh, seed):
    W_in, W_out, b = (value.detach().double().numpy() for value in _product(weights, mask))
    loss, se = measured_loss(W_in, W_out, b, p, samples=fresh, seed=seed + 1)
    W, norms = W_out @ W_in, np.linalg.norm(W_in, axis=0)
    heard = np.diag(W) > 0.1
    return {
        "loss": loss,
        "loss_se": se,
        "over_rug": loss / float(meanfield.optimum(p, len(W_in) / len(b)).loss),
        "asymmetry": float(np.linalg.norm(W - W.T) / np.linalg.norm(W)),
        "spread": float(np.log(norms[norms > 0]).std()),
        "strongest": float(np.median(W[heard].min(axis=1) / np.diag(W)[heard])) if heard.any() else 0.0,
    }
