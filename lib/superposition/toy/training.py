"""Many toy models trained at once, in one batched computation. Needs torch.

Models that differ in sparsity and importance (groups), and copies that differ in their first weights (instances), all
receive the same random numbers, so that they form one stack of small matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.toy.loss import population_loss
from superposition.toy.ranges import dimensions, trained, trained_importances, trained_rate

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

    ``sparsity`` (g,) and ``importance`` (g, n) are those of the groups. ``loss`` (g, B) is the population loss, exact
    for up to six features (``loss_se`` is then 0) and by Monte Carlo on common feature vectors beyond.
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


@checked(
    dimensions, trained, n=ranges.whole(1, 4096), m=ranges.whole(1), sparsity=ranges.real(0, 1, open_high=True),
    importance=trained_importances, instances=ranges.whole(1, 2**16), steps=ranges.steps, batch=ranges.whole(1),
    lr=trained_rate, seed=ranges.whole(0), progress=ranges.function,
)  # fmt: skip
def train_models(
    n: int, m: int, *, sparsity: ArrayLike, importance: ArrayLike = 1.0, instances: int = 8, steps: int = 2000, batch:
    int = 512, lr: float = 0.01, seed: int = 0, device: str = "auto", progress: Callable[[int, int], object] | None =
    None,
) -> Trained:  # fmt: skip
    """Train ReLU(W^T W x + b) by Adam, a stack of models at once. Needs torch.

    Parameters
    ----------
    sparsity : array_like, shape (g,) or scalar
        Sparsity S in [0, 1) of each group of models.
    importance : array_like, shape (g, n), (n,) or scalar
        Factors of the squared errors, from 1e-10 to 1e10.
    instances : int
        Models of a group, which start from weights of their own.
    batch : int
        Feature vectors of a step; those of all models hold 2^26 numbers at most.
    lr : float
        First learning rate, in (0, 10]; it falls to zero along a cosine.
    device : str
        "auto" (CUDA when present), "cpu", "cuda" or "cuda:N".
    progress : callable, optional
        Called as ``progress(done, total)`` after every 50 steps.

    Notes
    -----
    Source: Toy Models, the ReLU output model; the recipe is ours. Use `minimise` instead for the lowest loss of a few
    features.

    Examples
    --------
    >>> train_models(2, 1, sparsity=[0.5, 0.9], instances=3, steps=10, device="cpu").W.shape
    (2, 3, 1, 2)
    """
    # Weights start Gaussian with variance 2 / (m + n), biases at zero. One uniform number u gives a feature at every
    # sparsity: x = max(0, (u - S) / (1 - S)).
    from superposition.devices import resolve_device, torch

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
    on, importance = np.atleast_1d(_probability(sparsity)), np.asarray(importance, float)
    g = max(len(on), len(importance) if importance.ndim == 2 else 1)
    return np.broadcast_to(on, (g,)), np.broadcast_to(importance, (g, n))


def _probability(sparsity):
    """Probability that a feature is on, p = 1 - S."""
    return 1 - np.asarray(sparsity, float)


def _features(u, p):
    """Feature vectors at every probability p from the same uniform numbers."""
    from superposition.devices import torch

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
