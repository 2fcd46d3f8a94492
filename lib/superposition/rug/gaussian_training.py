"""Training with interference replaced by a Gaussian, and ordinary training from given weights.

The text's theory replaces the interference of every output by a Gaussian of the same variance.
Here weights are trained as if that were so, on the closed-form loss (`train_meanfield`) or on samples
(`train_meanfield_on_samples`): a control, which shows the part of a trained model's loss that is not in the theory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.checks import MOST_FEATURES
from superposition.rug.model import Settings, TrainedModel
from superposition.rug.ranges import device, rank
from superposition.rug.training import training_settings

if TYPE_CHECKING:
    from collections.abc import Callable


@checked(
    rank, ns=ranges.whole(2, MOST_FEATURES), nd=ranges.whole(1, MOST_FEATURES), p=ranges.one_probability,
    steps=ranges.steps, lr=ranges.rate, seed=ranges.whole(0), device=device, progress=ranges.function,
)  # fmt: skip
def train_meanfield(
    ns: int, nd: int, p: float, *, steps: int = 800, lr: float | None = None, seed: int = 0, device: str = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> TrainedModel:  # fmt: skip
    """Train one autoencoder on the closed-form loss of its weights, without any feature vectors.

    Returns
    -------
    TrainedModel
        Its ``loss`` is the closed form.

    Raises
    ------
    FloatingPointError
        If the loss is no longer finite.

    Notes
    -----
    Source: The Persian Rug, section 4.1. Use `train_autoencoder` instead for real interference.

    Examples
    --------
    >>> train_meanfield(8, 3, 0.1, steps=20, device="cpu").loss < 0.05
    True
    """
    lr = 1e-2 if lr is None else lr  # at 2e-2 small models drop a feature now and then
    return _train_on_closed_form(training_settings(ns, nd, p, steps, 1024, lr, None, "earlier", seed, device), progress)


@checked(settings=ranges.instance(Settings), progress=ranges.function)
def train_meanfield_on_samples(settings: Settings, progress: Callable[[int, int], None] | None = None) -> TrainedModel:
    """Train one autoencoder on feature vectors with a fresh Gaussian for every interference.

    Parameters
    ----------
    settings : Settings
        From `training_settings`.

    Returns
    -------
    TrainedModel
        Its ``loss`` is the closed form.

    Notes
    -----
    Source: The Persian Rug, section 4.1. Use `train_meanfield` instead, which is faster and without noise.

    Examples
    --------
    >>> settings = training_settings(8, 3, 0.1, 20, 64, None, None, "earlier", 0, "cpu")
    >>> train_meanfield_on_samples(settings).loss < 0.05
    True
    """
    from superposition import optimise
    from superposition.devices import torch
    from superposition.rug.evaluation import draw
    from superposition.rug.gaussian_loss import rows_of
    from superposition.rug.gaussian_steps import descend_with_adam, first_weights, trained_model

    on = torch.device(settings.device)
    data_rng, noise_rng = (np.random.default_rng(s) for s in np.random.SeedSequence([settings.seed, 1]).spawn(2))

    weights = first_weights(settings, torch.float32)

    def loss():
        rows = rows_of(weights[0], weights[1], settings.p)
        x = draw(settings, data_rng, on)
        z = torch.from_numpy(noise_rng.standard_normal(x.shape, dtype=np.float32)).to(on)
        output = torch.relu(x * rows[0] + weights[2] + z * torch.sqrt(rows[2]))
        return torch.mean((output - x) ** 2)

    history = descend_with_adam(weights, optimise.by_autograd(weights, loss), settings, progress, fused=False)
    return trained_model(settings, weights, history)


@checked(
    model=ranges.instance(TrainedModel), steps=ranges.whole(0, checks.MOST_STEPS), lr=ranges.rate, seed=ranges.whole(0),
    eval_samples=ranges.whole(2, 10**8), progress=ranges.function,
)  # fmt: skip
def continue_training(
    model: TrainedModel, *, steps: int, lr: float, seed: int = 0, eval_samples: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TrainedModel:  # fmt: skip
    """Train the weights of a model further by ordinary training, with the recipe's cosine.

    Parameters
    ----------
    steps : int
        Training steps, up to a million; with 0 the weights are only evaluated.
    eval_samples : int, optional
        As in `train_autoencoder`.

    Examples
    --------
    >>> model = train_meanfield(8, 3, 0.1, steps=20, device="cpu")
    >>> continue_training(model, steps=0, lr=1.0, eval_samples=64).settings.steps
    0
    """
    from superposition.devices import torch
    from superposition.rug import exact_gradients
    from superposition.rug.evaluation import evaluate
    from superposition.rug.gaussian_steps import descend_with_adam

    settings = replace(
        model.settings, steps=steps, lr=lr, seed=seed, batch=model.settings.batch, schedule="cosine", protocol="recipe"
    )
    on = torch.device(settings.device)
    data_rng, eval_rng = (np.random.default_rng(s) for s in np.random.SeedSequence([seed, 2]).spawn(2))
    weights = [
        torch.tensor(w, dtype=torch.float32, device=on, requires_grad=True)
        for w in (model.W_in, model.W_out, model.bias)
    ]

    (encoder, *others), gradient = exact_gradients.prepared(weights, settings, data_rng)
    history = descend_with_adam([encoder, *others], gradient, settings, progress, fused=True)
    weights = [encoder.T, *others]
    found, se = evaluate(weights, settings, eval_rng, on, eval_samples)
    arrays = (w.detach().cpu().numpy() for w in weights)
    return TrainedModel(settings, *arrays, history, found, se, False)  # pyrefly: ignore[bad-argument-count, bad-argument-type]: three


def _train_on_closed_form(settings: Settings, progress: Callable[[int, int], None] | None = None) -> TrainedModel:
    """Minimise the closed-form loss of the weights: no samples, O(ns nd^2) a step."""
    from superposition.devices import torch
    from superposition.rug.gaussian_steps import closed_gradient, descend_with_adam, first_weights, trained_model

    W_in, W_out, bias = first_weights(settings, torch.float64)
    weights = [W_in.detach().T.contiguous().requires_grad_(), W_out, bias]
    history = descend_with_adam(weights, closed_gradient(weights, settings.p), settings, progress, fused=True)
    return trained_model(settings, [weights[0].T, *weights[1:]], history)
