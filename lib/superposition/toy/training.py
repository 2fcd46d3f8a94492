"""Many toy models trained at once, in one batched computation.

Models that differ in sparsity and importance (groups), and copies that differ in their first
weights (instances), all see the same random numbers, so they form one stack of small matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition.devices import resolve_device, torch
from superposition.toy.loss import population_loss, probability

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Float, Int
    from numpy.typing import ArrayLike


EXACT = 6  # features up to which the loss of a trained model is exact; beyond, Monte Carlo
SAMPLES = 2**15  # feature vectors of that Monte Carlo
REPORT = 50  # training steps between two calls of the progress callback


@dataclass(frozen=True)
class Trained:
    """Trained models, g groups of B instances: ``W`` (g, B, m, n) and ``b`` (g, B, n) in float64.

    ``sparsity`` (g,) and ``importance`` (g, n) are those of the groups. ``loss`` (g, B) is the
    population loss, exact for up to six features (``loss_se`` is then 0) and by Monte Carlo
    on common feature vectors beyond.
    """

    W: np.ndarray
    b: np.ndarray
    sparsity: np.ndarray
    importance: np.ndarray
    loss: np.ndarray
    loss_se: np.ndarray

    @property
    def best(self) -> Int[np.ndarray, " g"]:
        """Index of the instance with the lowest loss in each group, shape (g,)."""
        return self.loss.argmin(axis=1)

    @property
    def best_W(self) -> Float[np.ndarray, "g m n"]:
        """Weights of the best instance of each group, shape (g, m, n)."""
        return self.W[np.arange(len(self.W)), self.best]

    @property
    def best_b(self) -> Float[np.ndarray, "g n"]:
        """Biases of the best instance of each group, shape (g, n)."""
        return self.b[np.arange(len(self.b)), self.best]

    @property
    def best_loss(self) -> Float[np.ndarray, " g"]:
        """Loss of the best instance of each group, shape (g,)."""
        return self.loss.min(axis=1)


def train(
    n: int, m: int, *, sparsity: ArrayLike, importance: ArrayLike = 1.0, instances: int = 8, steps: int = 2000, batch:
    int = 512, lr: float = 0.01, seed: int = 0, device: str = "auto", progress: Callable[[int, int], object] | None =
    None,
) -> Trained:  # fmt: skip
    """Train ReLU(W^T W x + b) by Adam, a stack of models at once; `progress(done, total)` now and then."""
    # A group has its own sparsity (g,) and importance (g, n). Weights start Gaussian with variance 2 / (m + n), biases
    # at zero; the learning rate falls to zero along a cosine. One uniform number u gives a feature at every sparsity:
    # x = max(0, (u - S) / (1 - S)). Source: Toy Models, the ReLU output model; the recipe is ours.
    on, importance = _groups(n, sparsity, importance)
    device = resolve_device(device)  # pyrefly: ignore[bad-assignment]: a torch.device from here on
    rng = torch.Generator().manual_seed(seed)
    W = torch.randn(len(on), instances, m, n, generator=rng) * (2 / (m + n)) ** 0.5
    W = W.to(device).requires_grad_()
    b = torch.zeros(len(on), instances, 1, n, device=device, requires_grad=True)
    factor = torch.tensor(importance, dtype=torch.float32, device=device)[:, None, None, :]
    p = torch.tensor(on, dtype=torch.float32, device=device)[:, None, None, None]
    optimiser = torch.optim.Adam([W, b], lr=lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for step in range(steps):
        x = _features(torch.rand(batch, n, generator=rng).to(device), p)
        loss = (factor * (x - torch.relu(x @ W.mT @ W + b)) ** 2).sum() / batch
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if progress is not None and ((step + 1) % REPORT == 0 or step + 1 == steps):
            progress(step + 1, steps)
    W, b = W.detach().cpu().numpy().astype(np.float64), b.detach().cpu().numpy().astype(np.float64)[:, :, 0]
    return Trained(W, b, 1 - on, importance, *_losses(W, b, importance, on, seed))


def _groups(n, sparsity, importance):
    """Probability (g,) and importance (g, n) of each group."""
    on, importance = np.atleast_1d(probability(sparsity)), np.asarray(importance, float)
    g = max(len(on), len(importance) if importance.ndim == 2 else 1)
    return np.broadcast_to(on, (g,)), np.broadcast_to(importance, (g, n))


def _features(u, p):
    """Feature vectors at every probability p from the same uniform numbers."""
    return torch.relu(1 - (1 - u) / p)


def _losses(W, b, importance, on, seed):
    """Population loss of every instance, and its standard error."""
    if W.shape[-1] <= EXACT:
        loss = population_loss(W, b, importance[:, None], on[:, None])
        return loss, np.zeros_like(loss)
    u = np.random.default_rng((seed, 1)).random((SAMPLES, W.shape[-1]))
    loss, se = np.empty(W.shape[:2]), np.empty(W.shape[:2])
    for group, instance in np.ndindex(loss.shape):
        x = np.maximum(1 - (1 - u) / on[group], 0)
        weights = W[group, instance]
        errors = (x - np.maximum((x @ weights.T) @ weights + b[group, instance], 0)) ** 2 @ importance[group]
        loss[group, instance], se[group, instance] = errors.mean(), errors.std() / SAMPLES**0.5
    return loss, se
