"""Noisy gradient descent on hundreds of small autoencoders at once.

The model of Incidental Polysemanticity, section 3: tied weights, one-hot inputs e_i, noise on the
hidden layer, y = ReLU(W (W^T e_i + xi)), loss sum_i |y - e_i|^2. The matrices are tiny, so the
cost is the number of tensor operations a step; the gradient is written out, and all instances
share each operation, whatever their noise law, learning rate and regularisation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.devices import resolve_device, torch
from superposition.incidental import ranges as own
from superposition.incidental.noise_laws import Law, some_laws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from jaxtyping import Float
    from numpy.typing import ArrayLike


BLOCK = 2**18  # noise values drawn at once
DIVERGED = 1e6  # weights of this size are on their way to infinity

_rates = ranges.real(0, 1, open_high=True)


def instances_fit(W: ArrayLike, eta: ArrayLike, lambda_: ArrayLike, draws: int) -> None:
    """Refuse rates and strengths that are not one per instance, and noise that is larger than memory."""
    W = np.asarray(W)
    for name, value in (("eta", eta), ("lambda_", lambda_)):
        if np.shape(value) not in ((), (1,), (len(W),)):
            raise ValueError(f"{name} has shape {np.shape(value)}; allowed: one number, or {len(W)}, one per instance")
    if W.size * W.shape[1] * draws > own.MOST:
        raise ValueError(f"draws = {draws} for W of shape {W.shape} are too many; allowed: {own.MOST} numbers")


@dataclass(frozen=True)
class NoisyTrajectory:
    """What training recorded: ``W``, shape (records, instances, n, m), after ``steps`` steps each.

    An instance that diverged holds nan.
    """

    steps: np.ndarray
    W: np.ndarray

    @property
    def S(self) -> Float[np.ndarray, "records instances n"]:
        """Squared lengths of the rows, shape (records, instances, n)."""
        return np.sum(self.W**2, axis=-1)

    @property
    def f(self) -> Float[np.ndarray, "records instances n"]:
        """Fourth norms ||W_i||_4^4 of the rows, shape (records, instances, n)."""
        return np.sum(self.W**4, axis=-1)

    @property
    def direction(self) -> Float[np.ndarray, "records instances n"]:
        """Fourth norms of the directions W_i / ||W_i||, shape (records, instances, n)."""
        return np.divide(self.f, self.S**2, out=np.full_like(self.f, np.nan), where=self.S > 0)


@checked(own.fits, n=own.features, m=own.neurons, instances=ranges.whole(1), seed=ranges.seed)
def initial_instances(n: int, m: int, instances: int, *, seed: int) -> Float[np.ndarray, "instances n m"]:
    """Random weights (instances, n, m), independent and normal of variance 1 / m, as in the text and its code.

    Examples
    --------
    >>> initial_instances(8, 16, 24, seed=0).shape
    (24, 8, 16)
    """
    return np.random.default_rng(seed).standard_normal((instances, n, m)) / np.sqrt(m)


@checked(
    instances_fit, own.recorded, W=ranges.array("instances n m"), laws=some_laws, eta=_rates,
    steps=ranges.whole(0, 10**7), record=ranges.wholes(0), lambda_=own.strengths, relu=ranges.flag,
    noise=ranges.one_of("shared", "independent"), draws=ranges.whole(1), seed=ranges.whole(0), device=own.device,
    progress=ranges.function,
)  # fmt: skip
@torch.no_grad()
def train_with_noise(
    W: ArrayLike, laws: Law | Sequence[Law], *, eta: ArrayLike, steps: int, record: Sequence[int], lambda_: ArrayLike =
    0.0, relu: bool = True, noise: str = "shared", draws: int = 1, seed: int = 0, device: str = "auto", progress:
    Callable[[int, int], object] | None = None,
) -> NoisyTrajectory:  # fmt: skip
    """Train autoencoders (instances, n, m) under noise by gradient descent in float64, and record some of the steps.

    `laws`, `eta` and `lambda_` are one for all or one per instance. The noise is one vector for the n inputs of an
    instance ("shared"), as in the public code, or one each ("independent"), as in the text. A step averages the
    gradients of `draws` of them. `progress(done, total)` is called now and then.

    Returns
    -------
    NoisyTrajectory
        With nan for an instance that diverged.

    Notes
    -----
    Source: section 3.1 and Figures 4 to 6. Use `descend_expected_loss` for its mean over the noise.

    Examples
    --------
    >>> from superposition.incidental import bipolar
    >>> W = initial_instances(2, 4, 3, seed=0)
    >>> train_with_noise(W, bipolar(0.1), eta=0.02, steps=100, record=[0, 100]).f.shape
    (2, 3, 2)
    """
    # `laws`, `eta` and `lambda_` are one for all or one per instance. The noise is one vector for the n inputs of an
    # instance ("shared"), as in the public code, or one each ("independent"), as in the text; instances never share. A
    # step averages the gradients of `draws` of them. `progress(done, total)` is called now and then. Source: section
    # 3.1 and Figures 4 to 6; gradient written out: dL/dW = G^T H + G W with H = W + Xi, O = H W^T and G = 2 (ReLU(O) -
    # I) 1[O > 0].
    on = resolve_device(device)
    W, record = np.array(W, float), sorted(set(record))
    instances, n, m = W.shape
    vectors = {"shared": 1, "independent": n}[noise]
    stream = iter(_Noise(_laws(laws, instances), (draws, vectors, m), seed, on))
    rate = _per_instance(eta, instances, on)
    shrink = _per_instance(lambda_, instances, on)
    step = _Step(torch.from_numpy(W).to(on), -2 * rate / draws, -rate * shrink, draws, relu)
    kept, done = [], 0  # the noise is drawn in blocks whatever the records: these do not change the run
    for target in record if record and record[-1] == steps else [*record, steps]:
        while done < target:
            step(next(stream))
            done += 1
            if progress is not None and done % 1000 == 0:
                progress(done, steps)
        kept.append(_finite(step.W.cpu().numpy()))
    return NoisyTrajectory(np.array(record), np.array(kept[: len(record)]))


class _Step:
    """One step of gradient descent on all instances, in place, in buffers allocated once."""

    def __init__(self, W, factor, shrink, draws, relu):
        instances, n, m = W.shape
        self.W, self.factor, self.draws, self.relu = W, factor, draws, relu
        self.shrink = shrink if bool((shrink != 0).any()) else None
        self.H = torch.empty((instances, draws, n, m), dtype=W.dtype, device=W.device)
        self.G = torch.empty((instances, draws * n, n), dtype=W.dtype, device=W.device)
        self.change = torch.empty_like(W)
        self.diagonal = self.G.view(instances, draws, n, n).diagonal(dim1=2, dim2=3)

    def __call__(self, xi):
        """Take the noise of this step, shape (instances, draws, 1 or n, m)."""
        W, G = self.W, self.G
        torch.add(W.unsqueeze(1), xi, out=self.H)
        H = self.H.flatten(1, 2)
        torch.bmm(H, W.mT, out=G)
        if self.relu:
            G.relu_()
            self.diagonal.sub_(self.diagonal.sign())  # ReLU(y) - 1 where y > 0, else 0
        else:
            self.diagonal.sub_(1)
        G.mul_(self.factor)
        torch.bmm(G.mT, H, out=self.change)
        total = G if self.draws == 1 else G.view(len(W), self.draws, *G.shape[-1:], -1).sum(1)
        self.change.baddbmm_(total, W)
        if self.shrink is not None:
            self.change.addcmul_(W.sign(), self.shrink)
        W.add_(self.change)


class _Noise:
    """Noise in blocks of steps: one stream per kind of law, whatever its sigma."""

    def __init__(self, laws, shape, seed, device):
        self.shape, self.device = shape, device
        units = [replace(law, sigma=1.0) for law in laws]
        kinds = list(dict.fromkeys(units))
        self.groups = [
            (kind, [i for i, unit in enumerate(units) if unit == kind], rng)
            for kind, rng in zip(kinds, _streams(seed, len(kinds)), strict=True)
        ]
        self.sigma = np.array([law.sigma for law in laws])[:, None, None, None]
        self.steps_per_block = max(1, BLOCK // (len(laws) * math.prod(shape)))

    def __iter__(self) -> Iterator[torch.Tensor]:
        """Noise of one step after another, shape (instances, draws, 1 or n, m)."""
        while True:
            yield from self.block(self.steps_per_block)

    def block(self, steps: int) -> torch.Tensor:
        """Noise of some steps, shape (steps, instances, draws, 1 or n, m)."""
        if len(self.groups) == 1:
            law, _, rng = self.groups[0]
            xi = law.sample((steps, len(self.sigma), *self.shape), rng)
        else:
            xi = np.empty((steps, len(self.sigma), *self.shape))
            for law, members, rng in self.groups:
                xi[:, members] = law.sample((steps, len(members), *self.shape), rng)
        xi *= self.sigma
        return torch.from_numpy(xi).to(self.device)


def _streams(seed, count):
    return [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(count)]


def _finite(W):
    W = W.copy()
    W[~(np.abs(W) < DIVERGED).all(axis=(1, 2))] = np.nan
    return W


def _laws(laws, instances):
    laws = [laws] * instances if isinstance(laws, Law) else list(laws)
    if len(laws) != instances:
        raise ValueError(f"laws has {len(laws)} entries; allowed: one law, or {instances}, one per instance")
    return laws


def _per_instance(value, instances, device):
    return torch.from_numpy(np.broadcast_to(np.asarray(value, float), instances).copy()).to(device).view(-1, 1, 1)
