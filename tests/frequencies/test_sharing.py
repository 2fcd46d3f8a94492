"""Features that are not equally frequent: shares of the dimensions, codes that have them, and what they cost."""

import numpy as np
import pytest
from superposition import features, frequencies
from superposition.codes import fans, mixtures, partners
from superposition.frequencies import few_active_features
from superposition.rug import meanfield, rugs

P = frequencies.power_law(60, 1.0, total=4.0)
V = features.variance(P)


def interference(W, p):
    """Variance that each output receives from the others, at gain 1."""
    off = W / np.diag(W)[:, None] - np.eye(len(W))
    return off**2 @ features.variance(p)


def test_a_power_law_by_hand():
    p = frequencies.power_law(3, 2.0, total=0.5)
    assert p.sum() == pytest.approx(0.5) and p[0] / p[1:] == pytest.approx([4, 9])


def test_samples_have_their_frequencies():
    p = np.array([1.0, 0.7, 0.05, 0.001])
    x = features.sample_each(p, 200_000, seed=0)
    se = np.sqrt(p * (1 - p) / 200_000)
    assert np.all(np.abs((x > 0).mean(axis=0) - p) <= 4 * se)
    mean, square = x.mean(axis=0), (x**2).mean(axis=0)  # four standard errors, of at most sqrt(p/3) and sqrt(p/5)
    assert np.all(np.abs(mean - features.mean(p)) < 4 * np.sqrt(p / 3 / 200_000))
    assert np.all(np.abs(square - features.second_moment(p)) < 4 * np.sqrt(p / 5 / 200_000))
    both = np.mean((x[:, 1] > 0) & (x[:, 2] > 0))  # independent
    assert both == pytest.approx(0.035, abs=4 * np.sqrt(0.035 / 200_000))


def test_scalar_p_keeps_its_numbers():
    flat, values = features.nonzeros(1000, 0.01, 3, seed=1)
    assert flat[:4].tolist() == [106, 137, 672, 709] and values[0] == 0.9636708728449709


@pytest.mark.parametrize("rule", [frequencies.tied_shares, frequencies.even_shares])
@pytest.mark.parametrize("nd", [1, 7, 59, 60])
def test_shares_add_up(rule, nd):
    share = rule(P, nd)
    assert share.sum() == pytest.approx(nd) and np.all((share > 0) & (share <= 1))
    assert np.all(np.diff(share) <= 1e-12)  # the frequent have more


@pytest.mark.parametrize("spread", [3, 30])
def test_even_shares_over_the_whole_range_of_probabilities(spread):
    rng = np.random.default_rng(spread)
    for ns in rng.integers(2, 60, 100):
        p, nd = 10.0 ** -rng.uniform(0, spread, ns), int(rng.integers(1, ns))
        share, V = frequencies.even_shares(p, nd), features.variance(p)
        assert share.sum() == pytest.approx(nd, rel=1e-9) and share.min() > 0
        at = np.abs(share - 0.5).argmin()  # far from 0 and 1 the share gives the interference to many digits
        s = V[at] * (1 / share[at] - 1)
        np.testing.assert_allclose(share, V / (V + s), rtol=1e-6)


def test_even_shares_of_very_many_very_rare_features():
    assert frequencies.even_shares(np.full(200_000, 1e-30), 199_999) == pytest.approx(1 - 5e-6, rel=1e-9)


def test_a_rug_without_some_of_the_features():
    code = frequencies.unequal_rug([0.1, 0.2, 0.3, 0.3], [0, 1, 0.5, 0.5])
    assert frequencies.shares(code.W_in, [0.1, 0.2, 0.3, 0.3]) == pytest.approx([0, 1, 0.5, 0.5], abs=1e-12)


def test_dimensions_for_features_however_rare():
    [best] = frequencies.allocate([1.0, 1e-30], [2])
    assert best.share.sum() == 2


