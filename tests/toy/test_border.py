"""The border of superposition against the exact loss of the whole model, and its expansion."""

import numpy as np
import pytest
from sampled import sampled
from superposition import features, toy
from superposition.toy import border


def test_the_errors_of_the_outputs_are_the_loss_of_the_model():
    rng = np.random.default_rng(0)
    for _ in range(30):
        w, b, p = rng.uniform(0.05, 1.3, 2) * [1, -1], rng.uniform(-0.5, 0.8, 2), rng.uniform(0.05, 1)
        both = [border._output_error(w[i] ** 2, w[0] * w[1], b[i], p) for i in range(2)]
        assert toy.population_loss(w[None], b, [1.0, 0.6], p) == pytest.approx(both[0] + 0.6 * both[1], rel=1e-9)


@pytest.mark.parametrize("p", sampled([0.3, 0.7, 0.1, 0.5, 0.55, 0.95, 1.0], kept=2))
def test_superposition_wins_just_above_the_border_and_not_below(p):
    # the least loss of the whole model, by other code, from random starts
    found = toy.superposition_border(p)
    for factor, wins in [(1.01, True), (0.99, False)]:
        relative = factor * found.importance
        dropped = relative * float(features.variance(p))
        first = [np.array([[1.0, -d]]) for d in (0.15, 0.4, 0.75)] if wins else ()
        least = toy.minimise(2, 1, [1.0, relative], p, starts=2, first=first).loss
        assert (least < dropped * (1 - 1e-7)) == wins


@pytest.mark.parametrize("p", [0.55, 0.7, 0.9, 1.0])
def test_the_expansion_at_small_overlaps(p):
    # ratio = border + C delta / V + O(delta^2): halving delta and extrapolating leaves the second order
    wide, narrow = (border._least(p, overlap, overlap)[0] for overlap in (0.02, 0.01))
    limit = float(toy.continuous_border(p))
    slope = (4 * (narrow - limit) - (wide - limit)) / 0.02
    assert slope == pytest.approx(float(border._cubic_term(p) / features.variance(p)), abs=2e-3)


def test_two_tricritical_points():
    low, high = toy.tricritical_points()
    assert (low, high) == (pytest.approx(0.5202, abs=1e-4), pytest.approx(0.8373, abs=1e-4))
    around = border._cubic_term([low - 0.01, low + 0.01, high - 0.01, high + 0.01])
    assert np.sign(around).tolist() == [-1, 1, 1, -1]


@pytest.mark.parametrize(
    ("p", "sharp"), [(0.3, True), (0.5, True), (0.55, False), (0.7, False), (0.9, True), (1.0, True)]
)
def test_at_these_probabilities_the_border_is_sharp(p, sharp):
    found = toy.superposition_border(p)
    assert found.sharp == sharp
    assert (found.strengths[1] > 1e-3) == sharp
    assert found.importance <= toy.continuous_border(p)


def test_dense_features_of_nearly_equal_importance_are_in_superposition():
    found = toy.superposition_border(1.0)
    assert 0.98 < found.importance < 0.995 and toy.continuous_border(1.0) == pytest.approx(1)
