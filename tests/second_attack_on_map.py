"""A second attack on the map of best codes, by somebody who knew only the statement: Adam on many starts, then L-BFGS.

`python tests/second_attack_on_map.py P M B MINUTES [SEED FILE]` spends so much processor time on one block of B
features in M dimensions, prints the least loss over the map's after each generation of starts, and keeps the weights
in FILE, from which a later call goes on; `python tests/second_attack_on_map.py SEED MINUTES` does so at the three
places that `attack_on_map.places` draws.

A weight is exp(t_j - t_i) v_i . u_j, so that a step of Adam multiplies loudness. A generation descends `STARTS` codes
side by side: random vectors, tight frames, chains and levels of loudness in random orders, planes and lines of their
own, a third of them with one feature dropped, and, after the first generation, changed copies of the best codes (one
or two features new, two loudnesses exchanged, noise). Each descends at a probability of its own, which moves from a
larger or smaller value to p in the first six tenths of the steps; small values begin with one feature on at a time.
Every step draws new values, over all sets of one to three features on and samples of more.
"""

import math
import pathlib
import sys
import time
from itertools import combinations

import attack_on_map
import numpy as np
import torch
from superposition import codes

STARTS, STEPS = 48, 3000
KINDS = ("random", "frame", "chain", "levels", "planes", "renewed", "exchanged", "noisy")


