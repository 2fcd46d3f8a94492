"""Attack on the best known code at 16 features in six dimensions, by somebody who knew only the statement.

Where every feature is far louder than the next, an output v that meets a louder input u at v.u = 0 is undisturbed by
it, one with v.u < 0 is silenced by it (a conflict), and v.u > 0 is not allowed. An annealed search over ordered
directions of all features in all dimensions, with no division into blocks, looks for the fewest conflicts. All weights
and the loudness of each feature then descend at finite loudness on a sum over sets of features that are on.
"""

from __future__ import annotations

import argparse
import itertools
import math

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize

Floats = NDArray[np.float64]


def best_outputs(inputs: Floats, outputs: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The output vector with the fewest conflicts for each feature, the loudest first, and how many it has."""
    along = outputs @ inputs.T
    above, below = along > 0, along < 0
    allowed = above & (np.cumsum(above, 1) - above == 0)
    conflicts = np.where(allowed, np.cumsum(below, 1) - below, len(inputs) + 1)
    best = conflicts.argmin(0)
    return best, conflicts[best, np.arange(len(inputs))]


def directions(nd: int) -> Floats:
    """Vectors of -1, 0 and 1, of which at least one is not 0."""
    return np.array([v for v in itertools.product((-1.0, 0.0, 1.0), repeat=nd) if any(v)])


def annealed(ns: int, nd: int, p: float, *, seed: int, steps: int) -> tuple[float, Floats, Floats]:
    """The loss per feature without finite loudness, and inputs and outputs with the fewest conflicts that were met."""
    rng, outputs = np.random.default_rng(seed), directions(nd)
    price = np.array([*(1 - (1 - p) ** np.arange(ns)), 1.0, 1.0]) * p / 3  # the last: a feature that is dropped

    def drawn() -> Floats:
        u, at = np.zeros(nd), rng.choice(nd, min(nd, 1 + rng.geometric(0.5)), replace=False)
        u[at] = rng.choice([-1, 1], len(at))
        return u

    now = np.array([drawn() for _ in range(ns)])
    least = at_now = float(price[best_outputs(now, outputs)[1]].mean())
    best = now
    for step in range(steps):
        new, (i, j), kind = now.copy(), rng.integers(ns, size=2), rng.random()
        if kind < 0.35:
            new[i] = drawn()
        elif kind < 0.6:
            new[i, rng.integers(nd)] = rng.integers(-1, 2)
        elif kind < 0.8:
            new[[i, j]] = new[[j, i]]
        else:
            new[i] = new[j] * rng.choice([-1, 1])
        at_new = float(price[best_outputs(new, outputs)[1]].mean())
        heat = p**2 / 3 / ns * 0.08 ** (step / steps)
        if new[i].any() and (at_new <= at_now or rng.random() < math.exp((at_now - at_new) / heat)):
            now, at_now = new, at_new
            if at_now < least - 1e-12:
                least, best = at_now, now
    chosen = outputs[best_outputs(best, outputs)[0]]
    return least, best, chosen / np.maximum((chosen * best).sum(1, keepdims=True), 1)


def vectors(ns: int, p: float, counts: tuple[int, ...], seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Feature vectors with 0, 1, ... features on, so many for each set of features, and their probabilities."""
    rng, rows, weights = np.random.default_rng(seed), [np.zeros((1, ns))], [np.array([(1 - p) ** ns])]
    for k, count in enumerate(counts, start=1):
        lattice = np.arange(count)[:, None] * (np.sqrt([2.0, 3.0, 5.0, 7.0, 11.0])[:k] if k > 1 else 1 / count)
        for features in itertools.combinations(range(ns), k):
            rows.append(np.zeros((count, ns)))
            rows[-1][:, features] = (lattice + rng.random(k)) % 1
            weights.append(np.full(count, p**k * (1 - p) ** (ns - k) / count))
    return torch.tensor(np.concatenate(rows)), torch.tensor(np.concatenate(weights))


def weights_of(flat: torch.Tensor, ns: int, nd: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """W_in, W_out and b from directions, outputs, logarithms of loudness and biases."""
    u, v, s, b = flat.split([nd * ns, nd * ns, ns, ns])
    return u.view(nd, ns) * s.exp(), v.view(ns, nd) * (-s).exp()[:, None], b


def descended(
    start: Floats, ns: int, nd: int, x: torch.Tensor, weight: torch.Tensor, steps: int
) -> tuple[Floats, float]:
    """All weights and the loss per feature after L-BFGS."""

    def loss(at: Floats) -> tuple[float, Floats]:
        flat = torch.tensor(at, requires_grad=True)
        W_in, W_out, b = weights_of(flat, ns, nd)
        value = (((torch.relu(x @ (W_out @ W_in).T + b) - x) ** 2).sum(1) * weight).sum() / ns * 1e3
        return value.item(), torch.autograd.grad(value, flat)[0].numpy()

    options = {"maxiter": steps, "maxcor": 30, "ftol": 1e-12}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
    return found.x, found.fun / 1e3


def attack(
    ns: int, nd: int, p: float, *, seed: int, anneal: int, counts: tuple[int, ...], steps: int, gap: float
) -> tuple[float, float]:
    """Loss of the design without finite loudness, and after descent from it with levels of loudness e^gap apart."""
    limit, inputs, outputs = annealed(ns, nd, p, seed=seed, steps=anneal)
    loudness = np.zeros(ns)
    for i in range(ns - 2, -1, -1):  # one step above every quieter feature that it meets in either direction
        meets = (outputs[i + 1 :] @ inputs[i] != 0) | (inputs[i + 1 :] @ outputs[i] != 0)
        loudness[i] = max(gap + loudness[i + 1 :][meets], default=0.0)
    start = np.concatenate([inputs.T.ravel(), outputs.ravel(), loudness, np.zeros(ns)])
    start += 1e-3 * np.random.default_rng(seed).normal(size=len(start))
    return limit, descended(start, ns, nd, *vectors(ns, p, counts, seed), steps)[1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("seed", 0), ("anneal", 15_000), ("steps", 300)):
        parser.add_argument(f"--{name}", type=int, default=default)
    print(attack(16, 6, 0.0453, counts=(16, 100, 16, 3), gap=1.5, **vars(parser.parse_args())))
