"""Many encodings with interference: gradient flow without a step-size artefact, AdamW and SGD.

W has shape (n, m): row i is the encoding of feature i, column k a hidden neuron. The flow is
that of the text's simplified convention (see `superposition.incidental.l1_loss.conventions`),

    dW_i/dt = (1 - |W_i|^2) W_i - sum_{j != i} ReLU(W_i . W_j) W_j - lambda sign(W_i).

Source: Incidental Polysemanticity, section 2. Random numbers are drawn by NumPy on the CPU.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.devices import resolve_device, torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Float
    from numpy.typing import ArrayLike


LOOK = 20  # steps between looks for what is settled
SETTLED = 1e-4  # remaining speed of the weight of a settled row
METHODS = ("adamw", "sgd")


def start(n: int, m: int, *, seed: int, scale: float = 1.0) -> Float[np.ndarray, "n m"]:
    """Random encodings before training.

    Parameters
    ----------
    n, m : int
        Features and neurons, at least 1. Fewer neurons than features give a warning.
    seed : int
        Seed.
    scale : float
        Standard deviation of a weight times sqrt(m), above 0; 1 in the text's public code, 0.9
        in its Figure 2.

    Returns
    -------
    numpy.ndarray, shape (n, m)

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    n, m = checks.whole("n", n, 1), checks.whole("m", m, 1)
    scale = float(checks.real("scale", scale, 0, open_low=True, open_high=True))
    warn_if_crowded(n, m)
    return scale / np.sqrt(m) * np.random.default_rng(seed).standard_normal((n, m))


def warn_if_crowded(n: int, m: int) -> None:
    """Warn where the text's assumption m >= n fails.

    Parameters
    ----------
    n, m : int
        Features and neurons.
    """
    if m < n:
        warnings.warn(
            f"m = {m} neurons for n = {n} features: the text assumes m >= n, so that sharing is not necessary",
            stacklevel=3,
        )


def flow(
    w0: ArrayLike,
    lambda_: float,
    times: ArrayLike,
    *,
    step: float = 0.4,
    device: str = "auto",
    progress: Callable[[float, float], object] | None = None,
) -> Float[np.ndarray, "k n m"]:
    """Gradient flow of all encodings, by proximal steps.

    The l1 term is taken implicitly (soft thresholding), so a weight stops at zero exactly and
    stays there unless interference outweighs lambda. Two things make it fast and change nothing:
    a column of zeros stays one, and encodings that share no neuron with others ignore each other
    for good, so whatever has come to rest is set aside.

    Parameters
    ----------
    w0 : array_like, shape (n, m)
        Weights at t = 0, finite. float32 is kept, everything else becomes float64.
    lambda_ : float
        Strength of the l1 term in the simplified convention, above 0.
    times : array_like, shape (k,)
        Times in the simplified convention, 0 or more, increasing, at least one.
    step : float
        Largest step, in (0, 0.5]; shorter while encodings overlap, see Notes.
    device : str
        See `superposition.devices.resolve_device`.
    progress : callable, optional
        Called as ``progress(done, total)`` in units of time.

    Returns
    -------
    numpy.ndarray, shape (k, n, m)

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    The step is `step` divided by the largest sum of positive inner products of one row, where
    that exceeds 1: this sum bounds the fastest rate of the interference.
    Source: Incidental Polysemanticity, section 2, the training dynamics without the constants 4.
    """
    whole, lambda_ = _checked(w0, lambda_)
    times = checks.real("times", times, 0, open_high=True)
    if times.ndim != 1 or not times.size or np.any(np.diff(times) < 0):
        raise ValueError(f"times of shape {times.shape} are not allowed; allowed: at least one, increasing")
    step = float(checks.real("step", step, 0, 0.5, open_low=True))
    state = _Active(torch.from_numpy(whole).to(resolve_device(device)))
    out, t = np.empty((times.size, *whole.shape), whole.dtype), 0.0
    for k, target in enumerate(times):
        count = 0
        while t < target and state.alive:
            t += _advance(state, lambda_, step, target - t)
            count += 1
            if count % LOOK == 0:
                state.set_aside(lambda_)
                if progress:
                    progress(t, times[-1])
        t = max(t, target)
        out[k] = state.everything().cpu().numpy()
    return out