def sets(B, per_set, most=80):
    """Which features are on in each point, a row a point: all sets of k features or `most` at random."""
    rng, rows = np.random.default_rng(0), []
    for k in range(1, B + 1):
        every = np.array(list(combinations(range(B), k)))
        if len(every) > most:
            every = every[rng.choice(len(every), most, replace=False)]
        on = np.zeros((len(every), B))
        np.put_along_axis(on, every, 1, 1)
        rows.append(np.repeat(on, max(1, per_set // max(1, k - 1) ** 2), 0))
    return torch.tensor(np.concatenate(rows))


def values(on, generator):
    """Uniform values where a feature is on: a lattice in as many dimensions as features are on, shifted at random."""
    count, B = on.shape
    roots = torch.tensor([root(max(1, k)) for k in range(B + 1)], dtype=torch.float64)[on.sum(1).long()]
    rank = on.cumsum(1)
    shift = torch.rand(B + 1, dtype=torch.float64, generator=generator)[rank.long()]
    return on * torch.remainder(torch.arange(count, dtype=torch.float64)[:, None] * roots[:, None] ** -rank + shift, 1)


def root(k):
    """Solution of x^(k + 1) = x + 1, whose inverse powers are the steps of a lattice in k dimensions."""
    x = 2.0
    for _ in range(60):
        x = (1 + x) ** (1 / (k + 1))
    return x


def shares(on, q):
    """Weight of each point at the probabilities q, a row for each: the binomial weight of its number of features on."""
    k, B = on.sum(1).long(), on.shape[1]
    count = torch.bincount(k, minlength=B + 1)
    ks = torch.arange(B + 1, dtype=torch.float64)
    ways = torch.tensor([float(math.comb(B, j)) for j in range(B + 1)], dtype=torch.float64)
    return (ways * q[:, None] ** ks * (1 - q[:, None]) ** (B - ks))[:, k] / count[k]


def losses(code, x, weight, q):
    """Loss of each code of a batch, as a sum over features: (t, u, v, b), each with the batch in front."""
    t, u, v, b = code
    W = torch.exp(t[:, None, :] - t[:, :, None]) * (v @ u.transpose(1, 2))
    out = torch.relu(torch.baddbmm(b[:, None, :], x.expand(len(t), *x.shape), W.transpose(1, 2)))
    silent = (1 - q) ** x.shape[1] * torch.relu(b).square().sum(1)
    return ((out - x).square().sum(2) * weight).sum(1) + silent


def started(kind, m, B, p, rng, elite):
    """One start: loudness, columns, rows and biases."""
    t, b = np.zeros(B), np.zeros(B)
    if kind in KINDS[5:] and elite:
        t, u, v, b = (part.copy() for part in elite[int(len(elite) * rng.random() ** 2)])
        if kind == "renewed":
            for i in rng.choice(B, rng.integers(1, 3), replace=False):
                u[i] = rng.normal(size=m)
                u[i] /= np.linalg.norm(u[i])
                t[i], v[i], b[i] = rng.uniform(t.min() - 2, t.max() + 2), u[i], 0
        elif kind == "exchanged":
            i, j = rng.choice(B, 2, replace=False)
            t[[i, j]] = t[[j, i]]
            t += rng.normal(size=B) * rng.choice([0, 0.5, 2])
        noise = 10 ** rng.uniform(-2.5, -0.5)
        return t, u + noise * rng.normal(size=u.shape), v + noise * rng.normal(size=v.shape), b
    u = rng.normal(size=(B, m))
    if kind == "frame":
        u = np.linalg.qr(u)[0]
    if kind == "planes":
        axes = np.array_split(np.arange(m), rng.integers((m + 1) // 2, m + 1))
        home = rng.permutation(np.r_[np.arange(len(axes)), rng.integers(len(axes), size=B - len(axes))])
        u *= [[0.1 + (a in axes[h]) for a in range(m)] for h in home]
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    step = np.log(10 ** rng.uniform(0.2, 1.7))
    if kind == "levels":
        t = step * rng.integers(rng.integers(2, B + 1), size=B)
    elif kind == "chain" or (kind == "planes" and rng.random() < 0.7):
        t = step * rng.permutation(B) * (2 / m if kind == "chain" else 1)
    v = u.copy()
    if rng.random() < 0.33:
        i = rng.integers(B)
        u[i], v[i], b[i] = u[i] / 100, v[i] / 100, p / 2
    return t, u, v, b


def descended(code, p, first, steps, per_set, generator, rate=0.03):
    """Adam from a batch of codes, each at a probability that moves from its own `first` to p."""
    code = [torch.tensor(part, requires_grad=True) for part in code]
    on, first = sets(code[0].shape[1], per_set), torch.tensor(first)
    adam = torch.optim.Adam(code, lr=rate, betas=(0.9, 0.99))
    for step in range(steps):
        done = step / steps
        q = torch.exp(torch.log(first) + (math.log(p) - torch.log(first)) * min(1, done / 0.6))
        adam.param_groups[0]["lr"] = rate * (0.5 + 0.5 * math.cos(math.pi * done)) ** 1.5
        adam.zero_grad()
        (losses(code, values(on, generator), shares(on, q), q) / q**2).sum().backward()
        adam.step()
    return [part.detach() for part in code]


def polished(code, p, per_set, generator, steps=150):
    """L-BFGS from one code (a batch of one), on one large draw."""
    code = [part.clone().requires_grad_(True) for part in code]
    on, q = sets(code[0].shape[1], per_set), torch.tensor([p], dtype=torch.float64)
    x, weight = values(on, generator), shares(on, q)
    settings = {"max_iter": steps, "history_size": 30, "tolerance_change": 1e-13}
    descent = torch.optim.LBFGS(code, line_search_fn="strong_wolfe", **settings)

    def closure():
        descent.zero_grad()
        value = losses(code, x, weight, q).sum() / p**2
        value.backward()
        return value

    descent.step(closure)
    return [part.detach() for part in code]


def judged(code, p, tries, seed):
    """Loss of one code through the hidden vector, on fresh draws of some 1e5 vectors each, and its standard error."""
    t, u, v, b = code
    into, out, B = torch.exp(t[0])[:, None] * u[0], torch.exp(-t[0])[:, None] * v[0], len(b[0])
    generator, on = torch.Generator().manual_seed(seed), sets(B, 2**18 >> B, 300)
    q = torch.tensor([p], dtype=torch.float64)
    weight, found = shares(on, q)[0], []
    for _ in range(tries):
        x = values(on, generator)
        found.append(float(weight @ (torch.relu(x @ into @ out.T + b[0]) - x).square().sum(1)))
    silent = float((1 - p) ** B * torch.relu(b).square().sum())
    return np.mean(found) + silent, np.std(found, ddof=1) / math.sqrt(tries)


def attack(m, B, p, seed=0, starts=STARTS, steps=STEPS, per_set=16, elite=()):
    """Generations of starts for ever; yields the number so far, the best code, its loss on fresh vectors and its kind.

    `elite` has the codes to begin with, as such tuples without the number.
    """
    rng, generator = np.random.default_rng(seed), torch.Generator().manual_seed(seed)
    elite, done = list(elite), 0
    on, q = sets(B, 8 * per_set), torch.tensor([p], dtype=torch.float64)
    while True:
        kinds = [KINDS[i % (len(KINDS) if elite else 5)] for i in range(starts)]
        batch = [
            started(kind, m, B, p, rng, [[part[0].numpy() for part in entry[0]] for entry in elite]) for kind in kinds
        ]
        first = [p * 10 ** (rng.uniform(-0.7, 0.3) if kind in KINDS[5:] else rng.uniform(-2, 1)) for kind in kinds]
        batch = [np.stack(parts) for parts in zip(*batch, strict=True)]
        batch = descended(batch, p, np.minimum(first, 0.5), steps, per_set, generator)
        with torch.no_grad():
            x, weight = values(on, generator), shares(on, q)
            level = [float(losses([part[i : i + 1] for part in batch], x, weight, q)) for i in range(starts)]
        tried = [
            ([part[i : i + 1] for part in batch], kinds[i]) for i in np.argsort(np.nan_to_num(level, nan=np.inf))[:4]
        ]
        for code, kind in tried + [(entry[0], entry[2]) for entry in elite[:1]]:
            code = polished(code, p, 64 * per_set, generator)
            loss = judged(code, p, 4, int(rng.integers(2**31)))[0]
            if np.isfinite(loss):
                elite.append((code, loss, kind))
        elite = apart(sorted(elite, key=lambda entry: entry[1]))
        done += starts
        yield done, *elite[0]


def apart(ordered, most=8):
    """The best codes whose losses differ by more than a tenth of a per cent, so that copies do not fill the list."""
    kept = []
    for entry in ordered:
        if all(entry[1] > 1.001 * other[1] for other in kept):
            kept.append(entry)
    return kept[:most]


def attack_for(minutes, m, B, p, seed=0, file=None):
    """As `attack`, from the code in the file if there is one, printing until the processor time is spent."""
    best, begun = codes.best_known(p, m / B), time.process_time()
    known = best.loss * B
    print(
        f"B={B} d={m} p={p}: map {best.loss:.6e}, times {best.loss_of(B) / best.loss:.4f} in whole dimensions",
        flush=True,
    )
    elite = []
    if file and pathlib.Path(file).exists():
        code = [torch.tensor(part) for part in np.load(file).values()]
        elite = [(code, judged(code, p, 4, seed)[0], "file")]
    for done, code, loss, kind in attack(m, B, p, seed, elite=elite):
        spent = time.process_time() - begun
        print(f"  {spent:6.0f} s {done:5d} starts {loss / known:.5f} {kind}", flush=True)
        if file:
            np.savez(file, **dict(zip("tuvb", (part.numpy() for part in code), strict=True)))
        if spent > 60 * minutes:
            break
    loss, error = judged(code, p, 16, seed + 1_000_003)
    print(f"  fresh: {loss / known:.5f} +- {error / known:.5f}", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    if len(sys.argv) == 3:
        for place, (p, m, B) in enumerate(attack_on_map.places(int(sys.argv[1]))):
            attack_for(float(sys.argv[2]), m, B, p, place)
    else:
        p, m, B, minutes, seed, file = [*sys.argv[1:], 0, None][:6]
        attack_for(float(minutes), int(m), int(B), float(p), int(seed), file)
