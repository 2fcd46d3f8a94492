"""A real network: which tokens are in a window of text.

Written before the text kjv and layer 5 were opened (the other texts and layer 3 had been): on kjv the noise of random
vectors is within 1 % of the predicted one, and the linear loss of these within 1 %; the loss of one ReLU that is
predicted by kinds of windows and rivals is within 12 % of the measured one for random vectors and within 25 % for the
networks' own, and nearer than the Gaussian one by a factor of 3 for the latter. On latents of layer 5 the mean field
with company is within 25 % of the measured loss, and independence above it by half at least.

Written before dealt vectors were computed: their noise on text is within 1 % of the predicted one, and the loss of
kinds and rivals within 12 % of the measured one. One ReLU loses more with own vectors than with dealt ones, and more
with these than with random ones, in all cases. Windows of 16 tokens, before any was computed in this form: random
vectors keep the limits of above, and the loss of kinds and rivals is within 25 % for own vectors.

Written before SQLAlchemy's documents were computed with windows of 64: random and dealt vectors keep the limits of
above (noise and linear loss within 1 %, one ReLU within 12 % of kinds and rivals), and with own vectors the error of
kinds and rivals is below 0.6 of the Gaussian error. Written before the other seeds of autoencoders and those of twice
the width (1536) were trained: on layer 3 the mean field with company stays within 25 % of the measured loss at both
widths, on layer 5 it is above it by more than 25 % at each seed, and independence is above it by half at least on both.

Written after one draw of windows of 16 (django, kjv) and of SQLAlchemy at 64, and before their other four draws and
before any draw of SQLAlchemy at 16: the mean over draws keeps every limit of above in each of these cases, SQLAlchemy
at 16 included (random vectors: noise and linear loss within 1 %, kinds and rivals within 12 %; dealt vectors: noise
within 1 %, kinds and rivals within 12 %; own vectors: kinds and rivals within 25 %, always below the measured loss, and
off by less than 0.6 of the Gaussian error; one ReLU loses most with own vectors and least with random ones).

The runs read arrays that `make real` makes, in the folder real/ of the place where the run is started. Nothing is
fetched here, and of the texts only counts are kept.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from superposition.experiments.shared import DEVICE, Seed
from superposition.inputs import Count
from superposition.runs.point import Meaning, Run

Network = Annotated[
    Literal["minilm", "smollm2", "yours", "drawn"],
    Meaning("minilm, smollm2, yours, drawn", "whose token vectors; drawn, Gaussian vectors of 24 dimensions"),
]
Text = Annotated[
    Literal["django", "sqlalchemy", "kjv", "yours", "drawn"],
    Meaning("django, sqlalchemy, kjv, yours, drawn", "which text; drawn, independent tokens of frequencies 1 / rank"),
]
Window = Annotated[Count, Field(ge=2, le=512), Meaning("tokens", "length of a window")]
Vectors = Annotated[
    Literal["own", "dealt", "random"],
    Meaning(
        "own, dealt, random", "the network's vectors; those dealt to other tokens of like frequency; Gaussian ones"
    ),
]
Tokens = Annotated[Count, Field(ge=10, le=2200), Meaning("tokens", "most frequent tokens that are read, at most")]
DIGESTS = {  # first digits of the SHA-256 of the numbers; layers are rounded as their machine does
    "django-minilm": "e59df8bf4cdb",
    "django-smollm2": "ff2e7ffd50f7",
    "kjv-minilm": "2325c62738c9",
    "kjv-smollm2": "a28509e8d5fb",
    "sqlalchemy-minilm": "706306f27712",
    "sqlalchemy-smollm2": "762f2a38a656",
    "vectors-django-minilm": "c4b810ed41eb",
    "vectors-django-smollm2": "f788c44e9d9f",
    "vectors-kjv-minilm": "0dd513818666",
    "vectors-kjv-smollm2": "571192af7504",
    "vectors-sqlalchemy-minilm": "5ad4fbe21f07",
    "vectors-sqlalchemy-smollm2": "359133d97717",
}
FEWEST = 12  # occurrences of a token that is read
BAND = 50  # tokens of like frequency, among which vectors are dealt
WINDOWS = 6000  # windows at most, half of them to describe company and half to measure
TOPICS, SIZES, RIVALS = 8, 8, 4  # kinds of windows, and rivals kept apart
SMALLEST_CELL = 20  # windows
PULL = 4  # windows' worth by which a topic's frequencies are pulled towards those of the text


def material(name: str) -> np.ndarray:
    """An array that `make real` made; refused if its numbers should be the same on all machines and are not."""
    from safetensors.numpy import load

    path = Path("real") / f"{name}.safetensors"
    if not path.exists():
        raise ValueError(f"{path} is missing; allowed: what `make real` makes")
    array = load(path.read_bytes())["array"]
    if digest(array) != DIGESTS.get(name, digest(array)):
        raise ValueError(f"{path} has the digest {digest(array)}; allowed: {DIGESTS[name]}")
    return array


def digest(array: np.ndarray) -> str:
    """First twelve digits of the SHA-256 of an array's numbers."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:12]


