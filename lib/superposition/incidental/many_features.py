"""Many encodings with interference: gradient flow without a step-size artefact, AdamW and SGD.

W has shape (n, m): row i is the encoding of feature i, column k a hidden neuron. The flow is
that of the text's simplified convention (see `superposition.incidental.conventions`),

    dW_i/dt = (1 - |W_i|^2) W_i - sum_{j != i} ReLU(W_i . W_j) W_j - lambda sign(W_i).

Source: Incidental Polysemanticity, section 2. Random numbers are drawn by NumPy on the CPU.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.incidental import ranges as own

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Float
    from numpy.typing import ArrayLike


LOOK = 20  # steps between two searches for settled rows
WINDOW = 200  # off the CPU, where each answer waits for all work before it, steps between two questions of the host
SETTLED = 1e-4  # remaining speed of the weight of a settled row


@checked(own.fits, n=own.features, m=own.neurons, seed=ranges.seed, scale=own.deviation)
def random_encodings(n: int, m: int, *, seed: int, scale: float = 1.0) -> Float[np.ndarray, "n m"]:
    """Random encodings (n, m) with weights N(0, scale^2 / m): 1 in the text's public code, 0.9 in its Figure 2.

    Fewer neurons than features give a warning. Use `random_networks` for many networks in float32, `initial_instances`
    for training under noise.

    Examples
    --------
    >>> random_encodings(2, 3, seed=0).round(3)
    array([[ 0.073, -0.076,  0.37 ],
           [ 0.061, -0.309,  0.209]])
    """
    _warn_if_crowded(n, m)
    return scale / np.sqrt(m) * np.random.default_rng(seed).standard_normal((n, m))


def _warn_if_crowded(n: int, m: int) -> None:
    """Warn where the text's assumption m >= n fails."""
    if m < n:
        warnings.warn(
            f"m = {m} neurons for n = {n} features: the text assumes m >= n, so that sharing is not necessary",
            stacklevel=3,
        )


@checked(
    own.step_settles, w0=own.kept("n m"), lambda_=own.strength, times=own.times, step=own.time_step, device=own.device,
    progress=ranges.function,
)  # fmt: skip
def gradient_flow(
    w0: ArrayLike, lambda_: float, times: ArrayLike, *, step: float = 0.4, device: str = "auto",
    progress: Callable[[float, float], object] | None = None,
) -> Float[np.ndarray, "k n m"]:  # fmt: skip
    """Weights (k, n, m) of the gradient flow of all encodings at increasing times (k,), by proximal steps.

    Float32 is kept. Source: section 2, in the simplified convention. Use `trajectory` for one encoding, exactly, and
    `gradient_flow_each` for many small networks.

    Examples
    --------
    >>> gradient_flow([[0.6, 0.5], [-0.5, 0.4]], 0.01, [600.0]).round(2)
    array([[[ 0.99,  0.  ],
            [-0.99,  0.  ]]])
    """
    # Float32 is kept. The l1 term is taken implicitly (soft thresholding), so a weight stops at zero exactly and stays
    # there unless interference outweighs lambda. Two things make it fast and change nothing: a column of zeros stays
    # one, and encodings that share no neuron with others ignore each other for good, so whatever has come to rest is
    # set aside. The step is `step` (up to 0.5) divided by the largest sum of positive inner products of one row, where
    # that exceeds 1: this sum bounds the fastest rate of the interference. Off the CPU time and step stay on the
    # device, and steps after the last one have length 0 until the host asks.
    from superposition.devices import resolve_device, torch

    whole, times = (
        np.array(w0, dtype=np.float32 if np.asarray(w0).dtype == np.float32 else float),
        np.asarray(times, float),
    )
    on = resolve_device(device)
    asks, looks = (1, LOOK) if on.type == "cpu" else (WINDOW, WINDOW)
    state, out = _Active(torch.from_numpy(whole).to(on)), np.empty((times.size, *whole.shape), whole.dtype)
    t = 0.0 if on.type == "cpu" else torch.zeros((), dtype=torch.float64, device=on)
    for k, target in enumerate(times):
        count = 0
        while state.alive and (count % asks or t < target):
            t += _advance(state, lambda_, step, target - t)
            count += 1
            if count % looks == 0:
                state.set_aside(lambda_)
                if progress:
                    progress(float(t), times[-1])
        t = max(t, target)
        out[k] = state.everything().cpu().numpy()
    return out


