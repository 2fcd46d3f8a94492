"""Collisions: expectations against sampling, two weights against an ODE solver, duplication, counts by hand."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from superposition import incidental


@pytest.mark.parametrize(("n", "m"), [(40, 40), (30, 200)])
def test_expectations_against_sampling(n, m):
    rng = np.random.default_rng(0)
    pairs, opposite, independent, distinct = [], [], [], []
    for _ in range(3000):
        slots = rng.integers(2 * m, size=n)
        plus, minus = (np.bincount(slots[slots % 2 == s] // 2, minlength=m) for s in (0, 1))
        both = plus + minus
        pairs.append((both * (both - 1) // 2).sum())
        opposite.append((plus * minus).sum())
        independent.append(((plus > 0) & (minus > 0)).sum())
        chosen = np.bincount(rng.choice(2 * m, size=n, replace=False) // 2, minlength=m)
        distinct.append((chosen == 2).sum())
    found = incidental.expected(n, m)
    for predicted, seen in [
        (found.collisions, pairs),
        (found.pairs, opposite),
        (found.independent, independent),
        (found.distinct, distinct),
    ]:
        assert np.mean(seen) == pytest.approx(predicted, abs=4 * np.std(seen) / np.sqrt(3000))
        assert abs(np.mean(seen) - 1.1 * predicted) > 4 * np.std(seen) / np.sqrt(3000)


def test_counts_by_hand():
    W = np.array([[1.0, 0, 0.6, 0], [-0.9, 0, 0, 0.3], [0, 0.99, 0.7, 0], [0, 0, 0.8, -0.4]])
    assert incidental.count_polysemantic(W) == 2
    assert incidental.count_polysemantic(W, 0.65) == 2 and incidental.count_polysemantic(W, 0.75) == 1
    assert incidental.count_polysemantic(W, 0.3) == 3
    assert incidental.same_sign_pairs(W, 0.5) == 3 and incidental.same_sign_pairs(W, 0.3) == 3
    assert incidental.opposite_tops(W) == 1
    assert incidental.opposite_tops([[1.0, 0], [-1, 0], [-2, 0], [3, 0]]) == 4


def test_counts_do_not_depend_on_the_threshold_at_the_end():
    W = incidental.gradient_flow(incidental.random_encodings(24, 24, seed=0), 0.02, [400.0])[0]
    assert len({incidental.count_polysemantic(W, x) for x in (0.1, 0.3, 0.5, 0.7, 0.9)}) == 1
    assert incidental.count_polysemantic(W) > 0


def test_strengths_at_start():
    n, m, s = 60, 60, 0.9
    found = np.array(
        [
            np.mean(incidental.benefit_and_interference(incidental.random_encodings(n, m, seed=k, scale=s)), 1)
            for k in range(40)
        ]
    )
    se = found.std(axis=0) / np.sqrt(40)
    expected = np.array(incidental.mean_benefit_and_interference(n, m, s))
    assert np.all(np.abs(found.mean(axis=0) - expected) < 4 * se)
    W = incidental.random_encodings(5, 9, seed=0)
    direct = [sum(max(W[i] @ W[j], 0) ** 2 for j in range(5) if j != i) for i in range(5)]
    np.testing.assert_allclose(incidental.benefit_and_interference(W)[1], direct, atol=1e-14)


@pytest.mark.parametrize(("x0", "y0"), [(0.8, 0.5), (0.5, 0.8), (0.7, 0.7), (0.7, 0.7 - 1e-12), (1.0, 1e-9)])
def test_malign_against_an_ode_solver(x0, y0):
    t = np.array([0.0, 0.5, 5.0, 60.0])
    exact = solve_ivp(
        lambda s, z: (-z[0] * z[1] ** 2, -(z[0] ** 2) * z[1]), (0, 60), (x0, y0), "DOP853", t, rtol=1e-12, atol=1e-15
    ).y
    np.testing.assert_allclose(incidental.malign_pair(x0, y0, t), exact, rtol=1e-8, atol=1e-13)


def test_malign_limits():
    x, y = incidental.malign_pair(0.8, 0.5, 1e4)
    assert x == pytest.approx(np.sqrt(0.39), rel=1e-12) and y < 1e-300
    assert incidental.malign_pair(0.7, 0.7, 1e6)[0] == pytest.approx(1 / np.sqrt(1 / 0.49 + 2e6), rel=1e-9)


def test_two_encodings_of_the_flow_obey_malign_and_benign():
    """One neuron, two features, lambda and benefit subtracted: only interference remains."""
    for sign in (1, -1):
        W = np.array([[0.8], [0.5 * sign]])
        step = incidental.gradient_flow(W, 1e-6, [1e-4])[0] - W
        free = 1e-4 * ((1 - W**2) * W - 1e-6 * np.sign(W))
        pull = -1e-4 * np.array([[0.8 * 0.25], [0.64 * 0.5]]) * (sign > 0)
        np.testing.assert_allclose(step - free, pull, atol=1e-8)


def test_duplication():
    W = np.array([[1.0, 0, 0], [-0.9, 0, 0], [0, 0.8, 0]])
    same = incidental.duplicate_polysemantic(W, noise=0, seed=0)
    assert same.shape == (3, 4)
    np.testing.assert_allclose(same @ same.T, W @ W.T, atol=1e-15)  # what the network computes is unchanged
    for seed in range(3):
        loose = incidental.duplicate_polysemantic(W, noise=0.01, seed=seed)
        assert np.all((loose == 0) == (same == 0)) and not np.allclose(loose[0, 0], loose[0, 3])
        tight = incidental.duplicate_polysemantic(W, noise=0.01, seed=seed, matched=True)
        assert abs(tight[0, 0]) > abs(tight[0, 3]) and abs(tight[1, 0]) < abs(tight[1, 3])


def test_duplication_of_whole_numbers_does_not_round():
    W = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(
        *(incidental.duplicate_polysemantic(given, noise=0.01, seed=0) for given in (W, W.astype(float)))
    )


def test_matched_noise_frees_and_independent_noise_frees_some():
    W = incidental.gradient_flow(incidental.random_encodings(24, 24, seed=1), 0.02, [400.0])[0]
    before = incidental.count_polysemantic(W)

    def after(**kwargs):
        return incidental.count_polysemantic(
            incidental.gradient_flow(incidental.duplicate_polysemantic(W, noise=0.02, **kwargs), 0.02, [600.0])[0]
        )

    assert before >= 3
    assert after(seed=0, matched=True) == 0
    loose = [after(seed=s) for s in range(6)]
    assert np.mean(loose) / before == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(6 * before))


def test_fewer_neurons_than_features_is_a_warning():
    with pytest.warns(UserWarning, match="m = 3 neurons for n = 7 features: the text assumes m >= n"):
        assert np.isnan(incidental.expected(7, 3).distinct)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: incidental.expected(0, 3), "n = 0 is out of range"),
        (lambda: incidental.count_polysemantic([1.0, 2.0]), "W has shape .2,."),
        (lambda: incidental.count_polysemantic([[np.nan]]), "W = nan is out of range"),
        (lambda: incidental.count_polysemantic([[1.0]], 0), "threshold = 0 is out of range"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("n", "m"), [(2, 5), (7, 9)])
def test_strengths_at_start_by_sampling(n, m):
    """Means over 4000 draws, to 4 standard errors: with n - 2 for n - 1 the second would be off by 1 / (n - 1)."""
    rng, scale = np.random.default_rng(n), 0.9
    draws = [incidental.benefit_and_interference(scale / np.sqrt(m) * rng.standard_normal((n, m))) for _ in range(4000)]
    for k, expected in enumerate(incidental.mean_benefit_and_interference(n, m, scale)):
        values = np.array([draw[k].mean() for draw in draws])
        assert abs(values.mean() - expected) < 4 * values.std() / np.sqrt(4000)
        if k == 1:  # sharp enough to tell n - 1 from n - 2
            assert 4 * values.std() / np.sqrt(4000) < 0.5 * expected / (n - 1)


def test_counts_do_not_care_about_order_and_sign_of_neurons():
    rng = np.random.default_rng(1)
    W = rng.standard_normal((9, 6)) * (rng.random((9, 6)) < 0.3)
    turned = W[rng.permutation(9)][:, rng.permutation(6)] * rng.choice([-1, 1], 6)
    for count in (incidental.count_polysemantic, incidental.same_sign_pairs, incidental.opposite_tops):
        assert count(W) == count(turned)
