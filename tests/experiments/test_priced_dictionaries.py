"""Prices at which the truth costs as much as pairs, without training: against losses of autoencoders at hand."""

import numpy as np
import pytest
from superposition import decoders
from superposition.experiments import priced_dictionaries as priced


def test_what_latents_save_is_the_best_of_autoencoders_along_the_directions():
    truth = decoders.dictionary(32, 12, p=0.1, seed=3)
    h = truth.activations(3000, seed=4)[1]
    center = h.mean(axis=0)
    thresholds = np.linspace(-0.05, 0.25, 16)
    saved = priced._saved(h - center, truth.directions, thresholds)
    for price in (0.02, 0.08):
        losses = []
        for t in thresholds:
            for gain in np.linspace(0.3, 1.2, 91):
                latents = np.maximum((h - center) @ truth.directions - t, 0) * gain
                offset = center - truth.directions @ latents.mean(axis=0)
                rest = h - offset - latents @ truth.directions.T
                losses.append((rest**2).sum(axis=1).mean() / 2 + price * latents.sum(axis=1).mean())
        nothing = ((h - center) ** 2).sum(axis=1).mean() / 2
        assert nothing - saved(price) == pytest.approx(min(losses), rel=1e-3)  # a grid of gains and thresholds
        assert nothing - saved(price) <= min(losses) * (1 + 1e-6)


def test_the_limit_is_that_of_a_large_rug():
    columns = {
        "ns": np.array([64, 64]),
        "nd": np.array([24, 28]),
        "p": np.array([0.05, 0.08]),
        "pairs": np.array([0.03, 0.04]),
    }
    found = priced.large_border(columns)
    np.testing.assert_allclose(
        found["limit"], [decoders.border_price(0.05, 0.375), decoders.border_price(0.08, 0.4375)]
    )
    np.testing.assert_allclose(found["excess"], columns["pairs"] / found["limit"] - 1)
