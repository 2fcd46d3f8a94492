"""An attack on the map of best codes: Levenberg and Marquardt's method on all weights of one block.

`python tests/attack_on_map.py P M B [STARTS]` starts by turns at the map's own code at finite steps of loudness, at
random directions in levels of one to three features, and at random weights; `python tests/attack_on_map.py SEED` does
so at three places that a seed draws (20261127 and 20261128, written here before these places were tried), and with
minutes after the seed it spends as much processor time on each place (20261129 and 20261130, twenty minutes, written
here before they were tried), with every fourth start at the best code so far, with noise.
"""

import sys
import time
from itertools import combinations

import numpy as np
from scipy.stats import binom, qmc
from superposition import codes
from superposition.codes import Code


def vectors(B, p, count, seed):
    """Feature vectors with at least one feature on and their shares: every set of active features, Sobol strengths."""
    k = np.arange(1, B + 1)
    chance = binom.pmf(k, B, p)
    offered = np.sqrt(chance * k)
    offered[0] = min(offered[:2])  # at one feature alone the loss is two parabolas
    xs, shares = [], []
    for size, weight, part in zip(k, chance, offered / offered.sum(), strict=True):
        sets = np.array(list(combinations(range(B), size)))
        each = int(np.ceil(count * part / len(sets)))
        points = each * len(sets)
        strengths = qmc.Sobol(int(size), seed=np.random.default_rng([seed, size])).random_base2(
            int(np.ceil(np.log2(points)))
        )
        x = np.zeros((points, B))
        np.put_along_axis(x, np.repeat(sets, each, axis=0), strengths[:points], axis=1)
        xs.append(x)
        shares.append(np.full(points, weight / points))
    return np.vstack(xs), np.concatenate(shares)


def loss(code, x, share, p):
    """Loss per feature on such vectors and on silence."""
    y = np.maximum(x @ code.W_in.T @ code.W_out.T + code.b, 0)
    silent = (1 - p) ** len(code.b) * np.square(np.maximum(code.b, 0)).sum()
    return (np.square(y - x).sum(axis=1) @ share + silent) / len(code.b)


def descended(code, x, share, p, steps=120):
    """All weights after steps of Levenberg and Marquardt, with a damping that follows success."""
    m, B = code.W_in.shape
    ends, damping, now = (m * B, 2 * m * B), 1e-3, None
    root, silence = np.sqrt(share)[:, None], (1 - p) ** B
    for _ in range(steps):
        if now is None:
            now, (normal, gradient) = loss(code, x, share, p), _normal(code, x, root, silence)
            scale = 1 / np.sqrt(np.diag(normal) + 1e-14 * np.diag(normal).max())
        damped = normal * scale[:, None] * scale + damping * np.eye(len(scale))
        step = -scale * np.linalg.solve(damped, scale * gradient)
        w, v, b = np.split(step, ends)
        tried = Code(code.W_in + w.reshape(m, B), code.W_out + v.reshape(B, m), code.b + b)
        if loss(tried, x, share, p) < now:
            code, now, damping = tried, None, max(damping * 0.3, 1e-12)
        else:
            damping *= 4
    return code


def _normal(code, x, root, silence):
    """The normal matrix and half of the gradient."""
    (W, V, b), (m, B), count = code, code.W_in.shape, len(x)
    hidden = x @ W.T
    y = hidden @ V.T + b
    on, rest = (y > 0) * root, ((np.maximum(y, 0) - x) * root).ravel()
    J = np.zeros((count, B, 2 * m * B + B))
    for i in range(B):
        J[:, i, : m * B] = (on[:, i, None, None] * V[i][:, None] * x[:, None, :]).reshape(count, m * B)
        J[:, i, m * B + i * m : m * B + (i + 1) * m] = on[:, i, None] * hidden
        J[:, i, 2 * m * B + i] = on[:, i]
    flat, biases = J.reshape(count * B, -1), np.arange(2 * m * B, 2 * m * B + B)
    normal, gradient = flat.T @ flat, flat.T @ rest
    normal[biases, biases] += silence * (b > 0)
    gradient[biases] += silence * np.maximum(b, 0)
    return normal, gradient


