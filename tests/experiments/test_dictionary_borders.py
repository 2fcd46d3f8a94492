"""Borders of the truth without training."""

import numpy as np
import pytest
from scipy.optimize import minimize
from superposition import decoders
from superposition.experiments import dictionary_borders


def test_what_latents_save_is_the_least_loss_over_gain_and_threshold():
    """Between thresholds the spline smooths the kink at 0, where all of so few features are off: 2e-4 of the loss."""
    truth = decoders.dictionary(24, 9, "rug", p=0.1, seed=3)
    h = truth.activations(4000, seed=4)[1]
    h -= h.mean(axis=0)

    def loss(at, price):
        latents = at[0] * np.maximum(h @ truth.directions - at[1], 0)
        rest = h - latents @ truth.directions.T
        return ((rest - rest.mean(axis=0)) ** 2).sum(axis=1).mean() / 2 + price * latents.sum(axis=1).mean()

    saved = dictionary_borders.saved(h, truth.directions, np.linspace(-0.06, 0.24, 31))
    for price in (0.02, 0.1):
        starts = [(0.7, t) for t in (-0.03, 0.03, 0.12)]
        least = min(minimize(loss, start, (price,), method="Nelder-Mead").fun for start in starts)
        np.testing.assert_allclose((h**2).sum(axis=1).mean() / 2 - saved(price), least, rtol=2e-4)


@pytest.mark.thorough
def test_a_large_rug_has_the_border_of_the_theory():
    """One over the number of features on at once, 1/26, is what the closed form leaves out."""
    found = dictionary_borders.borders(ns=512, nd=192, p=0.05, seed=11)
    np.testing.assert_allclose(found["pairs"], decoders.border_price(0.05, 0.375), rtol=1 / 26)


def test_the_best_threshold_may_be_the_last_of_those_tried_or_the_first():
    """Far below zero every feature is on, and a higher threshold saves more; far above, a lower one does."""
    truth = decoders.dictionary(24, 9, "rug", p=0.1, seed=3)
    h = truth.activations(500, seed=4)[1]
    h -= h.mean(axis=0)
    for ends, best in (((-0.8, -0.3), -0.3), ((0.35, 0.6), 0.35)):
        latents = np.maximum(h @ truth.directions - best, 0)
        rebuilt = (latents - latents.mean(axis=0)) @ truth.directions.T
        along, square = (h * rebuilt).sum() / 500, (rebuilt**2).sum() / 500
        wanted = max(along - 0.02 * latents.sum() / 500, 0) ** 2 / square / 2
        saved = dictionary_borders.saved(h, truth.directions, np.linspace(*ends, 9))
        np.testing.assert_allclose(saved(0.02), wanted, rtol=1e-9)