def test_rules_of_sharing():
    noise = V * (1 / frequencies.even_shares(P, 15) - 1)
    assert noise == pytest.approx(noise[0])
    share = frequencies.tied_shares(P, 15)
    alone = share == 1
    level = V[~alone] / share[~alone]  # V_i + interference
    assert alone.any() and level == pytest.approx(level[0]) and V[alone].min() > level[0] > V[~alone].max()
    equal = np.full(40, 0.1)
    for rule in (frequencies.tied_shares, frequencies.even_shares):
        assert rule(equal, 10) == pytest.approx(0.25)  # the text's case, r = nd / ns


@pytest.mark.parametrize("rule", [frequencies.tied_shares, frequencies.even_shares])
def test_a_code_has_its_shares_and_the_least_interference(rule):
    share = rule(P, 15)
    code = frequencies.unequal_rug(P, share, seed=3)
    assert code.W_in.shape == (15, 60)
    assert frequencies.shares(code.W_in, P) == pytest.approx(share, abs=1e-9)
    assert interference(code.W, P) == pytest.approx(V * (1 / share - 1), abs=1e-9)


def test_no_decoder_has_less_interference_than_the_shares_allow():
    rng = np.random.default_rng(4)
    W_in = rng.standard_normal((15, 60))
    bound = V * (1 / frequencies.shares(W_in, P) - 1)
    A = (W_in * V) @ W_in.T
    best, pseudo = np.linalg.solve(A, W_in).T, np.linalg.pinv(W_in)  # the best reader, and another one
    assert interference(best @ W_in, P) == pytest.approx(bound, rel=1e-9)
    assert np.all(interference(pseudo @ W_in, P) >= bound * (1 - 1e-9))
    assert interference(pseudo @ W_in, P).sum() > 1.02 * bound.sum()


def test_a_crowd_of_many_is_gaussian_and_a_crowd_of_few_is_not():
    equal, share = np.full(2000, 0.2), np.full(2000, 0.3)
    theory = float(meanfield.optimum(0.2, 0.3).loss)
    assert frequencies.few_active_losses(equal, share)[0] == pytest.approx(theory, rel=0.01)  # 400 features are on
    rare, share = np.full(1000, 1e-3), np.full(1000, 0.1)
    assert frequencies.few_active_losses(rare, share)[0] > 2 * float(meanfield.optimum(1e-3, 0.1).loss)


def test_few_active_against_simulation():
    p = frequencies.power_law(400, 1.0, total=2.0)
    share = frequencies.tied_shares(p, 60)
    code, x = frequencies.unequal_rug(p, share, seed=5), features.sample_each(p, 20_000, seed=6)
    features_first = np.ascontiguousarray(x.T)
    pre = (code.W / np.diag(code.W)[:, None]) @ features_first
    found, some = 0.0, np.flatnonzero(share < 1)[::5]
    for own, y in zip(features_first[some], pre[some], strict=True):
        # the best bias and gain of each output, by a search on half of the samples
        at = min((_best_gain(y[:10_000], own[:10_000], z), z) for z in np.linspace(-0.6, 0.1, 71))[1]
        found += _best_gain(y[10_000:], own[10_000:], at)
    predicted = frequencies.few_active_losses(p, share)[some].sum()
    assert found == pytest.approx(predicted, rel=0.08)  # weights of one code of 400 features are no Gaussian law
    assert frequencies.rug_losses(p, share)[some].sum() < 0.75 * found


def _best_gain(pre, x, z):
    y = np.maximum(pre + z, 0)
    power = (y**2).mean()
    return (x**2).mean() - (x * y).mean() ** 2 / power if power else (x**2).mean()


def test_tuned_outputs_against_drawing_all_features():
    p, W = np.linspace(0.1, 0.5, 6), np.random.default_rng(7).normal(0, 0.4, (6, 6))
    W[np.diag_indices(6)] = [1, 1, 2, 1, 1, -1]
    losses, se = frequencies.tuned_losses(W, p, samples=50_000, seed=8)
    x = features.sample_each(p, 100_000, seed=9)
    pre = (x - features.mean(p)) @ W.T / np.diag(W) + features.mean(p)
    direct = [min(_best_gain(pre[:, i], x[:, i], z) for z in np.linspace(-1.2, 0.3, 61)) for i in range(5)]
    assert losses[:5] == pytest.approx(direct, rel=0.03)  # 0.006 of 0.04: errors of a square over 100 000 vectors
    assert losses[5] == features.variance(p[5]) and 0 < se < 0.01 * losses.sum()