def start(kind, m, B, p, rng):
    """The map's own code with noise, a code in levels with random directions, or random weights."""
    ratio, noise = float(np.exp(rng.uniform(*np.log((5, 200))))), rng.uniform(0.01, 0.1)
    each, left = divmod(2 * B, m)  # features in a plane, where all planes are alike
    if kind == 0 and m in (4, 6) and each > 4 and not left:  # noise between planes would be louder than the code
        code = codes.side_by_side([codes.chain_code(p, ratio, each, None if each < 7 else 3.0)] * (m // 2))
        W, V = (value * (1 + 1e-3 * rng.standard_normal(value.shape)) for value in code[:2])
        return Code(W, V, code.b - 1e-4)
    if kind == 0 and m == 2 and B > 4:
        code = codes.chain_code(p, ratio, B, None if B < 7 else 3.0)
    elif kind == 0:
        code = codes.side_by_side(codes.best_known(p, m / B).blocks(B, "float16"))
    else:
        u = rng.standard_normal((B, m))
        u /= np.linalg.norm(u, axis=1)[:, None]
        steps = np.where(rng.random(B) < 0.5, rng.uniform(1, 4, B), ratio)
        level = np.exp(-np.cumsum(np.log(steps))) if kind == 1 else np.ones(B)
        code = Code((u * level[:, None]).T, u / level[:, None], np.zeros(B))
    return _noisy(code, noise, rng, 0.01)


def _noisy(code, noise, rng, lower):
    """The code with noise in proportion to each feature's weights and biases that are lower."""
    W = code.W_in + noise * np.linalg.norm(code.W_in, axis=0) * rng.standard_normal(code.W_in.shape)
    V = code.W_out + noise * np.linalg.norm(code.W_out, axis=1)[:, None] * rng.standard_normal(code.W_out.shape)
    return Code(W, V, code.b - lower)


def attack(m, B, p, starts, count, seed=0):
    """The least loss over best_known that is found from each kind of start, on fresh vectors."""
    rng, known = np.random.default_rng(seed), codes.best_known(p, m / B).loss
    drawn, fresh = vectors(B, p, count, seed), vectors(B, p, 10 * count, seed + 1)
    with np.errstate(all="ignore"):
        ends = [descended(start(k % 3, m, B, p, rng), *drawn, p) for k in range(starts)]
        found = np.array([loss(end, *fresh, p) for end in ends]) / known
    return [float(found[kind::3].min()) for kind in range(min(3, starts))]


def attack_for(minutes, m, B, p, count, seed=0):
    """The number of starts and the least loss over best_known, after each improvement and at the end.

    Codes descend on some vectors, the best is chosen on others and printed with its loss on a third set.
    """
    rng, known = np.random.default_rng(seed), codes.best_known(p, m / B).loss
    drawn, others, third = (vectors(B, p, n * count, seed + k) for k, n in enumerate((1, 20, 100)))
    best, least, starts, began = None, np.inf, 0, time.process_time()
    while time.process_time() - began < 60 * minutes:
        hop = best is not None and starts % 4 == 3
        code = _noisy(best, 10 ** rng.uniform(-2.5, -0.5), rng, 0) if hop else start(starts % 4 % 3, m, B, p, rng)
        with np.errstate(all="ignore"):
            end = descended(code, *drawn, p)
            now = loss(end, *others, p)
        starts += 1
        if now < least:
            best, least = end, now
            yield starts, float(loss(best, *third, p) / known)
    yield starts, float(loss(best, *third, p) / known)


def places(seed):
    """Three places (p, dimensions, features): B up to 10 features in two to four dimensions, p from 0.001 to 0.5."""
    rng = np.random.default_rng(seed)
    for _ in range(3):
        m = int(rng.integers(2, 5))
        B = int(rng.integers(m + 1, 11))
        yield round(float(np.exp(rng.uniform(*np.log((1e-3, 0.5))))), 4), m, B


if __name__ == "__main__":
    if len(sys.argv) == 3:
        for p, m, B in places(int(sys.argv[1])):
            for starts, found in attack_for(float(sys.argv[2]), m, B, p, 800 * B):
                print(p, m, B, "after", starts, f"starts: {found:.4f} of best_known", flush=True)
        sys.exit()
    if len(sys.argv) == 2:
        tried = [(*place, 18) for place in places(int(sys.argv[1]))]
    else:
        tried = [(float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int([*sys.argv, 99][4]))]
    for p, m, B, starts in tried:
        least = attack(m, B, p, starts, 800 * B)
        print(p, m, B, "own code, levels, random:", *(f"{one:.4f}" for one in least), "of best_known", flush=True)
