"""Measures of receptive fields, on fields of which they are known."""

import numpy as np
import pytest
from superposition import receptive


def test_measures_of_known_fields():
    n = 40
    flat, wave, pixel = np.ones(n), np.cos(2 * np.pi * 3 * np.arange(n) / n), np.eye(n)[7]
    np.testing.assert_allclose(n * receptive.ipr([flat, wave, pixel]), [1, 1.5, n])
    np.testing.assert_array_equal(receptive.half_energy_width([flat, pixel]), [20, 1])
    np.testing.assert_allclose(receptive.mean_frequency([flat, wave, (-1.0) ** np.arange(n)]), [0, 3, 20], atol=1e-12)
    assert receptive.power_spectrum(np.random.default_rng(0).standard_normal(n)).sum() == pytest.approx(1)
    assert receptive.power_spectrum(np.random.default_rng(0).standard_normal(7)).sum() == pytest.approx(1)
    split = np.eye(n)[0] + np.eye(n)[39]  # an arc across the seam
    assert receptive.half_energy_width(split) == 1 and receptive.half_energy_width(split + 1e-9 + np.eye(n)[1]) == 2
    assert receptive.peak([-pixel]) == 7 and receptive.ring_distance(1, 39, n) == 2
    np.testing.assert_allclose(receptive.ipr(1e-200 * wave), 1.5 / n)


def test_zero_is_no_field():
    with pytest.raises(ValueError, match="w = 0 is no receptive field"):
        receptive.ipr(np.zeros(5))


def test_measures_do_not_depend_on_the_scale():
    w = np.random.default_rng(5).standard_normal((3, 2, 12))
    np.testing.assert_allclose(receptive.ipr(w), receptive.ipr(-7 * w))


def test_the_same_place_is_counted_round_the_ring():
    pixels = np.eye(6)
    near = [[receptive.same_place(w, v) for v in pixels] for w in pixels]
    away = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    np.testing.assert_array_equal(near, np.minimum(away, 6 - away) <= 1)
    other = -pixels[[0, 1, 2, 4, 4, 0]]
    np.testing.assert_array_equal(receptive.same_place(pixels, other, within=0), [1, 1, 1, 0, 1, 0])


def test_power_counts_both_signs_of_a_frequency_but_not_the_two_ends_twice():
    x = np.arange(8)
    np.testing.assert_allclose(
        receptive.power_spectrum(1 + 2**0.5 * np.cos(2 * np.pi * x / 8)), [0.5, 0.5, 0, 0, 0], atol=1e-15
    )
    np.testing.assert_allclose(receptive.power_spectrum(1.0 + (-1.0) ** x), [0.5, 0, 0, 0, 0.5], atol=1e-15)


@pytest.mark.parametrize("n", [2, 3, 6, 7])
def test_power_is_that_of_both_signs_in_the_whole_transform(n):
    w = np.random.default_rng(n).standard_normal((4, n))
    whole = np.abs(np.fft.fft(w, axis=-1)) ** 2
    both = [whole[:, sorted({k, -k % n})].sum(axis=1) for k in range(n // 2 + 1)]
    np.testing.assert_allclose(
        receptive.power_spectrum(w), np.transpose(both) / whole.sum(axis=1, keepdims=True), atol=1e-15
    )


@pytest.mark.parametrize(("width", "share"), [(1.5, 1), (8, 1), (0.6, 0.893), (16, 0.92)])
def test_pixels_times_frequencies_of_a_bump_are_n_between_a_pixel_and_the_ring(width, share):
    n = 64
    bump = np.exp(-(np.minimum(np.arange(n), n - np.arange(n)) ** 2) / (2 * width**2))
    product = 1 / (receptive.ipr(bump) * receptive.ipr(np.abs(np.fft.fft(bump))))
    assert product / n == pytest.approx(share, abs=0.005)