class _Active:
    """Rows and columns that still move, in ``W``; the rest waits in ``whole``."""

    def __init__(self, whole):
        from superposition.devices import torch

        self.whole = whole.clone()
        self.rows = torch.arange(whole.shape[0], device=whole.device)
        self.columns = torch.arange(whole.shape[1], device=whole.device)
        self.W = whole.clone()

    @property
    def alive(self):
        return self.W.numel() > 0

    def everything(self):
        """Put the moving block back and return all weights."""
        if self.alive:
            self.whole[self.rows[:, None], self.columns] = self.W
        return self.whole

    def set_aside(self, lambda_):
        """Drop columns of zeros, and settled rows whose neuron no unsettled row uses."""
        from superposition.devices import torch

        used = self.W != 0
        moving = ~_settled(self.W, used, lambda_)
        columns = (used & moving[:, None]).any(0)
        rows = moving | (used & columns).any(1)
        columns = (used & rows[:, None]).any(0)
        near = torch.cat([rows, columns]).cpu()  # all that the host asks here
        rows, columns = near.split(self.W.shape)
        if rows.all() and columns.sum() > 0.9 * len(columns):
            return
        whole = self.everything()
        rows, columns = (part.nonzero()[:, 0].to(whole.device) for part in (rows, columns))
        self.rows, self.columns = self.rows[rows], self.columns[columns]
        self.W = whole[self.rows[:, None], self.columns]


def _settled(W, used, lambda_):
    """Whether a row has at most one weight, no interference, and its weight is at rest."""
    size = W.abs().amax(1)
    speed = ((1 - size**2) * size - lambda_ * (size > 0)).abs()
    return (used.sum(1) <= 1) & (_overlaps(W @ W.T).sum(1) == 0) & (speed < SETTLED)


def _overlaps(gram):
    """Positive inner products of different rows."""
    return gram.clamp(min=0).fill_diagonal_(0)


def _advance(state, lambda_, step, left):
    """One proximal step of at most the time left; returns its length, a tensor if the time left is one."""
    from superposition.devices import torch

    gram = state.W @ state.W.T
    benefit = 1 - gram.diagonal()
    overlaps = _overlaps(gram)
    fastest = overlaps.sum(1).max()
    if isinstance(left, float):
        h = min(step / max(1.0, float(fastest)), left)
    else:
        h = torch.minimum(step / fastest.double().clamp(min=1), left.clamp(min=0))
    move = overlaps.mul_(-h)
    move.diagonal().copy_(1 + h * benefit)
    moved, shrink = move @ state.W, h * lambda_
    state.W = moved - moved.clamp(-shrink, shrink)
    return h


@checked(
    w0=own.kept("n m"), lambda_=own.strength, method=ranges.one_of("adamw", "sgd"), steps=ranges.steps, lr=ranges.rate,
    device=own.device, progress=ranges.function,
)  # fmt: skip
def descend_encodings(
    w0: ArrayLike, lambda_: float, *, method: str, steps: int, lr: float, device: str = "auto", progress:
    Callable[[int, int], object] | None = None,
) -> Float[np.ndarray, "n m"]:  # fmt: skip
    """Train encodings (n, m) in float32 as the text's public code does, by "adamw" or full-batch "sgd".

    Source: section 2 and Figure 3, in the loss convention; the public code has lr = 1e-3, lambda = 1e-3 (four times
    that of `gradient_flow`), 7500 steps, and AdamW's default weight decay 0.01. Use `gradient_flow` for results that do
    not depend on a step size.

    Raises
    ------
    FloatingPointError
        If training diverges.

    Examples
    --------
    >>> descend_encodings([[0.6, 0.5]], 0.0, method="sgd", steps=200, lr=0.01).round(3)
    array([[0.768, 0.64 ]], dtype=float32)
    """
    # Source: section 2 and Figure 3; the public code has lr = 1e-3, lambda = 1e-3 (four times that of `flow`), 7500
    # steps, and AdamW's default weight decay 0.01.
    from superposition.devices import resolve_device, torch

    W = torch.from_numpy(np.array(w0, dtype=np.float32)).to(resolve_device(device)).requires_grad_()
    kinds = {"adamw": lambda: torch.optim.AdamW([W], lr=lr, fused=True), "sgd": lambda: torch.optim.SGD([W], lr=lr)}
    optimiser = kinds[method]()
    for done in range(steps):
        W.grad = _gradient(W.detach(), lambda_)
        optimiser.step()
        if progress and done % LOOK == 0:
            progress(done, steps)
    if not torch.isfinite(W).all():
        raise FloatingPointError(f"training diverged (method={method}, lr={lr:g}); use a smaller rate")
    return W.detach().cpu().numpy()


def _gradient(W, lambda_):
    """Gradient of the loss: see `superposition.incidental.gradient`."""
    from superposition.devices import torch

    gram = W @ W.T
    pull = _overlaps(gram)
    pull.diagonal().copy_(gram.diagonal() - 1)
    return torch.add(4 * (pull @ W), W.sign(), alpha=lambda_)