def test_tuned_outputs_of_a_rug_have_the_loss_of_the_theory():
    losses, se = frequencies.tuned_losses(rugs.Rug(512, 205).dense(), np.full(512, 0.2), samples=1000, seed=1)
    theory = float(meanfield.optimum(0.2, 205 / 512).loss)
    assert losses.mean() == pytest.approx(theory, abs=4 * se / 512 + 0.02 * theory)  # a rug of 512 is nearly Gaussian


@pytest.mark.thorough
def test_digons_between_the_knots():
    for q in (1e-6, 3e-3, 0.03, 0.13, 0.22, 0.45):
        [pair] = frequencies.allocate([q, q], [1], phases=("digon",))
        assert set(pair.phase) == {"digon"} and pair.losses == pytest.approx(partners.best_digon(q)[1], rel=1e-3)


@pytest.mark.parametrize("one", ["fan", ["fan"], {"fan"}, np.array(["fan"])])
def test_phases_are_one_word_or_many(one):
    [found] = frequencies.allocate([0.1, 0.1], [1], phases=one)
    np.testing.assert_array_equal(found.losses, frequencies.allocate([0.1, 0.1], [1], phases=("fan",))[0].losses)
    with pytest.raises(ValueError, match=r"phases = array\(.fan.* is unknown; allowed: rug, fan, digon"):
        frequencies.allocate([0.1, 0.1], [1], phases=np.array("fan"))


def test_allocations_of_equal_features_are_the_known_mixtures():
    [rugs] = frequencies.allocate(np.full(1000, 0.05), [60], phases=("rug",))
    hull = mixtures.hull(0.05, without=("antipodal", "digon"))
    assert rugs.losses.mean() == pytest.approx(float(hull.at(0.06)), rel=0.01)  # a grid of shares
    assert set(rugs.phase) == {"dropped", "rug"} and 59 < rugs.share.sum() <= 60 + 1e-6
    [best] = frequencies.allocate(np.full(1000, 0.05), [200])
    assert best.losses.mean() == pytest.approx(fans.fan_loss(0.05, 10), rel=1e-6)


def test_the_best_allocation_is_no_worse_than_any_rule():
    p = frequencies.power_law(300, 1.5, total=2.0)
    rugs, all_phases = (frequencies.allocate(p, [30], phases=names)[0] for names in (("rug",), ("rug", "fan", "digon")))
    losses = [
        frequencies.rug_losses(p, rule(p, 30)).sum() for rule in (frequencies.tied_shares, frequencies.even_shares)
    ]
    assert rugs.losses.sum() <= 1.01 * min(losses)  # a grid of shares, and a feature's share left over
    assert all_phases.losses.sum() < rugs.losses.sum()
    more = frequencies.allocate(p, [33], phases=("rug",))[0]
    fall = (rugs.losses.sum() - more.losses.sum()) / 3
    assert more.price * 0.9 < fall < rugs.price * 1.1  # what a dimension is worth, by a second route


def test_importance_is_worth_dimensions():
    p = np.full(200, 0.02)
    importance = np.where(np.arange(200) < 20, 30.0, 1.0)
    [plain], [weighted] = (frequencies.allocate(p, [30], importance=at) for at in (1.0, importance))
    assert importance @ weighted.losses < 0.8 * (importance @ plain.losses)
    assert weighted.share[:20].min() > weighted.share[20:].max()