def _checked(w0, lambda_):
    w0 = np.asarray(w0)
    checks.real("w0", w0, open_low=True, open_high=True)
    if w0.ndim != 2 or not w0.size:
        raise ValueError(f"w0 has shape {w0.shape}; allowed: (n, m) with at least one weight")
    whole = np.array(w0, dtype=w0.dtype if w0.dtype == np.float32 else np.float64)
    return whole, float(checks.real("lambda_", lambda_, 0, open_low=True, open_high=True))


class _Active:
    """Rows and columns that still move, in ``W``; the rest waits in ``whole``."""

    def __init__(self, whole):
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
        used = self.W != 0
        moving = ~_settled(self.W, used, lambda_)
        columns = used[moving].any(0)
        rows = moving | used[:, columns].any(1)
        columns = used[rows].any(0)
        if rows.all() and columns.sum() > 0.9 * len(columns):
            return
        whole = self.everything()
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
    """One proximal step of at most the time left; returns its length."""
    gram = state.W @ state.W.T
    benefit = 1 - gram.diagonal()
    overlaps = _overlaps(gram)
    h = min(step / max(1.0, float(overlaps.sum(1).max())), left)
    move = overlaps.mul_(-h)
    move.diagonal().copy_(1 + h * benefit)
    state.W = torch.nn.functional.softshrink(move @ state.W, h * lambda_)
    return h


def descend(
    w0: ArrayLike, lambda_: float, *, method: str, steps: int, lr: float, device: str = "auto", progress:
    Callable[[int, int], object] | None = None,
) -> Float[np.ndarray, "n m"]:  # fmt: skip
    """Train as the text's public code does, in the loss convention.

    Parameters
    ----------
    w0 : array_like, shape (n, m)
        Weights at the start, finite; training is in float32.
    lambda_ : float
        Strength of the l1 term in the loss, above 0 (four times that of `flow`).
    method : {"adamw", "sgd"}
        AdamW with its default weight decay 0.01, or plain full-batch gradient descent.
    steps : int
        Steps, at least 1.
    lr : float
        Learning rate, above 0.
    device : str
        See `superposition.devices.resolve_device`.
    progress : callable, optional
        Called as ``progress(done, total)``.

    Returns
    -------
    numpy.ndarray, shape (n, m)

    Raises
    ------
    ValueError
        If an argument is outside its range.
    FloatingPointError
        If the training diverges.

    Notes
    -----
    Source: Incidental Polysemanticity, section 2 and Figure 3; the public code has lr = 1e-3,
    lambda = 1e-3, 7500 steps.
    """
    whole, lambda_ = _checked(w0, lambda_)
    checks.one_of("method", method, METHODS)
    steps = checks.whole("steps", steps, 1)
    lr = float(checks.real("lr", lr, 0, open_low=True, open_high=True))
    W = torch.from_numpy(whole.astype(np.float32)).to(resolve_device(device)).requires_grad_()
    optimiser = torch.optim.AdamW([W], lr=lr, fused=True) if method == "adamw" else torch.optim.SGD([W], lr=lr)
    for done in range(steps):
        W.grad = _gradient(W.detach(), lambda_)
        optimiser.step()
        if progress and done % LOOK == 0:
            progress(done, steps)
    if not torch.isfinite(W).all():
        raise FloatingPointError(f"training diverged (method={method}, lr={lr:g}); use a smaller rate")
    return W.detach().cpu().numpy()


def _gradient(W, lambda_):
    """Gradient of the loss: see `superposition.incidental.l1_loss.gradient`."""
    gram = W @ W.T
    pull = _overlaps(gram)
    pull.diagonal().copy_(gram.diagonal() - 1)
    return torch.add(4 * (pull @ W), W.sign(), alpha=lambda_)
