"""Codes tuned under a budget: all weights of a small tile descend while loudness, weights, noise or decay is limited.

Source: ours. Where the budget is tight, the best codes are close to the text's codes of equal loudness (The Persian
Rug, section 4.2).
"""

from __future__ import annotations

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.codes import ranges as within
from superposition.codes.as_networks import drawn
from superposition.codes.best_map import side_by_side
from superposition.codes.budgets import balanced
from superposition.codes.fans import Code, cone, valid_code
from superposition.codes.swept import largest_ratio, swept_fan
from superposition.features import Estimate

LIMITS = ("range", "bound", "noise", "decay")
FEW, MANY = 2**12, 2**14  # feature vectors on which starts are screened, and the best are refined
SCREENED, REFINED = 240, 600  # iterations
LOOSE = (2, 1, 0)  # steps of a budget that tightens
KEPT = 2
LEAST, MOST, EVEN = 1.5, 1e4, 5.0  # span of loudness of the first weights, and the most of nearly equal ones


@checked(
    within.tile_fits, within.a_range_from_1, m=ranges.whole(2, 1024), B=ranges.whole(4, 4096), p=within.rare,
    budget=ranges.one_of(*LIMITS), strength=ranges.number(1e-9, 1e12), starts=ranges.whole(1, 1000),
    seed=within.torch_seed,
)  # fmt: skip
def tuned_code(m: int, B: int, p: float, budget: str, strength: float, *, starts: int = 12, seed: int = 0) -> Code:
    """The best code of B features in m dimensions that is found when all its weights are tuned under a budget.

    Every second start has random directions of nearly equal loudness and descends under the budget. The others begin
    under a looser budget: swept fans side by side, with a cone where the dimensions are odd, such codes of another span
    with noise, and random weights. The best after a short descent are refined by L-BFGS. Needs torch.

    Parameters
    ----------
    p : float
        Probability that a feature is on, from 1e-12 to 1.
    strength : float
        "range": loudest divided by softest feature; "bound": largest weight of encoder and decoder; "noise": standard
        deviation of hidden noise if the longest column of the encoder is 1; "decay": lambda of
        lambda (|W_in|^2 + |W_out|^2) / B.

    Returns
    -------
    Code
        Source: ours. Use `under_budget` instead to choose among given codes.

    Examples
    --------
    >>> code = tuned_code(2, 8, 0.05, "range", 10, starts=1)
    >>> loud = np.linalg.norm(code.W_in, axis=0)
    >>> bool(loud.max() / loud.min() < 10.01)
    True
    """
    rng, found = np.random.default_rng(seed), []
    few, many = (drawn(B, p, count, rng) for count in (FEW, MANY))
    for start in range(starts):
        span = strength**2 if budget in ("range", "bound") else 100.0
        code, steps = (_even(m, B, rng), (0,)) if start % 2 else (_first(m, B, span, start // 2, rng), LOOSE)
        for step in steps:
            limit = _loosened(budget, strength, step)
            loss, code = _descended(code, few, p, budget, limit, SCREENED // len(steps))
        found.append((loss, code))  # pyrefly: ignore[unbound-name]: of the last step
    best = sorted(found, key=lambda pair: pair[0])[:KEPT]
    return min((_descended(code, many, p, budget, strength, REFINED) for _, code in best), key=lambda pair: pair[0])[1]


@checked(code=valid_code, p=within.rare, noise=ranges.number(0, 1e12), samples=within.draws, seed=ranges.seed)
def noisy_code_loss(code: Code, p: float, noise: float, *, samples: int, seed: int | np.random.Generator) -> Estimate:
    """Loss of a code with Gaussian noise on its hidden vector, integrated and not drawn. Needs torch.

    Parameters
    ----------
    noise : float
        Standard deviation if the longest column of the encoder is 1.

    Returns
    -------
    superposition.features.Estimate
        Source: ours. Use `network_loss` instead without noise.

    Examples
    --------
    >>> from superposition.codes import swept_fan
    >>> [round(noisy_code_loss(swept_fan(5, 10), 0.05, noise, samples=20_000, seed=0).mean, 4) for noise in (0, 1e-3)]
    [0.0008, 0.8254]
    """
    from superposition.devices import torch

    x, share = drawn(len(code.b), p, samples, np.random.default_rng(seed))
    with torch.no_grad():
        errors, silent = _errors([torch.tensor(value) for value in code], torch.tensor(x), noise)
    found = Estimate.of(errors.mean(dim=1).numpy() * share * samples)
    return Estimate(found.mean + (1 - p) ** len(code.b) * float(silent.mean()), found.se)


def _loosened(budget, strength, step):
    """A looser budget, which the descent tightens to the required one by step 0."""
    return strength ** (1 + step / 2) if budget in ("range", "bound") else strength / 10.0**step


def _first(m, B, span, start, rng):
    """Initial weights: codes of some span of loudness, all but the first with noise, or random ones."""
    span = min(max(span, LEAST), MOST) ** (1.0 if start == 0 else rng.uniform(0.2, 1))
    if start % 2 and start:
        w = rng.standard_normal((m, B))
        w *= span ** rng.uniform(-0.5, 0.5, B) / np.linalg.norm(w, axis=0)
        return balanced(Code(w, w.T / np.sum(w**2, axis=0)[:, None], np.zeros(B)))
    lone = round(3 * B / m) if m % 2 else 0  # features of a cone, where the dimensions are odd
    sizes = np.diff(np.linspace(lone, B, (m - 3 if lone else m) // 2 + 1).round().astype(int)).tolist()
    parts = [swept_fan(size, max(1.0, largest_ratio(size, 1.0, 1.0, span)), 1.0) for size in sizes if size]
    if lone:
        parts.append(cone(lone, span ** (1 / (lone - 1))))
    code = balanced(side_by_side(parts))
    if start:
        scale = 0.1 * np.linalg.norm(code.W_in, axis=0), 0.1 * np.linalg.norm(code.W_out, axis=1)[:, None]
        w, v = (value + size * rng.standard_normal(value.shape) for value, size in zip(code, scale, strict=False))
        code = Code(w, v, code.b)
    return code


def _even(m, B, rng):
    """Random directions of nearly equal loudness, each read along itself."""
    w = rng.standard_normal((m, B))
    w *= EVEN ** (rng.random() * rng.uniform(-0.5, 0.5, B)) / np.linalg.norm(w, axis=0)
    return balanced(Code(w, w.T / np.sum(w**2, axis=0)[:, None], np.zeros(B)))


def _descended(first, vectors, p, budget, strength, iterations):
    """Loss under the budget and code after L-BFGS on fixed feature vectors."""
    from scipy.optimize import minimize

    from superposition.devices import torch

    (m, B), (x, share) = first.W_in.shape, (torch.tensor(part) for part in vectors)
    size, noise = m * B, strength if budget == "noise" else 0.0
    loud = np.linalg.norm(first.W_in, axis=0)
    bounds = [(-np.inf, np.inf)] * (2 * size + B)
    parts = [first.W_in, first.W_out, first.b]
    if budget == "range":  # directions, and the logarithm of loudness
        level = np.clip(np.log(loud / loud.max()), -np.log(strength), 0)
        parts = [first.W_in / loud, first.W_out * loud.max(), first.b, level]
        bounds += [(-float(np.log(strength)), 0.0)] * B
    if budget == "bound":
        bounds[: 2 * size] = [(-strength, strength)] * (2 * size)

    def weights(values):
        w, v, b = values[:size].view(m, B), values[size : 2 * size].view(B, m), values[2 * size : 2 * size + B]
        if budget == "range":
            w = w / w.norm(dim=0) * values[2 * size + B :].exp()
        return [w, v, b]

    def total(values):
        values = torch.tensor(values, requires_grad=True)
        code = weights(values)
        errors, silent = _errors(code, x, noise)
        loss = errors.mean(dim=1) @ share + (1 - p) ** B * silent.mean()
        if budget == "decay":
            loss = loss + strength * (code[0].square().sum() + code[1].square().sum()) / B
        (loss / p**2).backward()
        return loss.item() / p**2, values.grad.numpy()  # pyrefly: ignore[missing-attribute]: there after backward

    start = np.concatenate([part.ravel() for part in parts])
    start = np.clip(start, *np.transpose(bounds))
    options = {"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 30, "ftol": 1e-12, "gtol": 1e-9}
    found = minimize(total, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    code = Code(*(value.detach().numpy() for value in weights(torch.tensor(found.x))))
    return float(found.fun), code


def _errors(code, x, noise):
    """Squared errors for each vector and output, and the squared outputs of silence; the noise is integrated."""
    from superposition.devices import torch

    w, v, b = code
    y = x @ w.T @ v.T + b
    if not noise:
        return (torch.relu(y) - x).square(), torch.relu(b).square()
    spread = noise * w.norm(dim=0).max() * v.norm(dim=1)

    def square(y, x):
        z = y / spread
        inside, density = torch.special.ndtr(z), torch.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        mean, power = spread * (z * inside + density), spread**2 * ((z**2 + 1) * inside + z * density)
        return power - 2 * x * mean + x**2

    return square(y, x), square(b, torch.zeros(()))
