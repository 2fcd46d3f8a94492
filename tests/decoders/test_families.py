"""Parents and children: when children are on, how latents lean, and the best autoencoder of one pair."""

import numpy as np
import pytest
from sampled import sampled
from superposition import decoders
from superposition.decoders import families


def test_a_child_is_on_only_with_its_parent_and_as_often_as_it_was_asked_for():
    truth = decoders.dictionary_of_families(40, 12, p=0.06, children=0.4)
    assert truth.p.mean() == pytest.approx(0.06) and np.allclose(truth.p[20:], 0.4 * truth.p[:20])
    x, h = truth.activations(40_000, seed=0)
    on = x > 0
    assert not np.any(on[:, 20:] & ~on[:, :20])
    assert np.all(np.abs(on.mean(axis=0) - truth.p) < 5 * np.sqrt(truth.p / len(x)))
    np.testing.assert_allclose(h, x @ truth.directions.T)
    assert abs(np.corrcoef(x[on[:, 20], 0], x[on[:, 20], 20])[0, 1]) < 0.2  # strengths are independent
    other = decoders.unrelated_dictionary(truth)
    alone = other.activations(40_000, seed=0)[0] > 0
    assert np.any(alone[:, 20:] & ~alone[:, :20])
    assert np.all(np.abs(alone.mean(axis=0) - truth.p) < 5 * np.sqrt(truth.p / len(x)))
    assert len({truth.fingerprint, other.fingerprint, decoders.dictionary(40, 12, p=0.06).fingerprint}) == 3


def test_batches_and_noise_have_families_too():
    truth = decoders.dictionary_of_families(8, 8, p=0.3, children=1, noise=0.5, seed=1)
    stream = truth.batches(2000, seed=0)
    h = np.concatenate([next(stream) for _ in range(3)])
    x, own = truth.activations(6000, seed=3)
    assert h.dtype == np.float32 and abs(h.std() - own.std()) < 0.02
    assert (own - x @ truth.directions.T).std() == pytest.approx(0.5, rel=0.02)
    np.testing.assert_array_equal(x[:, :4] > 0, x[:, 4:] > 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ns": 7}, "ns = 7 is odd; allowed: even numbers"),
        ({"ns": 8, "p": 0.8}, "p = 0.8 with children = 0.5 gives parents 1.06"),
    ],
)
def test_no_such_families(arguments, message):
    with pytest.raises(ValueError, match=message):
        decoders.dictionary_of_families(nd=4, children=0.5, **arguments)


def test_functions_of_independent_features_refuse_families(tmp_path):
    truth = decoders.dictionary_of_families(8, 4, children=0.5)
    with pytest.raises(ValueError, match="allowed: independent features"):
        decoders.ceilings(truth)
    for written in (truth.to_saelens, truth.save):
        with pytest.raises(ValueError, match="would lose who is whose child"):
            written(tmp_path / "truth.npz")


def test_leans_are_those_of_the_directions():
    truth = decoders.dictionary_of_families(16, 6, p=0.1, children=0.5, seed=1)  # with overlaps between all of them
    parents, children = truth.directions[:, :8], truth.directions[:, 8:]
    one, two = np.radians(20), np.radians(40)
    written = np.c_[
        parents * np.cos(one) + children * np.sin(one), children * np.cos(two) + parents * np.sin(two)
    ] / np.linspace(1, 2, 16)
    x, _ = truth.activations(500, seed=0)
    codes = x.copy()
    codes[:, :8] *= x[:, 8:] == 0  # latents of parents that are silent beside their children
    order = np.random.default_rng(0).permutation(16)
    lean = decoders.leaning(truth, x, codes[:, order], written[:, order])
    np.testing.assert_allclose(lean.to_child, 20)
    np.testing.assert_allclose(lean.to_parent, 40)
    assert (lean.alone, lean.together) == (1, 0)
    narrow = decoders.leaning(truth, x, codes[:, :3], written[:, :3])
    assert np.isfinite(narrow.to_child).sum() == 3 and np.isnan(narrow.to_parent).all() and narrow.alone == 1


@pytest.mark.parametrize("children", [0.1, 0.5, 0.9])
def test_one_latent_of_a_pair_is_the_leading_direction(children):
    found = decoders.best_pair(0.05, children, 1e-3, 1)
    moments = np.array([[1 / 3, children / 4], [children / 4, children / 3]])
    leading = np.linalg.eigh(moments)[1][:, -1]
    assert found.degrees[0] == pytest.approx(np.degrees(np.arctan(leading[1] / leading[0])), abs=0.1)


