"""The book's own model on real words: ReLU(W_out W_in x + b), trained on which tokens windows of a text hold.

Written before the run, after a trial on another text (Debian's anarchism): a model that is trained without company has
the same loss on the text within 3 %, and one that is trained on the text loses less than that by 10 % at least with 20
tokens a dimension and by 25 % with 10. The weight of token j in the output of token i rises with s / p, how often both
meet over chance, and crosses zero between 1.15 and 1.6 with a free decoder and between 0.65 and 0.95 with a tied one.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from superposition.experiments.real_network import Text, Tokens, digest, read
from superposition.experiments.shared import DEVICE, DIMENSIONS, Seed, Steps
from superposition.inputs import Count
from superposition.runs.point import Meaning, Run

Dimensions = Annotated[Count, Field(ge=2, le=500), DIMENSIONS]
Decoder = Annotated[Literal["free", "tied"], Meaning("free, tied", "whether W_out is free, or the transpose of W_in")]
Learned = Annotated[
    Literal["text", "alone"],
    Meaning("text, alone", "what the model is trained on: windows of the text, or each token in windows drawn anew"),
]
WINDOW, AT_MOST, TESTED = 16, 20_000, 4_000  # tokens, and windows
BATCH, RATE = 256, 0.003
HEARD = 0.1  # own weight of a token that the model reads, at least
EXPECTED = 8  # windows in which two tokens would meet by chance, at least
EDGES = (0, 0.25, 0.5, 0.75, 0.9, 1.1, 1.35, 1.75, 2.5, 4, np.inf)  # of s / p


def words_trained(
    *, text: Text, dimensions: Dimensions, decoder: Decoder, learned: Learned, tokens: Tokens, steps: Steps, seed: Seed,
    device: str = "auto",
) -> dict[str, float | int | str]:  # fmt: skip
    """Train the model on windows; measure its loss on text and without company, and its weights against s / p."""
    from superposition.devices import resolve_device

    rng = np.random.default_rng(seed)
    ids = read("drawn" if text == "drawn" else "minilm", text, rng)[1]
    X = _held(ids, tokens)
    X = X[rng.permutation(len(X))[:AT_MOST]]
    alone = np.stack([rng.permutation(column) for column in X.T], axis=1)
    tested = min(TESTED, len(X) // 4)
    on = resolve_device(device)
    code = _trained((X if learned == "text" else alone)[tested:], dimensions, decoder, steps, seed, on)
    p = X.mean(axis=0, dtype=float)
    losses = {name: _loss(x[:tested], code, p) for name, x in (("text", X), ("alone", alone))}
    return {
        **{f"{name}_loss": loss for name, (loss, _) in losses.items()},
        **{f"{name}_se": se for name, (_, se) in losses.items()},
        **_weights(X, code, p),
        "text_hash": digest(ids),
        "device": str(on),
    }


def _held(ids, tokens):
    """Which of the most frequent tokens each window of the text holds (windows, tokens)."""
    column = np.full(ids.max() + 1, tokens)
    column[np.argsort(-np.bincount(ids), kind="stable")[:tokens]] = np.arange(tokens)
    rows = column[ids[: len(ids) // WINDOW * WINDOW]].reshape(-1, WINDOW)
    X = np.zeros((len(rows), tokens + 1), np.float32)
    np.put_along_axis(X, rows, 1, axis=1)
    return X[:, :-1]


def _trained(X, dimensions, decoder, steps, seed, on):
    """W_in (nd, n), W_out (n, nd) and b of the trained model."""
    from superposition import optimise
    from superposition.devices import torch

    draw = torch.Generator().manual_seed(seed)
    encoder = (torch.randn(X.shape[1], dimensions, generator=draw) / dimensions**0.5).to(on).requires_grad_()
    bias = torch.full((X.shape[1],), -0.1, device=on, requires_grad=True)
    weights = [encoder, bias]
    if decoder == "free":
        weights.append(encoder.detach().T.clone().requires_grad_())
    data = torch.from_numpy(X).to(on)

    def loss():
        x = data[torch.randint(len(data), (BATCH,), generator=draw).to(on)]
        back = encoder.T if decoder == "tied" else weights[2]
        return (x - torch.relu(torch.addmm(bias, x @ encoder, back))).square().sum(dim=1).mean()

    for _ in optimise.adam(weights, optimise.by_autograd(weights, loss), steps=steps, lr=RATE):
        pass
    back = encoder if decoder == "tied" else weights[2].T
    return tuple(one.detach().cpu().numpy().astype(float) for one in (encoder.T, back, bias))


def _loss(x, code, p):
    """Loss over the variance of the text, and its standard error over windows."""
    W_in, W_out, b = code
    errors = ((x - np.maximum((x @ W_in.T) @ W_out.T + b, 0)) ** 2).sum(axis=1) / (p * (1 - p)).sum()
    return float(errors.mean()), float(errors.std() / len(errors) ** 0.5)


def _weights(X, code, p):
    """Tokens that are read; median weight between two of them over their own weights, by s / p, and where it is 0."""
    W = code[1] @ code[0]
    read_at = np.flatnonzero(np.diag(W) > HEARD)
    W, p, X = W[np.ix_(read_at, read_at)], p[read_at], X[:, read_at]
    W = W / np.diag(W)[:, None]
    first, second = np.triu_indices(len(p), 1)
    chance = len(X) * p[first] * p[second]
    often = chance >= EXPECTED
    ratio = (X.T @ X)[first, second][often] / chance[often]
    weight = ((W + W.T) / 2)[first, second][often]
    bands = np.digitize(ratio, EDGES[1:-1])
    found = [np.array([np.median(one[bands == k]) for k in np.unique(bands)]) for one in (ratio, weight)]
    return {
        "heard": len(read_at),
        "pairs": len(ratio),
        "rare": float(np.median(weight[ratio < EDGES[1]])) if (ratio < EDGES[1]).any() else 0.0,
        "chance": float(np.median(weight[(ratio > EDGES[4]) & (ratio < EDGES[5])])),
        "often": float(np.median(weight[ratio > EDGES[-2]])) if (ratio > EDGES[-2]).any() else 0.0,
        "crossing": float(np.interp(0, np.maximum.accumulate(found[1]), found[0])),
    }


RUNS = (
    Run(
        name="real-words",
        feeds="chapter 12: the book's own model on real words, with and without company",
        computes=words_trained,
        columns={
            "text_loss": Meaning("no unit", "loss over the variance, summed over tokens, on other windows of the text"),
            "text_se": Meaning("no unit", "standard error of text_loss over windows"),
            "alone_loss": Meaning("no unit", "the same without company, each token in windows drawn anew"),
            "alone_se": Meaning("no unit", "standard error of alone_loss over windows"),
            "heard": Meaning("tokens", f"tokens whose own weight is above {HEARD}"),
            "pairs": Meaning("pairs", f"pairs of these that would meet in {EXPECTED} windows by chance, or more"),
            "rare": Meaning("no unit", "median weight between such tokens over the own weight, for s / p below 0.25"),
            "chance": Meaning("no unit", "the same for s / p between 0.9 and 1.1"),
            "often": Meaning("no unit", "the same for s / p above 4"),
            "crossing": Meaning("no unit", "s / p where this median crosses zero, interpolated between bands of s / p"),
            "text_hash": Meaning("digits", "first digits of the SHA-256 of the text's tokens"),
            **DEVICE,
        },
        small=(
            {
                "text": ("drawn",), "dimensions": (20,), "decoder": ("free",), "learned": ("text",), "tokens": (100,),
                "steps": (100,), "seed": (0,),
            },
        ),
        full=(
            {
                "text": ("django",), "dimensions": (50,), "decoder": ("free", "tied"), "learned": ("text", "alone"),
                "tokens": (500,), "steps": (1000,), "seed": (0, 1, 2, 3, 4),
            },
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
)  # fmt: skip