def test_loads_of_fans():
    p = frequencies.power_law(1000, 0.0)
    [best] = frequencies.allocate(p, [100])
    assert set(best.phase) == {"fan"}
    assert best.losses.sum() == pytest.approx(1000 * float(fans.fan_loss(1e-3, 20)), rel=1e-6)
    assert best.losses.sum() == pytest.approx(17 / 20 / (3 * 100), rel=0.03)  # B (B - 3) pairs hide, and 1 - q^k < k p


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (lambda: frequencies.power_law(3, 1.0, total=4.0), "total = 4"),
        (lambda: frequencies.unequal_rug([0.1, 0.1], [0.5, 0.4]), "share adds up to 0.9"),
        (lambda: frequencies.tuned_losses([[1e-60, 1e20], [0, 1]], [0.1, 0.1]), "W has an own weight of 1e-60"),
        (lambda: frequencies.train_unequal([0.1, 0.1], 1, pull=200.0), "pull = 200 is too strong for lr = 0.01"),
        (lambda: frequencies.allocate([0.1, 0.1], [1], phases=("carpet",)), "phases = 'carpet'"),
        (lambda: frequencies.allocate([0.1, 0.1], [1], importance=[1, 2, 3]), "importance has shape"),
    ],
)
def test_refusals(call, refusal):
    with pytest.raises(ValueError, match=refusal):
        call()


def test_best_biases_by_sorted_sums_are_those_of_every_bias_by_itself():
    p, others = np.array([0.05, 0.3, 0.2, 0.1]), np.random.default_rng(4).standard_normal((300, 4)) * [0, 0.1, 0.6, 9]
    most = np.array([1, 1, 1, 1e-9])  # nothing beats the last
    z, gain, better = few_active_features._tuned(p, others, most)
    pairs = [
        [part.mean(axis=0) for part in few_active_features._overlap_and_power(p, others, tried)]
        for tried in few_active_features.BIASES[::2]
    ]
    losses = p / 3 - np.array([overlap**2 / np.maximum(power, 1e-300) for overlap, power in pairs])
    assert better.tolist() == [True, True, True, False] and z[3] == gain[3] == 0
    overlap, power = (part.mean(axis=0) for part in few_active_features._overlap_and_power(p, others, z))
    assert (gain * overlap)[:3] == pytest.approx((p / 3 - losses.min(axis=0))[:3], rel=1e-9)
    assert gain[:3] == pytest.approx((overlap / power)[:3], rel=1e-9)


@pytest.mark.parametrize("t", [-1.5, -0.4, 0.0, 0.3])
def test_moments_of_an_output_over_its_own_feature(t):
    nodes, weights = np.polynomial.legendre.leggauss(4)
    edges = np.clip([0, -t, 1], 0, 1)  # exact on either side of the kink
    x = np.concatenate([(a + b) / 2 + (b - a) / 2 * nodes for a, b in zip(edges[:-1], edges[1:], strict=True)])
    w = np.concatenate([(b - a) / 2 * weights for a, b in zip(edges[:-1], edges[1:], strict=True)])
    y, p = np.maximum(x + t, 0), 0.2
    expected = p * w @ (x * y), (1 - p) * max(t, 0) ** 2 + p * w @ y**2
    assert few_active_features._overlap_and_power(p, t - 0.1, 0.1) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_no_division_of_a_load_makes_a_fan_lose_more_than_a_sixth_of_its_square():
    """An attack on the bound: loads from even to all in one feature, in any order; a feature is lost behind a hider."""
    rng, share = np.random.default_rng(46), []
    drawn = zip(rng.integers(4, 40, 400), rng.uniform(0.01, 0.9, 400), np.geomspace(0.01, 30, 400), strict=True)
    for B, P, spread in drawn:
        p = P * rng.dirichlet(np.full(B, spread))
        hides = np.tri(B, k=-2)
        hides[-1, 0] = 0  # the last one of a fan spares the first
        share.append(p @ (1 - np.prod(np.where(hides, 1 - p, 1), axis=1)) / 3 / (P**2 / 6))
    assert max(share) < 1 and max(share) > 0.8 and min(share) < 0.1  # near it, and far below where one feature has all
    W = fans.priority_fan(7, 100).W
    hides = np.tri(7, k=-2)
    hides[-1, 0] = 0
    np.testing.assert_array_equal(np.tril(W, -1) < 0, hides > 0)
