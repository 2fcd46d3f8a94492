"""Mean field with company: exact where outputs are not cut off, its error by the theorem's identity, and on groups."""

import numpy as np
import pytest
from superposition import correlated, features
from superposition.correlated.company_field import _rectified
from superposition.moments import moment


def _code(n, nd, seed=0):
    W_in = np.random.default_rng(seed).standard_normal((nd, n))
    return W_in / np.linalg.norm(W_in, axis=0), (W_in / np.linalg.norm(W_in, axis=0)).T


def _measured(x, W_in, W_out, b):
    return ((x - np.maximum((x @ W_in.T) @ W_out.T + b, 0)) ** 2).mean(axis=0)


@pytest.mark.parametrize("s", [0.0, 0.7])
def test_outputs_that_are_never_cut_off_are_exact_on_any_features(s):
    x = features.grouped(6, 4, 0.2, s, 2000, seed=1).reshape(-1, 24)
    W_in, W_out = _code(24, 8)
    b = np.full(24, 6.0)
    found = correlated.company_losses(x, W_in, W_out, b)
    real = _measured(x, W_in, W_out, b)
    assert found.company == pytest.approx(real, rel=1e-10)
    assert found.skewed == pytest.approx(real, rel=1e-10)
    assert np.abs(found.independent - real).max() > 0.01


def test_the_error_is_what_the_theorem_says():
    """Twice the integral of the difference of E(z - t)_+ over t > 0, less 2 x of it at 0."""
    rng, x, noise = np.random.default_rng(0), 0.3, 0.4
    z = rng.choice([-0.5, 0.1, 1.2], 3000, p=[0.5, 0.3, 0.2])
    mean, noise = z.mean(), z.std()
    gaussian = x**2 - 2 * x * moment(1, mean, noise) + moment(2, mean, noise)
    exact = ((x - np.maximum(z, 0)) ** 2).mean()
    t = np.linspace(0, 6, 60_001)
    real = np.array([0.0 + p * np.maximum(v - t, 0) for v, p in zip(*np.unique(z, return_counts=True), strict=True)])
    gap = real.sum(axis=0) / len(z) - moment(1, mean - t, np.full_like(t, noise))
    assert exact - gaussian == pytest.approx(2 * np.trapezoid(gap, t) - 2 * x * gap[0], abs=1e-7)
    assert abs(exact - gaussian) > 1e-3


def test_the_third_cumulant_is_right_to_first_order():
    """Sums of k exponentials have the skewness 2 / sqrt(k): the correction leaves less than a third of the error."""
    rng, k = np.random.default_rng(0), 100
    u = (rng.gamma(k, size=4_000_000) - k) / k**0.5
    for m in (-1.0, 0.4):
        z = np.maximum(m + u, 0)
        for power, plain, skewed in zip((1, 2), _rectified(m, 1.0, 0.0), _rectified(m, 1.0, 2 / k**0.5), strict=True):
            real = (z**power).mean()
            assert abs(skewed - real) < abs(plain - real) / 3


def test_a_rug_of_groups_and_a_code_that_knows_them():
    """Blind rugs: the loss of chapter 10's theory for finite groups. Grouped pairs: independence is far off."""
    n, p = 256, 0.05
    rng = np.random.default_rng(2)
    x = features.grouped(n // 4, 4, p, 1.0, 4000, seed=rng).reshape(-1, n)
    W = np.linalg.qr(rng.standard_normal((n, n // 4)))[0]
    theory = correlated.rug_loss(n, p, 0.25, 4, 1.0)
    gain, spread = theory.gain, np.diag(W @ W.T)
    W_in, W_out = W.T, theory.gain * W / spread[:, None]
    b = np.full(n, theory.bias) - (W_out @ (W_in @ np.full(n, p / 2)) - gain * p / 2)
    found, real = correlated.company_losses(x[:2000], W_in, W_out, b), _measured(x[2000:], W_in, W_out, b).mean()
    assert found.company.mean() == pytest.approx(real, rel=0.1)  # a standard error of 2000 vectors is 3 %
    pair = np.kron(np.eye(8), [[1.0], [1.0]]).T  # partners that are always on together share a direction
    x = features.grouped(8, 2, 0.2, 1.0, 4000, seed=rng).reshape(-1, 16)
    code = pair, pair.T * 0.5, np.full(16, 0.02)
    found, real = correlated.company_losses(x[:2000], *code), _measured(x[2000:], *code).mean()
    assert found.company.mean() == pytest.approx(real, rel=0.1)
    assert abs(found.independent.mean() / real - 1) > 0.3


def test_weights_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"W_out has shape \(2, 3\); allowed: \(3, 2\)"):
        correlated.company_losses(np.zeros((4, 3)), np.ones((2, 3)), np.ones((2, 3)), np.zeros(3))


def test_the_two_states_add_up_and_a_threshold_is_right_for_nearly_gaussian_interference():
    n, rng = 200, np.random.default_rng(4)
    x = (rng.random((6000, n)) < 0.4) * rng.random((6000, n))
    W_in, b, bar = rng.standard_normal((900, n)) / 30, np.full(n, -0.1), np.full(n, 0.15)
    found = correlated.state_losses(x, W_in, W_in.T, b, threshold=np.zeros(n))
    np.testing.assert_allclose(found.on + found.off, correlated.company_losses(x, W_in, W_in.T, b).company, rtol=1e-9)
    found, z = correlated.state_losses(x, W_in, W_in.T, b, threshold=bar), x @ W_in.T @ W_in + b
    errors = (x - np.where(z > bar, z, 0)) ** 2
    for part, real in ((found.on, np.where(x > 0, errors, 0)), (found.off, np.where(x > 0, 0, errors))):
        assert part.mean() == pytest.approx(real.mean(), rel=0.03)


def test_latents_that_were_found_in_a_vector_have_no_false_alarms_where_it_is_reconstructed():
    rng = np.random.default_rng(5)
    D = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    h = rng.standard_normal((4000, 30)) - 1
    f = np.maximum(h @ np.concatenate([D, -D], axis=1), 0)  # each direction both ways: nothing is lost
    W_in = np.concatenate([D, -D], axis=1)
    found = correlated.state_losses(f, W_in, W_in.T, np.zeros(60), threshold=np.zeros(60))
    again = np.maximum(f @ W_in.T @ W_in, 0)
    np.testing.assert_allclose(again, f, atol=1e-12)
    assert found.on.mean() < 0.2 * found.off.mean()  # it is on's small part, not the false alarms, that is right


def test_thresholds_of_another_number_are_refused():
    with pytest.raises(ValueError, match="threshold has shape"):
        correlated.state_losses(np.ones((4, 3)), np.ones((2, 3)), np.ones((3, 2)), np.zeros(3), threshold=np.zeros(2))
