"""The ground truth for sparse autoencoders: overlaps, frequencies, scores of codes with known scores, FISTA."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from sampled import sampled
from superposition import decoders, features
from superposition.decoders import dictionaries
from superposition.rug import meanfield, rugs

SAE_LENS = Path(__file__).parent / "sae_lens"
NAMES = {"mcc": "mcc", "precision": "precision", "recall": "recall", "f1": "f1_score", "l0": "sae_l0",
         "true_l0": "true_l0", "shrinkage": "shrinkage", "explained": "explained_variance"}  # fmt: skip
spec = importlib.util.spec_from_file_location("cases", SAE_LENS / "cases.py")
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)


@pytest.mark.parametrize(("ns", "nd", "kind"), [(64, 24, "rug"), (48, 20, "rug"), (64, 24, "antipodal")])
def test_rugs_have_the_least_interference_for_each_feature(ns, nd, kind):
    truth = decoders.dictionary(ns, nd, kind, seed=3)
    assert truth.directions.shape == (nd, ns)
    np.testing.assert_allclose(np.linalg.norm(truth.directions, axis=0), 1, rtol=1e-9)
    np.testing.assert_allclose(truth.interference, 1 / truth.r - 1, rtol=1e-9)
    np.testing.assert_allclose(truth.directions @ truth.directions.T, np.eye(nd) * ns / nd, atol=1e-9)


@pytest.mark.parametrize("kind", ["rug", "antipodal"])
def test_directions_do_not_depend_on_rounding_errors(kind, monkeypatch):
    directions, apply = decoders.dictionary(64, 24, kind, seed=1).directions, rugs.Rug.apply
    noise = np.random.default_rng(0)
    monkeypatch.setattr(rugs.Rug, "apply", lambda r, x: apply(r, x) + 1e-15 * noise.standard_normal(x.shape))
    np.testing.assert_allclose(decoders.dictionary(64, 24, kind, seed=1).directions, directions, atol=1e-12)


def test_every_antipodal_feature_has_an_opposite():
    G = decoders.dictionary(64, 24, "antipodal").directions
    np.testing.assert_allclose(G[:, :32], -G[:, 32:], atol=1e-9)


def test_cones_leave_each_other_alone():
    G = decoders.dictionary(12, 6, "cone").directions
    np.testing.assert_allclose((G.T @ G)[:6, 6:], 0)
    np.testing.assert_allclose((G.T @ G)[0, :6], (1 + np.cos(np.arange(6) * np.pi / 3)) / 2, atol=1e-12)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [((12, 4), "nd = 4 dimensions hold no equal cones"), ((9, 9), "nd = 9 dimensions hold no equal cones of 9")],
)
def test_no_such_cones(sizes, message):
    with pytest.raises(ValueError, match=message):
        decoders.dictionary(*sizes, "cone")


def test_frequencies_follow_the_power_law_and_keep_their_mean():
    truth = decoders.dictionary(100, 10, p=0.02, exponent=1)
    np.testing.assert_allclose(truth.p[0] / truth.p, np.arange(1, 101))
    assert truth.p.mean() == pytest.approx(0.02)
    x, h = truth.activations(40000, seed=0)
    seen = np.mean(x > 0, axis=0)
    assert np.all(np.abs(seen - truth.p) < 5 * np.sqrt(truth.p / 40000))
    np.testing.assert_allclose(h, x @ truth.directions.T)
    with pytest.raises(ValueError, match="p = 0.05 with exponent = 2 gives p_1 = 3.05"):
        decoders.dictionary(100, 10, exponent=2)


def test_noise_of_batches_has_its_size():
    loud, quiet = (decoders.dictionary(40, 20, p=0.05, noise=noise) for noise in (0.3, 0.0))
    added = next(loud.batches(500, seed=2)) - next(quiet.batches(500, seed=2))
    assert added.std() == pytest.approx(0.3, rel=0.05) and abs(added.mean()) < 0.02


def test_batches_are_the_activations_of_their_features():
    truth = decoders.dictionary(12, 5, p=0.3, seed=1)
    flat, values = features.nonzeros_each(truth.p, 20, seed=np.random.default_rng(4))
    x = np.zeros((20, 12))
    x.flat[flat] = values
    np.testing.assert_allclose(next(truth.batches(20, seed=4)), x @ truth.directions.T, atol=1e-6)


def test_scores_of_codes_with_known_scores():
    truth = decoders.dictionary(32, 12, p=0.1, seed=1)
    x, h = truth.activations(3000, seed=2)
    perfect = decoders.scores(truth, x, x)
    assert (perfect.mcc, perfect.recovered, perfect.precision, perfect.recall, perfect.f1) == (1, 1, 1, 1, 1)
    assert perfect.l0 == perfect.true_l0 and perfect.loss == 0 and perfect.explained == 1 and perfect.dead == 0
    order = np.random.default_rng(0).permutation(32)
    longer = decoders.scores(truth, x, 0.25 * x[:, order], 2 * truth.directions[:, order])  # half of each, written long
    np.testing.assert_array_equal(order[longer.latent], np.arange(32))
    assert longer.slope == pytest.approx(0.5) and longer.shrinkage == pytest.approx(0.5) and longer.recall == 1
    assert longer.loss == pytest.approx(np.mean(x**2) / 4)
    half = x.copy()
    half[:, :16] = 0
    dead = decoders.scores(truth, x, half)
    assert dead.dead == 16 and dead.precision == 0.5 and dead.recall == 0.5  # means over latents, dead ones too
    assert dead.matched_precision == 1
    assert dead.matched_recall == pytest.approx((x > 0)[:, 16:].sum() / (x > 0).sum())
    np.testing.assert_array_equal(dead.recalls, [0] * 16 + [1] * 16)


def test_false_activity_costs_precision_and_a_threshold_takes_it_back():
    truth = decoders.dictionary(32, 12, p=0.1, seed=1)
    x, _ = truth.activations(1000, seed=2)
    noisy = np.where(x > 0, x, 0.01)
    assert decoders.scores(truth, x, noisy).matched_precision == pytest.approx(np.mean(x > 0))
    assert decoders.scores(truth, x, noisy, threshold=0.011).matched_precision == 1


def test_rounding_is_no_activity():
    truth = decoders.dictionary(32, 16, "antipodal", p=0.1)
    x, h = truth.activations(2000, seed=0)
    codes = np.maximum(h @ truth.directions, 0)  # of a feature that is off, whose opposite is on
    found = decoders.scores(truth, x, codes)
    assert np.any((codes > 0) & (x == 0)) and found.matched_precision == 1
    assert decoders.scores(truth, x, codes, threshold=0).matched_precision < 1


def test_scores_under_the_names_of_sae_lens_are_its_own():
    stored = json.loads((SAE_LENS / "scores.json").read_text())
    assert stored["by"] == "sae-lens 6.54.12" and set(stored["scores"]) == set(cases.CASES)
    for name, theirs in stored["scores"].items():
        directions, x, sae = cases.case(name)
        truth = decoders.Dictionary("given", directions, np.full(64, 0.05))
        h = x @ directions.T
        codes = np.maximum((h - sae["b_dec"]) @ sae["W_enc"] + sae["b_enc"], 0)
        ours = decoders.scores(truth, x, codes, sae["W_dec"].T, offset=sae["b_dec"], threshold=0)
        theirs |= theirs.pop("classification")
        assert (ours.dead, ours.uniqueness) == (theirs["dead_latents"], pytest.approx(theirs["uniqueness"], rel=1e-12))
        for own, name in NAMES.items():
            assert getattr(ours, own) == pytest.approx(theirs[name], rel=1e-6), name
        default = decoders.scores(truth, x, codes, sae["W_dec"].T, offset=sae["b_dec"])
        assert default.f1 == pytest.approx(
            ours.f1, rel=1e-3
        )  # the threshold of rounding makes almost no difference here


def test_fewer_latents_than_features_leave_some_without_one():
    truth = decoders.dictionary(8, 4, p=0.2)
    x, _ = truth.activations(500, seed=0)
    found = decoders.scores(truth, x, x[:, 2:5], truth.directions[:, 2:5])
    np.testing.assert_array_equal(found.latent, [-1, -1, 0, 1, 2, -1, -1, -1])
    assert found.mean_cosine == pytest.approx(3 / 8) and found.recovered == 3 / 8
    assert (found.mcc, found.uniqueness, found.precision, found.recall) == (1, 1, 1, 1)


def test_the_matching_is_one_to_one():
    truth = decoders.dictionary(8, 4, p=0.2)
    x, _ = truth.activations(50, seed=0)
    copies = np.repeat(truth.directions[:, :1], 8, axis=1)
    found = decoders.scores(truth, x, np.zeros((50, 8)), copies)
    assert sorted(found.latent) == list(range(8)) and found.recovered == 1 / 8 and found.dead == 8
    assert found.uniqueness == 1 / 8


def test_fista_meets_the_conditions_of_the_least():
    truth = decoders.dictionary(24, 12, p=0.1, seed=4)
    _, h = truth.activations(20, seed=5)
    c = decoders.nonnegative_lasso(h, truth.directions, 0.05, iterations=3000)
    slope = (c @ truth.directions.T - h) @ truth.directions + 0.05
    assert slope.min() > -1e-6 and np.abs(slope[c > 0]).max() < 1e-6
    short = decoders.nonnegative_lasso(h, truth.directions, 0.05, iterations=5)
    worth = [np.sum((h - one @ truth.directions.T) ** 2) / 2 + 0.05 * one.sum() for one in (c, short)]
    assert worth[0] < worth[1]


def test_an_encoder_along_a_rug_is_the_text_s_model():
    truth = decoders.dictionary(256, 96, p=0.05, seed=0)
    x, h = truth.activations(2000, seed=1)
    best = meanfield.optimum(0.05, 96 / 256)
    mean = 0.025 * (rugs.Rug(256, 96, seed=0).row().sum() - 1)
    codes = np.maximum(best.a * (h @ truth.directions - mean) + best.b, 0)
    errors = np.mean((codes - x) ** 2, axis=1)
    exact = rugs.row_loss(rugs.Rug(256, 96, seed=0).row()[1:], float(best.a), float(best.b), 0.05)
    assert abs(errors.mean() - exact) < 4 * errors.std() / np.sqrt(2000)
    assert decoders.scores(truth, x, codes).loss == pytest.approx(errors.mean())


def test_training_finds_directions_and_the_price_decides():
    pytest.importorskip("torch")
    truth = decoders.dictionary(16, 8, p=0.1, seed=0)
    calls = []
    prices, watch = [0.001, 0.1], lambda *at: calls.append(at)
    cheap, dear = decoders.train_saes(truth, prices, steps=600, seed=1, progress=watch)
    x, h = truth.activations(1000, seed=2)
    low, high = (decoders.scores(truth, x, one.encode(h), one.W_dec, offset=one.b_dec) for one in (cheap, dear))
    assert low.explained > high.explained > 0.5 and high.recovered > low.recovered
    assert high.l0 < low.l0 and calls == [(done, 600) for done in range(6, 601, 6)]
    uneven = []
    decoders.train_saes(truth, [0.1], steps=205, progress=lambda *at: uneven.append(at))
    assert uneven[:2] == [(2, 205), (4, 205)] and uneven[-2:] == [(204, 205), (205, 205)]


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "price"), sampled([("topk", 2), ("jumprelu", 0.03)]))
def test_other_kinds_find_directions_too_with_the_codes_of_sae_lens(kind, price):
    pytest.importorskip("torch")
    from superposition.diagnosis import reading

    truth = decoders.dictionary(32, 16, p=0.06, seed=0)
    [sae] = decoders.train_saes(truth, [price], kind=kind, steps=1000, seed=1)
    x, h = truth.activations(2000, seed=2)
    codes = sae.encode(h)
    found = decoders.scores(truth, x, codes, sae.W_dec, offset=sae.b_dec)
    untrained = np.random.default_rng(0).standard_normal((16, 32))
    assert found.mcc > 0.2 + decoders.scores(truth, x, codes, untrained).mcc
    assert found.explained > 0.6 and 0.5 < found.l0 < 4
    if kind == "topk":
        assert np.all((codes > 0).sum(axis=1) <= 2)
    else:
        assert np.all(sae.threshold > 0) and np.all(
            codes[codes > 0] > np.broadcast_to(sae.threshold, codes.shape)[codes > 0]
        )
    given = {"W_enc": sae.W_enc.T, "b_enc": sae.b_enc, "W_dec": sae.W_dec.T, "b_dec": sae.b_dec}
    given |= {"k": 2} if kind == "topk" else {"threshold": sae.threshold}
    weights = reading.read(given, b_dec="taken")
    drive = (h - sae.b_dec) @ sae.W_enc.T + sae.b_enc
    np.testing.assert_allclose(np.where(drive > weights.bars(drive), drive, 0), codes)


def test_topk_has_one_whole_price():
    pytest.importorskip("torch")
    for prices in ([2, 3], [2.5], [16]):
        with pytest.raises(ValueError, match="allowed for topk: one whole number below 16"):
            decoders.train_saes(decoders.dictionary(16, 8), prices, kind="topk")


@pytest.mark.thorough
def test_the_largest_latents_of_a_batch_pass_and_their_threshold_is_kept():
    pytest.importorskip("torch")
    truth = decoders.dictionary(32, 16, p=0.06, seed=0)
    few, many = decoders.train_batch_topk(truth, [1.9, 3.8], steps=800, seed=1)
    x, h = truth.activations(4000, seed=2)
    for sae, wanted in ((few, 1.9), (many, 3.8)):
        codes = sae.encode(h)
        found = decoders.scores(truth, x, codes, sae.W_dec, offset=sae.b_dec)
        assert found.l0 == pytest.approx(wanted, rel=0.1) and found.explained > 0.6
        assert np.ptp(sae.threshold) == 0 and codes[codes > 0].min() > sae.threshold[0] >= 0
        assert (codes > 0).sum(axis=1).std() > 0.5  # unlike TopK, as many as an activation needs
    assert few.threshold[0] > many.threshold[0]
    again, falling = (
        decoders.train_batch_topk(truth, [1.9], schedule=schedule, steps=40, seed=1)[0] for schedule in ((1, 1), (3, 1))
    )
    assert np.abs(again.W_dec - falling.W_dec).max() > 0.01


def test_kinds_are_named():
    with pytest.raises(ValueError, match="kind = 'carpet' is unknown; allowed: rug, antipodal, cone, random"):
        decoders.dictionary(8, 4, "carpet")
    assert set(dictionaries.KINDS) == {"rug", "antipodal", "cone", "random"}


class Rescaled:
    """A TopK autoencoder as SAELens has it: latents are chosen and given times the length of their direction."""

    def __init__(self, W_dec, k):
        self.W_dec, self.k, self.length = W_dec, k, W_dec.norm(dim=1)
        self.W_enc, self.b_dec = (W_dec / self.length[:, None]).T, 0.1 * torch.ones(W_dec.shape[1]).double()

    def encode(self, h):
        f = torch.relu((h - self.b_dec) @ self.W_enc) * self.length
        return f * (f >= f.topk(self.k, dim=1).values[:, -1:])

    def decode(self, f):
        return (f / self.length) @ self.W_dec + self.b_dec


def test_an_autoencoder_that_rescales_is_scored_by_its_own_decoder():
    truth = decoders.dictionary(32, 16, p=0.05, seed=1)
    x, h = truth.activations(500, seed=2)
    lengths = np.random.default_rng(0).uniform(0.4, 1.1, 32)
    theirs = Rescaled(torch.from_numpy((truth.directions * lengths).T.copy()), 5)
    found = decoders.scores(truth, x, sae=theirs)
    codes = theirs.encode(torch.from_numpy(h))
    rebuilt = theirs.decode(codes).numpy()
    own = 1 - np.sum((h - rebuilt) ** 2) / np.sum((h - h.mean(axis=0)) ** 2)
    assert found.explained == pytest.approx(own, rel=1e-9) and found.recovered == 1
    as_they_come = decoders.scores(truth, x, codes.numpy(), theirs.W_dec.numpy().T, offset=theirs.b_dec.numpy())
    assert abs(as_they_come.explained - own) > 0.02 and as_they_come.slope < found.slope


def test_an_autoencoder_of_ours_is_scored_as_by_hand():
    truth = decoders.dictionary(8, 4, p=0.2)
    x, h = truth.activations(100, seed=1)
    sae = decoders.sae_along(truth.directions, 1.1, -0.1, np.full(4, 0.1))
    by_hand = decoders.scores(truth, x, sae.encode(h), sae.W_dec, offset=sae.b_dec)
    found = decoders.scores(truth, x, sae=sae)
    assert (found.loss, found.explained, found.l0) == (by_hand.loss, by_hand.explained, by_hand.l0)
    for wrong in ({}, {"sae": sae, "codes": sae.encode(h)}, {"sae": sae, "offset": sae.b_dec}):
        with pytest.raises(ValueError, match="codes and sae are both there or both missing"):
            decoders.scores(truth, x, **wrong)


def test_a_falling_price_ends_where_a_constant_one_does_and_starts_elsewhere():
    truth = decoders.dictionary(8, 4, p=0.2)
    options = {"steps": 40, "seed": 3}
    constant, falling, same = (
        decoders.train_saes(truth, [0.05], schedule=schedule, **options)[0].W_dec
        for schedule in ((1, 1), (3, 0.6), (1, 0.3))
    )
    np.testing.assert_array_equal(constant, same)
    assert np.abs(constant - falling).max() > 0.01
    for wrong in (3, (3,), (-1, 0.5), (3, 0), (3, 1.5), ("a", "b")):
        with pytest.raises(ValueError, match="schedule"):
            decoders.train_saes(truth, [0.05], schedule=wrong, **options)


def test_the_number_of_latents_falls_with_its_schedule():
    truth = decoders.dictionary(16, 8, p=0.2)
    many, few = (
        decoders.train_saes(truth, [2], kind="topk", schedule=schedule, steps=30, seed=1)[0]
        for schedule in ((3, 1), (1, 1))
    )
    assert many.active == few.active == 2 and np.abs(many.W_dec - few.W_dec).max() > 0.01


@pytest.mark.parametrize("active", [1, 2, 5])
def test_as_many_latents_are_on_as_are_said_to_be_active(active):
    rng = np.random.default_rng(3)
    W, hidden = rng.normal(size=(300, 4)), rng.normal(size=(50, 4))
    sae = decoders.SparseAutoencoder(W, np.full(300, 99.0), W.T, np.zeros(4), active=active)
    found, drive = sae.encode(hidden), hidden @ W.T + 99
    assert np.all((found > 0).sum(axis=1) == active)
    np.testing.assert_array_equal(np.sort(found, axis=1)[:, -active:], np.sort(drive, axis=1)[:, -active:])


def test_an_autoencoder_with_a_decoder_of_its_own_has_the_directions_and_the_offset_of_that_decoder():
    truth = decoders.dictionary(6, 3, seed=1, p=0.3)
    x, h = truth.activations(200, seed=2)
    D, c = 3 * truth.directions.T[::-1], np.array([0.5, -1.0, 0.25])

    class Rescaling:
        W_dec = torch.ones(6, 3, dtype=torch.float64)  # not what it decodes with

        def encode(self, h):
            assert h.dtype == torch.float64 and not torch.is_grad_enabled()
            return h @ torch.tensor(D.T.copy()) / 9 + torch.arange(6)

        def decode(self, codes):
            return codes @ torch.tensor(D.copy()) + torch.tensor(c)

    found = decoders.scores(truth, x, sae=Rescaling())
    given = decoders.scores(truth, x, h @ D.T / 9 + np.arange(6), D.T, offset=c)
    for name, value in vars(given).items() if hasattr(given, "__dict__") else given._asdict().items():
        np.testing.assert_allclose(getattr(found, name), value, rtol=1e-9, atol=1e-12, err_msg=name)