@pytest.mark.parametrize("children", [0.25, 0.75])
def test_two_latents_lean_by_the_root_of_the_price(children):
    for price in (1e-3, 1e-2):  # the next order is 1.6 roots of the price (observed)
        parent, child = decoders.best_pair(0.05, children, price, 2).degrees
        assert 0 < 1 - (90 - child) / decoders.absorbed_angle(price) < 2 * price**0.5
        assert abs(parent) < (90 - child) / 4


@pytest.mark.parametrize(
    ("parent", "children", "price"),
    sampled([(1e-4, 0.5, 1e-3), (1e-4, 0.05, 1e-5), (0.05, 0.5, 1e-5), (1e-3, 0.75, 1e-4)]),
)
def test_two_latents_lean_as_much_for_rare_parents_and_at_small_prices(parent, children, price):
    _, child = decoders.best_pair(parent, children, price, 2).degrees
    expected = decoders.absorbed_angle(price) * (1 - 1.6 * price**0.5)
    assert 90 - child == pytest.approx(expected, abs=0.02)  # by the quadrature's error


@pytest.mark.parametrize("latents", sampled([1, 2]))
def test_descents_from_other_starts_end_nowhere_lower(latents):
    """From directions, readers, thresholds and a bias of their own."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(46)
    for _ in range(3):
        parent, price = np.exp(rng.uniform(*np.log((1e-2, 0.9)))), np.exp(rng.uniform(*np.log((3e-3, 0.5))))
        children = rng.uniform(0.05, 1)
        h, weight = families._nodes(parent, children, True)
        best, found = decoders.best_pair(parent, children, price, latents).loss, []
        for _ in range(16):
            angle = rng.uniform(-np.pi / 4, 3 * np.pi / 4, latents)
            encoder = np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, 0.3, (latents, 2))
            start = np.concatenate([angle, encoder.ravel(), rng.uniform(-0.3, 0.1, latents), rng.normal(0, 0.05, 2)])
            end = minimize(families._pair_loss, start, (h, weight, price), jac=True, method="BFGS")
            found.append(end.fun * parent)
        assert best < min(found) * (1 + 1e-5) and min(found) < best * (1 + 1e-3)


def test_latents_of_independent_features_do_not_lean():
    for latents, expected in ((1, [0]), (2, [0, 90])):
        found = decoders.best_pair(0.05, 0.5, 0.1, latents, related=False)
        np.testing.assert_allclose(found.degrees, expected, atol=1e-3)
        assert found.alone == found.together


def test_the_pair_s_loss_is_that_of_samples():
    loss_of, (h, weight) = families._pair_loss, families._nodes(0.1, 0.5, True)
    flat = np.random.default_rng(0).normal(0.3, 0.3, 10)
    by_nodes, slopes = loss_of(flat, h, weight, 0.05)
    truth = decoders.Families("orthogonal", np.eye(2), np.array([0.1, 0.05]))
    drawn = truth.activations(400_000, seed=0)[1]
    each = [loss_of(flat, part, np.full(len(part), 10 / len(part)), 0.05)[0] for part in np.split(drawn, 40)]
    assert abs(by_nodes - np.mean(each)) < 4 * np.std(each) / np.sqrt(40)
    for step, slope in zip(np.eye(10) * 1e-6, slopes, strict=True):
        ahead, behind = (loss_of(flat + way * step, h, weight, 0.05)[0] for way in (1, -1))
        assert slope == pytest.approx((ahead - behind) / 2e-6, abs=1e-5, rel=1e-3)


@pytest.mark.thorough
@pytest.mark.parametrize(("steps", "lr"), sampled([(800, 0.01), (4000, 0.003)]))
def test_training_along_the_sphere_ends_where_the_pair_s_loss_is_least(steps, lr):
    pytest.importorskip("torch")
    truth = decoders.Families("orthogonal", np.eye(2), np.array([0.3, 0.15]))
    best = decoders.best_pair(0.3, 0.5, 0.1, 2).degrees
    angles = {}
    for tangent in (True, False):
        [sae] = decoders.train_saes(truth, [0.1], steps=steps, lr=lr, tangent=tangent, seed=0)
        angles[tangent] = np.sort(np.degrees(np.arctan2(sae.W_dec[1], sae.W_dec[0])))
    assert np.abs(angles[True] - best).max() < 0.5 < np.abs(angles[False] - best).max()


def test_parents_that_are_nearly_always_on_need_a_smaller_price():
    formula = decoders.absorbed_angle([1e-3, 1e-4])
    angles = [90 - decoders.best_pair(0.99, 0.01, price, latents=2).degrees[1] for price in (1e-3, 1e-4)]
    often, rare = angles / formula
    assert often < 0.25 < 0.4 < rare < 0.6
    assert (90 - decoders.best_pair(0.9, 0.5, 1e-4, latents=2).degrees[1]) / formula[1] > 0.9
