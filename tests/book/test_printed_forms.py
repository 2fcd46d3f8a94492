"""Formulas as printed, each at one point where the value can be had by hand from the source."""

import numpy as np
import pytest
from superposition import incidental, receptive, toy
from superposition.book import printed_forms

THIRD = np.pi / 3


def test_toy_terms_as_means():
    # L = (1-S)^2 L_2 + (1-S) S L_1 + S^2 L_0, at S = 3/4 with L_0 = 16, L_1 = 32, L_2 = 48: 9 + 6 + 3
    assert printed_forms.mean_terms([16.0, 32.0, 48.0], 0.25) == pytest.approx(18, rel=1e-15)


def test_toy_nothing_on():
    assert printed_forms.nothing_on([0.5, -4.0, 2.0]) == 4.25  # sum_i ReLU(b_i)^2 = 1/4 + 0 + 4


def test_toy_shortcut_at_full_strength():
    # I_1 (1 - ReLU(1/4 + 1/4))^2 + I_2 (1 - ReLU(1 - 1/2))^2 + I_2 ReLU(1/2 - 1/2)^2 + I_1 ReLU(1/2 + 1/4)^2
    found = toy.shortcut_loss([[0.5, 1.0]], [0.25, -0.5], [1.0, 2.0])
    assert float(found) == pytest.approx(1 / 4 + 2 / 4 + 9 / 16, rel=1e-15)


def test_xor_matrix():
    # parities of 0..7 XOR 0..7: 0 1 1 0 1 0 0 1 / 1 0 0 1 0 1 1 0 / ...
    row = np.array([1, -1, -1, 1, -1, 1, 1, -1])
    assert np.array_equal(printed_forms.xor_matrix(8), np.outer(row, row))


def test_fourth_moment_term_of_appendix_c():
    # 3 sigma^4 16 eta^2 (1 + |w|_4^4 (mu_4 - 3 sigma^4)), eta = 1/4, sigma = 2, mu_4 = 16, |w|_4^4 = 1/2: 48 (1 - 16)
    assert printed_forms.fourth_moment_term(0.25, 2.0, 16.0, 0.5) == -720


def test_chain_of_appendix_b():
    # lambda m'^2 / S times the mean deviation, without its square: nothing, whatever the weights
    found = incidental.l1_decay([0.5, 0.25, 0.75], 1e-3)
    assert found.printed == 0 and found.variance > 0


def test_gated_flow_of_equation_44():
    assert printed_forms.first_flow([5.0, 1.0], [2.0, 3.0]).tolist() == [3, -2]


def test_gated_modes_of_equations_47_and_48():
    # e^(-lambda t / K) = 1/4 at lambda = 2, t = 3 ln 2, K = 3; the end is c / lambda = 4
    found = printed_forms.gated_modes(3 * np.log(2), [2.0], [12.0], [8.0], 3)
    assert found == pytest.approx([12 / 4 + 4 * 3 / 4], rel=1e-14)


def test_half_line_mean_of_equations_65_and_66():
    # g^2 = 1/2 and r^2 = 1/2: arctan(r / sqrt(1 + 1/2)) = arctan(1 / sqrt 3) = 30 degrees
    assert printed_forms.half_line_mean(0.5**0.5, 0.5**0.5) == pytest.approx(2 / np.sqrt(np.pi) * THIRD / 2, rel=1e-14)


def test_small_bump_of_equation_67():
    # g^2 = 1/2 and r = 1: arctan(1) = 45 degrees; r = 0: nothing
    found = printed_forms.small_bump(0.5**0.5, [1.0, 0.0], 2.0)
    assert found == pytest.approx([np.sqrt(np.pi) / 8, 0], rel=1e-14)


def test_steady_energy_of_equation_25():
    assert printed_forms.steady_energy(1.0, 3.0) == pytest.approx(1 / np.sqrt(8 * np.pi), rel=1e-14)


def test_fourier_basis_of_the_notes():
    # n = 4, frequencies 0, 1, 2 and the sine of 1: columns 1/2 (1, cos(pi j k / 2)) and -1/2 sin(pi k / 2)
    by_hand = [[1, 1, 1, 0], [1, 0, -1, -1], [1, -1, 1, 0], [1, 0, -1, 1]]
    assert printed_forms.fourier_basis(4) == pytest.approx(np.array(by_hand) / 2, abs=1e-15)


@pytest.mark.parametrize(
    ("rho_kk", "alpha", "beta"),
    [
        # gamma = 1/2, rho_11 = 1: arccos(-gamma) = 2 pi / 3, arccos(gamma) = pi / 3, arcsin(gamma) = pi / 6
        (1.0, 5 / 12 + 1 / (np.pi * 3**0.5), -1 / 18 + 1 / (np.pi * 3**0.5)),
        (4.0, 7 / 4 + 3**0.5 / (2 * np.pi), -7 / 36),
    ],
)
def test_two_neurons_of_equation_17(rho_kk, alpha, beta):
    assert receptive.printed_coefficients(1.0, rho_kk, 0.5) == pytest.approx((alpha, beta), rel=1e-14)
