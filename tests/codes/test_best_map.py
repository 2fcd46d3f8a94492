"""The map of the best known codes: hull, phases, and weights that have the promised loss."""

import attack_on_map
import numpy as np
import pytest
from sampled import sampled
from superposition import codes
from superposition.codes import best_map
from superposition.rug import meanfield, rugs


@pytest.mark.parametrize("seed", sampled(range(3)))
def test_weights_have_the_loss_at_random_places(seed):
    rng = np.random.default_rng([seed, 17])
    p, r = (float(np.exp(rng.uniform(*np.log(ends)))) for ends in ((1e-3, 0.3), (0.02, 0.98)))
    best, ns = codes.best_known(p, r), int(rng.integers(100, 400))
    code = codes.side_by_side(best.blocks(ns))
    assert code.W_in.shape[1] == ns and code.W_in.shape[0] <= r * ns
    loss, se = codes.measured_code_loss(*code, p, samples=4000, seed=seed)
    assert abs(loss - best.loss_of(ns)) < 4 * se < 0.4 * best.rug
    assert best.loss * (1 - 1e-9) <= best.loss_of(ns)


@pytest.mark.thorough
def test_the_loss_of_many_features_tends_to_the_hull():
    for p, r in ((0.05, 0.37), (0.01, 0.08), (0.1, 0.7), (0.002, 0.995)):
        best = codes.best_known(p, r)
        excess = [best.loss_of(ns) / best.loss - 1 for ns in (100, 1000, 20_000)]
        # Where all blocks are whole the two are one number but for a dozen roundings, and one of r is worth
        # eps / (1 - r) of a loss that goes with 1 - r. A feature at a wrong place would show at 1/20000.
        rounded = 16 * np.finfo(float).eps / (1 - r)
        assert rounded < 1e-12 and -rounded <= excess[2] < 0.01 and excess[2] <= excess[0] + rounded


def test_leftover_features_go_into_the_fans():
    best = codes.best_known(0.01, 0.2)
    sizes = [len(block.b) for block in best.blocks(53)]  # five planes for 53 features: none dropped
    assert sorted(sizes) == [10, 10, 11, 11, 11]
    assert best.loss_of(50) == pytest.approx(best.loss) and best.loss_of(53) < 1.2 * best.loss


@pytest.mark.parametrize("r", [0.2, 0.3])
def test_one_dimension_is_enough(r):
    best, least = codes.best_known(0.01, r), int(np.ceil(1 / r))
    assert sum(len(block.b) for block in best.blocks(least)) == least
    with pytest.raises(ValueError, match=f"ns = {least - 1} has no whole dimension at r = {r}; allowed: from {least}"):
        best.blocks(least - 1)


@pytest.mark.parametrize("antipodal", sampled([False, True]))
def test_rugs_as_blocks(antipodal):
    p, r = 0.05, 0.3
    curve = codes.antipodal_optimum if antipodal else meanfield.optimum
    share = best_map.Share("antipodal" if antipodal else "rug", 0, r, float(curve(p, r).loss), 1.0)
    (block,) = codes.Best(p, r, share.loss, share.loss, 0.0, (share,)).blocks(512)
    found = codes.simulated_code_loss(block.W, block.b, p, samples=20_000, seed=1)
    rug = rugs.Rug(512, block.W_in.shape[0], antipodal=antipodal)
    best = curve(p, rug.nd / 512)
    effective = float(best.b) - antipodal * float(best.a) * p / 2
    same = rugs.simulated_loss(rug, float(best.a), effective, p, samples=20_000, seed=1)  # the same feature vectors
    assert found.mean == pytest.approx(same.mean, rel=1e-9)
    assert rug.nd <= r * 512 and found.mean < 1.1 * share.loss


@pytest.mark.parametrize("p", sampled([1e-4, 0.3]))
def test_the_hull_is_below_every_code(p):
    r = np.array([0.005, 0.05, 0.3, 0.7])
    losses = np.array([codes.best_known(p, at).loss for at in r])
    assert np.all(losses <= meanfield.optimum(p, r).loss * (1 + 1e-12))
    assert np.all(losses[:3] <= codes.antipodal_optimum(p, r[:3]).loss * (1 + 1e-12))
    slopes = np.diff(losses) / np.diff(r)
    assert np.all(slopes < 0) and np.all(np.diff(slopes) > 0)
    assert codes.best_known(0.05, 0.1).loss == pytest.approx(codes.chain_loss(0.05, 20))


def test_larger_fans_and_other_codes():
    few, many = (codes.best_known(1e-4, 1e-3, largest_fan=size).loss for size in (126, 4000))
    assert many < few and many == pytest.approx(codes.fan_loss(1e-4, 2000), rel=1e-2)
    better = codes.best_known(0.05, 0.3, also=[("tile", 0.3, 1e-5)])
    assert better.phase == "tile" and better.loss == pytest.approx(1e-5)
    with pytest.raises(ValueError, match="tile came without weights"):
        better.blocks(100)


def test_rugs_have_the_size_that_is_asked_for_and_antipodal_ones_a_multiple_of_four():
    shapes = [codes.rug_code(size, 0.5, 0.05, antipodal=size > 2).W_in.shape for size in (2, 4, 6, 8)]
    assert shapes == [(1, 2), (2, 4), (2, 4), (4, 8)] and codes.rug_code(6, 0.5, 0.05).W_in.shape == (3, 6)


@pytest.mark.parametrize("antipodal", [False, True])
def test_a_rug_code_does_not_hang_on_what_is_rounded_away(antipodal, monkeypatch):
    W_in, noise = codes.rug_code(64, 0.3, 0.05, antipodal=antipodal).W_in, np.random.default_rng(0)

    def rounded(exact):
        return lambda *at: exact(*at) * (1 + 1e-15 * noise.standard_normal(64))

    for name in ("apply", "dense"):
        monkeypatch.setattr(rugs.Rug, name, rounded(getattr(rugs.Rug, name)))
    np.testing.assert_allclose(codes.rug_code(64, 0.3, 0.05, antipodal=antipodal).W_in, W_in, atol=1e-12)


def test_names_along_the_hull_are_those_at_each_ratio():
    r = [1e-4, 0.2, 0.9999]  # both ends: below the smallest code, above the largest
    _, names = codes.best_along(0.05, r)
    for at, name in zip(r, names, strict=True):
        assert name == " + ".join(sorted({part.phase for part in codes.best_known(0.05, at).parts}))


def test_refusals():
    with pytest.raises(ValueError, match="ns = 3 has no whole dimension"):
        codes.best_known(0.05, 0.2).blocks(3)
    with pytest.raises(ValueError, match="r = 0 is"):
        codes.best_known(0.05, 0)
    with pytest.raises(ValueError, match=r"also = \[3\] are no codes; allowed: tuples"):
        codes.best_known(0.05, 0.2, also=3)


@pytest.mark.thorough
def test_descent_on_all_weights_from_the_maps_own_code_passes_less_than_a_third_of_a_per_cent_below_it():
    """The smallest case of the attack on the map, six features in a plane at p = 1/4, in exact integrals."""
    rng, drawn, known = np.random.default_rng(0), attack_on_map.vectors(6, 0.25, 4800, 1), codes.best_known(0.25, 1 / 3)
    found = attack_on_map.descended(attack_on_map.start(0, 2, 6, 0.25, rng), *drawn, 0.25)
    # 0.3 per cent is what the map promises; the upper end, set after looking, says that the descent has arrived.
    assert 0.997 < codes.code_loss(found.W, found.b, 0.25) / known.loss < 1.002
