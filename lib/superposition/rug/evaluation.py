"""First weights, feature vectors and losses of networks in training, in torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from superposition.devices import torch  # isort: skip - first, since it says what is missing
from superposition import features
from superposition.rug.model import Settings, autoencoder_output


def initial_weights(
    settings: Settings, rng: np.random.Generator, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """W_in, W_out and bias at the start: uniform within 1 / sqrt(fan-in), the bias zero."""
    ns, nd = settings.ns, settings.nd
    # half of the W_ii of an independent start are negative
    W_in = rng.uniform(-1, 1, (nd, ns)) / np.sqrt(ns)
    if settings.start == "tied":
        W_out = np.ascontiguousarray(W_in.T) * np.sqrt(ns / nd)
    else:
        W_out = rng.uniform(-1, 1, (ns, nd)) / np.sqrt(nd)
    return tuple(  # pyrefly: ignore[bad-return]: three
        torch.tensor(w, dtype=torch.float32, device=device, requires_grad=True) for w in (W_in, W_out, np.zeros(ns))
    )


def draw(settings: Settings, rng: np.random.Generator, device: torch.device) -> torch.Tensor:
    """A batch of feature vectors (batch, ns) in float32 on a device."""
    flat, values = features.nonzeros(settings.ns, settings.p, settings.batch, seed=rng)
    x = torch.zeros(settings.batch * settings.ns, device=device)
    x[torch.from_numpy(flat).to(device)] = torch.from_numpy(values).float().to(device)
    return x.view(settings.batch, settings.ns)


def usual_form(weights, is_exact):
    """Weights with the encoder as (nd, ns), which exact gradients keep transposed."""
    return (weights[0].T, *weights[1:]) if is_exact else weights


@torch.no_grad()
def reconstruction(weights, x, is_exact):
    """Output for feature vectors (batch, ns), without gradients (The Persian Rug, eq. 1)."""
    return autoencoder_output(usual_form(weights, is_exact), x)


@torch.no_grad()
def evaluate(
    weights: Sequence[torch.Tensor], settings: Settings, rng: np.random.Generator, device: torch.device,
    samples: int | None,
) -> tuple[float, float]:  # fmt: skip
    """Loss on fresh feature vectors, and its standard error."""
    samples = max(4096, 2**24 // settings.ns) if samples is None else samples
    errors = [
        torch.mean((autoencoder_output(weights, x) - x) ** 2, dim=1)
        for x in (draw(settings, rng, device) for _ in range(-(-samples // settings.batch)))
    ]
    errors = torch.cat(errors)[:samples].double()
    return float(errors.mean()), float(errors.std() / samples**0.5)


def walsh_output(x, eigenvalues, bias, H):
    """Output ReLU(H diag(eigenvalues) H x / ns + b) for feature vectors (batch, ns)."""
    return torch.relu(((x @ H) * eigenvalues) @ H / len(H) + bias)


@torch.no_grad()
def fresh_walsh_loss(eigenvalues, bias, H, p, rng, batches=32):
    """Loss of such a matrix on fresh feature vectors, and its standard error."""
    errors = []
    for _ in range(batches):
        x = torch.from_numpy(features.sample(len(H), p, 1024, seed=rng)).float().to(H.device)
        errors.append(torch.mean((walsh_output(x, eigenvalues, bias, H) - x) ** 2, dim=1))
    errors = torch.cat(errors).double()
    return float(errors.mean()), float(errors.std() / len(errors) ** 0.5)