def windows_read(
    *, network: Network, text: Text, window: Window, vectors: Vectors, tokens: Tokens, seed: Seed
) -> dict[str, float | int | str]:
    """Predict the losses of reading the tokens of windows from sums of their vectors, and measure them on text."""
    from superposition.correlated import company_losses, presence_losses, presence_reader

    rng = np.random.default_rng(seed)
    table, ids = read(network, text, rng)
    X, kept = windows_of(ids, window, min(tokens, len(table)), rng)
    p = X.mean(axis=0, dtype=float)
    fit, test = X[: len(X) // 2], X[len(X) // 2 :]
    W = dealt(table[kept].astype(float), vectors, rng)
    best = presence_reader(W, p)
    V = p * (1 - p)
    cells = _cells(fit, p, W, best, rng)
    one = (p[None], np.ones(1), np.ones(1))
    code = (W.T, best.gain[:, None] * best.reader, best.gain * (p - best.threshold - best.reader @ (W.T @ p)))
    field = company_losses(fit[:6000], *code)
    predicted = {
        "gaussian": best.relu,
        "rivals": presence_losses(W, p, best, *one, rivals=RIVALS),
        "kinds": presence_losses(W, p, best, *cells),
        "both": presence_losses(W, p, best, *cells, rivals=RIVALS),
        "states": field.company,
        "skewed": field.skewed,
    }
    alone = np.stack([rng.permutation(column) for column in test.T], axis=1)
    return {
        "read": len(p),
        "dimensions": W.shape[1],
        "on": float(p.sum()),
        "windows": len(test),
        "linear_predicted": float(best.linear.sum() / V.sum()),
        **{name: float(loss.sum() / V.sum()) for name, loss in predicted.items()},
        **_measured(test, p, W, best, ""),
        **_measured(alone, p, W, best, "alone_"),
        "vectors_hash": digest(table),
        "text_hash": digest(ids),
        "device": "cpu",
    }


def read(network, text, rng):
    """Vectors of a text's most frequent tokens, in order, and the text; or what is drawn in place of either."""
    if network == "drawn" or text == "drawn":
        ranks = np.arange(1, 401)
        return rng.standard_normal((400, 24)), rng.choice(400, 30_000, p=1 / ranks / (1 / ranks).sum())
    return material(f"vectors-{text}-{network}"), material(f"{text}-{network}")


def windows_of(ids, length, most, rng):
    """Which of the most frequent tokens each window holds (windows, tokens), in random order, and their ranks."""
    counts = np.bincount(ids)
    kept = np.argsort(-counts, kind="stable")[:most]
    kept = kept[counts[kept] >= FEWEST]
    column = np.full(len(counts), len(kept))
    column[kept] = np.arange(len(kept))
    rows = column[ids[: len(ids) // length * length]].reshape(-1, length)
    rows = rows[rng.permutation(len(rows))[:WINDOWS]]
    X = np.zeros((len(rows), len(kept) + 1), np.float32)
    np.put_along_axis(X, rows, 1, axis=1)
    X = X[:, :-1]
    ever = X.any(axis=0) & ~X.all(axis=0)
    return X[:, ever], np.flatnonzero(ever)


def dealt(table, vectors, rng):
    """The vectors of this kind: as they are, dealt to other tokens of like frequency, or Gaussian ones."""
    if vectors == "random":
        return rng.standard_normal(table.shape)
    if vectors == "own":
        return table
    bands = [np.arange(start, min(start + BAND, len(table))) for start in range(0, len(table), BAND)]
    return table[np.concatenate([rng.permutation(one) for one in bands])]


def _cells(X, p, W, best, rng):
    """Kinds of windows: topics, each in windows of several sizes; their probabilities, shares, and swell of noise."""
    weights = best.reader @ W.T
    np.fill_diagonal(weights, 0)
    noisy = (weights**2 / best.noise[:, None] ** 2).mean(axis=0)  # how much noise a token brings, over all outputs
    size = ((X - p) ** 2) @ noisy
    natural = ((1 - 2 * p) ** 2 * p * (1 - p)) @ noisy**2  # variance of that if tokens were independent
    topic = _topics(X, p, rng)
    cells, shares, swell = [], [], []
    for which in range(TOPICS):
        inside = np.flatnonzero(topic == which)
        if not len(inside):
            continue
        q = (X[inside].sum(axis=0, dtype=float) + PULL * p) / (len(inside) + PULL)
        mean, spread = size[inside].mean(), size[inside].var()
        lasting = np.sqrt(max(0.0, 1 - natural * mean / max(spread, 1e-300)))
        order = inside[np.argsort(size[inside])]
        for cell in np.array_split(order, int(np.clip(len(inside) // SMALLEST_CELL, 1, SIZES))):
            ratio = size[cell].mean() / mean
            cells.append(np.minimum(q * max(1 + lasting * (ratio - 1), 0.05), 0.99))
            shares.append(len(cell) / len(X))
            swell.append(size[cell].mean() / ((cells[-1] * (1 - cells[-1])) @ noisy))
    return np.array(cells), np.array(shares), np.array(swell)


def _topics(X, p, rng, directions=60, rounds=12):
    """A topic for each window: nearest means of its tokens, in the directions in which windows differ most."""
    scaled = (X - p.astype(np.float32)) / np.sqrt(p * (1 - p) + 1e-3).astype(np.float32)
    start = rng.standard_normal((len(p), directions)).astype(np.float32)
    Z = scaled @ np.linalg.qr(scaled.T @ (scaled @ start))[0]
    centres = Z[rng.choice(len(Z), TOPICS, replace=False)]
    for _ in range(rounds):
        topic = ((centres**2).sum(axis=1) - 2 * Z @ centres.T).argmin(axis=1)
        for which in range(TOPICS):
            if (topic == which).any():
                centres[which] = Z[topic == which].mean(axis=0)
    return topic  # pyrefly: ignore[unbound-name]: rounds are 12


def _measured(X, p, W, best, prefix):
    """Losses of the linear reader and of the ReLU divided by the variance, and noise divided by its prediction."""
    V, share = p * (1 - p), 1 - best.linear / (p * (1 - p))
    relu, linear, noise = [], [], np.zeros(len(p))
    W, reader, mean = W.astype(np.float32), best.reader.T.astype(np.float32), p.astype(np.float32)
    for start in range(0, len(X), 500):
        x = X[start : start + 500]
        y = ((x - mean) @ W) @ reader + mean
        errors = (x - best.gain * np.maximum(y - best.threshold, 0)) ** 2
        relu.append(errors.sum(axis=1) / V.sum())
        linear.append(((x - p - share * (y - p)) ** 2).sum(axis=1) / V.sum())
        noise += ((y - x) ** 2).sum(axis=0, dtype=float)
    relu, linear, ratio = np.concatenate(relu), np.concatenate(linear), noise / len(X) / best.noise**2
    return {
        f"{prefix}relu": float(relu.mean()),
        f"{prefix}relu_se": float(relu.std() / len(relu) ** 0.5),
        f"{prefix}linear": float(linear.mean()),
        f"{prefix}linear_se": float(linear.std() / len(linear) ** 0.5),
        f"{prefix}noise": float(np.sqrt(ratio.mean())),
    }


SHARE = "loss over the variance, summed over tokens"
PREDICTED = {
    "gaussian": "one ReLU, Gaussian interference, from vectors and frequencies alone",
    "rivals": "the same with the four strongest rivals of each token summed over exactly",
    "kinds": "Gaussian in each kind of window: eight topics, each in up to eight sizes, from half of the windows",
    "both": "the same with the four strongest rivals summed over in each kind",
    "states": "mean field with company: mean and spread of the interference in each state of the own token",
    "skewed": "that with the third cumulant",
}
MEASURED = {
    "relu": "one ReLU, on the other half of the windows",
    "relu_se": "standard error of relu over windows",
    "linear": "the linear reader, on the other half of the windows",
    "linear_se": "standard error of linear over windows",
    "noise": "root mean square over tokens of the interference over what is predicted",
}
CASES = (
    *((text, 16) for text in ("django", "kjv")),
    *((text, 64) for text in ("django", "kjv", "sqlalchemy")),
    ("sqlalchemy", 16),
)


RUNS = (
    Run(
        name="real-windows",
        feeds="chapter 12: which words are in a window, predicted and measured",
        computes=windows_read,
        columns={
            "read": Meaning("tokens", "tokens that are read: frequent enough, in some windows and not in all"),
            "dimensions": Meaning("dimensions", "dimensions of the vectors"),
            "on": Meaning("tokens", "tokens that a window holds of those, on average"),
            "windows": Meaning("windows", "windows on which losses are measured"),
            "linear_predicted": Meaning("no unit", f"{SHARE}: the linear reader, predicted"),
            **{name: Meaning("no unit", f"{SHARE}, predicted: {words}") for name, words in PREDICTED.items()},
            **{name: Meaning("no unit", f"measured: {words}") for name, words in MEASURED.items()},
            **{
                f"alone_{name}": Meaning("no unit", f"without company, each token in windows drawn anew: {words}")
                for name, words in MEASURED.items()
            },
            "vectors_hash": Meaning("digits", "first digits of the SHA-256 of the frequent tokens' vectors"),
            "text_hash": Meaning("digits", "first digits of the SHA-256 of the text's tokens"),
            **DEVICE,
        },
        small=(
            {
                "network": ("drawn",), "text": ("drawn",), "window": (16,), "vectors": ("own",), "tokens": (200,),
                "seed": (0,),
            },
        ),
        full=tuple(
            {
                "network": ("minilm", "smollm2"), "text": (text,), "window": (window,),
                "vectors": ("own", "dealt", "random"), "tokens": (2000,), "seed": (0, 1, 2, 3, 4),
            }
            for text, window in CASES
        ),
        hours={"small": 0.001, "full": 0.3},
    ),
)  # fmt: skip
