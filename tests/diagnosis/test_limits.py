"""Numbers that lie exactly on a limit of a diagnosis, and sizes that are exactly the largest."""

from types import SimpleNamespace as Found

import numpy as np
import pytest
from superposition import diagnosis
from superposition.diagnosis import (
    autoencoder,
    behaviour,
    company,
    dimensions,
    gains,
    measures,
    names,
    objects,
    record_verifier,
    report,
    survey,
    yardsticks,
)
from superposition.diagnosis.feature_laws import Population, uniform_law
from superposition.diagnosis.weights import Weights

P = 0.05
LAW = uniform_law(P)
SMALL = np.random.default_rng(7).standard_normal((3, 6)) / 1.7
ZERO = np.zeros(6)


def diagnosed(**more):
    """Under a law, as the best known codes of the text's take seconds."""
    return diagnosis.diagnose(**{"W": SMALL, "b": ZERO, "law": LAW, "samples": 100} | more)


def kind(diagonal=1.0, b=0.0, noise=0.0, answers=1.0, restless=0.0, samples=100, vectors=None, chance=0.5):
    """The kind of the second of two features, the first of which has a gain of one."""
    rows = Found(diagonal=np.array([1.0, diagonal]), b_eff=np.array([0.0, b]))
    seen = Found(answers=np.array([1.0, answers]), restless=np.array([0.0, restless]))
    population = Found(largest=1.0, vectors=vectors, chance=chance)
    return autoencoder._kinds(Found(rows=rows, noise=np.array([0.0, noise])), seen, population, samples)[1]


@pytest.mark.parametrize(
    ("about", "name"),
    [
        ({}, "heard"), ({"diagonal": 0.1}, "dropped"), ({"diagonal": 0.11}, "heard"),
        ({"b": -1.0, "samples": 99}, "dead"), ({"b": -1.0}, "heard"), ({"b": -0.99, "samples": 99}, "heard"),
        ({"b": -3.0, "noise": 0.25, "samples": 99}, "dead"), ({"b": -2.99, "noise": 0.25, "samples": 99}, "heard"),
        ({"diagonal": -5.0, "samples": 99}, "dead"), ({"diagonal": -5.0, "b": 1.0, "samples": 99}, "dropped"),
        ({"answers": 0.01}, "heard"), ({"answers": 0.0}, "dead"), ({"answers": 0.0, "samples": 99}, "heard"),
        ({"answers": 0.0, "restless": 0.005}, "heard"), ({"answers": 0.0, "restless": 0.0049}, "dead"),
        ({"vectors": 1, "chance": np.array([0.5, 0.0])}, "absent"), ({"vectors": 1}, "heard"),
    ],
)  # fmt: skip
def test_kinds_of_features_at_their_limits(about, name):
    assert kind(**about) == name


def test_exact_losses_are_of_up_to_twelve_features():
    for ns, known in ((12, True), (13, False)):
        weights = Weights(np.zeros(ns), W=np.eye(ns))
        population = Population.of(P, None, None, ns)
        assert (autoencoder._exact(weights, population, None, True) is not None) is known


@pytest.mark.parametrize(("most", "named"), [(6, True), (5, False)])
def test_as_many_features_as_all_pairs_are_looked_at_of(monkeypatch, most, named):
    monkeypatch.setattr(names, "NAMED", most)
    assert (diagnosed(W=np.eye(6) - 0.1).relative is not None) is named
    calls = []
    monkeypatch.setattr(record_verifier, "rank_of", lambda W: calls.append(1) or 3)
    assert dimensions.of(Weights(ZERO, W=SMALL.T @ SMALL), None) == (3, 3) and bool(calls) is named
    monkeypatch.setattr(dimensions.ablations, "loudness", lambda W: calls.append(2) or np.ones(6))
    W = np.eye(6, dtype=np.float32)
    assert dimensions.of(Weights(ZERO, W=W, single=True), None) == (6, 6) and (2 in calls) is named
    assert dimensions.of(Weights(ZERO, W=W * (np.arange(6) > 0), single=True), None)[0] == 5 and calls.count(2) <= 1


@pytest.mark.parametrize(("most", "known"), [(6, True), (5, False)])
def test_as_many_features_as_eigenvalues_are_worked_out_of(monkeypatch, most, known):
    monkeypatch.setattr(dimensions, "WHOLE", most)
    found = dimensions.spread(Weights(ZERO, W=SMALL.T @ SMALL + np.eye(6)), np.ones(6, dtype=bool), None, np.ones(6))
    assert np.isfinite(found) == known
    monkeypatch.setattr(yardsticks, "WHOLE", most)
    together = np.repeat(np.random.default_rng(0).random((50, 1)), 6, axis=1)
    assert (yardsticks.linear(Population.of_vectors(together), None, 1) < 1e-12) is known


@pytest.mark.parametrize(("pairs", "known"), [(6, True), (5, False)])
def test_as_many_features_as_all_pairs_are_tried_of(monkeypatch, pairs, known):
    monkeypatch.setattr(behaviour, "PAIRS", pairs)
    options = {"encode": lambda x: x @ SMALL.T, "decode": lambda h: np.tanh(np.maximum(h @ SMALL, 0)), "ns": 6}
    if known:
        found = diagnosis.diagnose(law=LAW, samples=100, **options)
        assert not found.stands and found.nd == 3
    else:
        with pytest.raises(ValueError, match="ns = 6 of a forward pass that no .* allowed: up to 5 features"):
            diagnosis.diagnose(law=LAW, samples=100, **options)


@pytest.mark.parametrize(("fitted", "ways"), [(6 * 27, 2), (6 * 27 - 1, 1)])
def test_a_second_step_is_fitted_where_that_takes_as_many_products_as_allowed(monkeypatch, fitted, ways):
    monkeypatch.setattr(behaviour, "FITTED", fitted)
    model = Found(arrays=(), eps=1e-15)
    rows = list(behaviour._rows(model, SMALL, lambda h: np.maximum(h @ SMALL, 0), np.ones((4, 3))))
    assert len(rows) == ways
    np.testing.assert_allclose(rows[-1], SMALL.T, atol=1e-10)


@pytest.mark.parametrize(("ns", "single"), [(6, False), (5, True)])
def test_products_of_single_precision_are_for_many_features(monkeypatch, ns, single):
    monkeypatch.setattr(measures, "ALL", 6)
    weights = measures._fast(Weights(np.zeros(ns), W=np.eye(ns), single=True))
    assert (weights.b.dtype == np.float64) is single and weights.W.dtype == weights.b.dtype
    assert measures._fast(Weights(np.zeros(9), W=np.eye(9))).b.dtype == np.float64


def test_closed_paths_are_those_of_as_many_features_as_are_looked_at(monkeypatch):
    ring = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)
    ring[0, 2] = ring[2, 0] = 1
    whole = measures.clustering(measures.sparse.csr_array(ring))
    monkeypatch.setattr(measures, "LOOKED_AT", 6)
    monkeypatch.setattr(measures.np.random, "default_rng", lambda seed: pytest.fail("it draws"))
    assert measures.clustering(measures.sparse.csr_array(ring)) == whole
    assert whole == (1, pytest.approx(6 / 20))
    assert measures.clustering(measures.sparse.csr_array(np.eye(4)[::-1])) == (1, 0)


@pytest.mark.parametrize(("on", "asked"), [(19, 1.0), (20, 0.0)])
def test_a_feature_that_is_on_in_few_vectors_answers_by_its_gain(on, asked):
    x = np.zeros((100, 2))
    x[:, 0], x[:on, 1] = 1, 1
    weights = Weights(np.array([0.0, -2.0]), W=np.eye(2))
    rows = measures.measured(weights, x.mean(axis=0), x.var(axis=0), lambda more: None)
    seen = measures.simulated(weights, Population.of_vectors(x), rows, 100, 0, lambda more: None)
    assert seen.answers.tolist() == [1.0, asked]


def test_shares_are_of_the_vectors_in_which_a_feature_is_off_or_on_even_if_that_is_one():
    x = np.zeros((100, 3))
    x[1:, 0], x[5, 1], x[:, 2] = 1, 1, 1
    weights = Weights(np.array([1.0, 0, 0]), W=np.array([[1, 0, 0], [0.5, 1, 0], [0, 0, 1]]))
    rows = measures.measured(weights, x.mean(axis=0), x.var(axis=0), lambda more: None)
    seen = measures.simulated(weights, Population.of_vectors(x), rows, 100, 0, lambda more: None)
    assert seen.restless.tolist() == [1, 98 / 99, 0] and seen.pushed.tolist() == [0, 0.5, 0]


@pytest.mark.parametrize(("k", "ways"), [(None, 1), (5, 2), (6, 1)])
def test_a_gate_that_lets_everything_pass_is_none(k, ways):
    steps = (lambda x: x @ SMALL.T, lambda h: np.maximum(h @ SMALL, 0))
    model = objects.Model(lambda x: steps[1](steps[0](x)), 6, 3, steps, (), k, None, False, 1e-16, ())
    assert len(next(behaviour._of_steps(model, np.ones((4, 6)), 1.0))) == ways


def test_partners_are_below_a_quarter_of_the_gain():
    W = np.array([[1, -0.25, -0.26], [0, 1, 0], [-9.0, 0, -1]])
    found = measures.measured(Weights(np.zeros(3), W=W), np.zeros(3), np.ones(3), lambda more: None)
    assert found.partners.toarray().tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert diagnosis.code_structure(np.array([[1, -0.25], [-0.25, 1]]))["partners"] == 0
    assert diagnosis.code_structure(np.diag([10.0, 1.0, 1.0]))["positive"] == 1


def test_a_column_counts_where_its_gain_is_above_a_tenth_of_the_largest():
    W = np.array([[1.0, 0, 0.5], [0.5, 0.1, 0], [0, 0.5, 0.11]])
    found = measures.measured(Weights(np.zeros(3), W=W), np.zeros(3), np.ones(3), lambda more: None)
    np.testing.assert_allclose(found.columns, [0, 0.25 / 0.11**2, 0.25])


def test_a_largest_weight_is_taken_and_a_larger_one_refused():
    for size in (1e30, -1e30):
        W = np.array([[1.0, size], [0, 1]])
        assert measures.measured(Weights(np.zeros(2), W=W), np.zeros(2), np.ones(2), lambda more: None).noise[0] > 1
    with pytest.raises(ValueError, match=r"W_out W_in = 1.1e\+30 is out of range; allowed: \[-1e\+30, 1e\+30\]"):
        measures.measured(Weights(np.zeros(2), W=W * 1.1 * [1, -1]), np.zeros(2), np.ones(2), lambda more: None)


def test_vectors_of_mean_zero_have_no_unit():
    x = np.tile([[1.0, -1.0]], (100, 3))
    with pytest.raises(ValueError, match="features have mean 0 while they are on; allowed: above 0, or a strength"):
        diagnosed(law=None, features=x)


def test_a_hundred_vectors_are_enough():
    assert len(company.vectors("x", np.ones((company.FEWEST, 2)))) == 100
    with pytest.raises(ValueError, match="allowed"):
        company.vectors("x", np.ones((company.FEWEST - 1, 2)))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([2.0, 2.0, 2.002], "2"), ([2.0, 2.0, 2.0021], "2, 2 to 2.002"), ([-2.0, -2.0, -1.9979], "-2, -2 to -1.998"),
        ([-0.0, -0.0], "0"), ([0.0, 0.5, 1.0], "0.5, 0 to 1"), ([1024.0, 1024.0, 1025.024], "1024"),
    ],
)  # fmt: skip
def test_a_range_is_said_where_it_is_wider_than_a_thousandth(values, said):
    assert report._range(np.array(values)) == said


def test_loudness_within_one_per_cent_is_equal():
    found = Found(weights=Found(told=(), otherwise=None))
    assert report._share(1.0, 0.0) == "more than the 0" and report._share(1.0, 3.0) == "0.3333" and found


@pytest.mark.parametrize(
    ("equal", "said"),
    [(1 + 1e-9, "equally loud features"), (1 + 2e-9, "its loudest feature 3 times as loud as its quietest; of equal")],
)
def test_a_best_code_is_loud_where_that_gains(equal, said):
    best = Found(phase="swept", equal=equal, loss=1.0, loudness=3.0)
    assert said in report._best(Found(best=best))
    assert report._best(Found(best=best)).startswith("1, swept (a fan that turns to both sides in turn), ")


def middling(**about):
    """A feature among equal ones, whose numbers are changed in one."""
    one = {"gain": 1.0, "b": 0.0, "noise": 1.0, "worth": 1.0, "varies": 1.0, "kind": "heard"} | about
    many = {
        name: np.array([value, *[1.0 if name != "b" else 0.0] * 4]) for name, value in one.items() if name != "kind"
    }
    rows = Found(diagonal=many["gain"], b_eff=many["b"])
    return Found(
        kind=np.array([one["kind"], *["heard"] * 4]), heard=np.ones(5, dtype=bool), rows=rows, ns=5,
        measured=Found(noise=many["noise"]), importance=many["worth"], population=Found(variance=many["varies"]),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({}, gains.COMMON), ({"kind": "dead"}, "its output is silent"),
        ({"kind": "absent"}, "its output is on though it never is"),
        ({"kind": "dropped"}, "it has no direction of its own"), ({"noise": 2.25}, gains.COMMON),
        ({"noise": 2.26}, "noise 1.5 times the median"), ({"noise": 4.0, "worth": 9.0}, "noise 2 times the median"),
        ({"worth": 1.5}, gains.COMMON), ({"worth": 1.51, "varies": 9}, "importance 1.5 times the median"),
        ({"varies": 1.5}, gains.COMMON), ({"varies": 1.6, "b": 9}, "varies 1.6 times the median"),
        ({"b": 0.5}, gains.COMMON), ({"b": 0.51}, "bias above the others"), ({"b": -0.51}, "bias below the others"),
        ({"b": -0.5, "gain": 1.23}, "gain 1.2 times the median"), ({"gain": 1.22}, gains.COMMON),
        ({"gain": 0.81}, "gain 0.81 times the median"), ({"gain": 0.82}, gains.COMMON),
    ],
)  # fmt: skip
def test_the_reason_for_a_loss_is_the_first_number_that_is_far_from_the_median(about, said):
    assert gains._reason(middling(**about), 0) == said


@pytest.mark.parametrize(("loss", "error", "known"), [(1.08, 0.01, False), (1.081, 0.01, True), (1.05, 0.0, False)])
def test_a_training_is_unfinished_beyond_a_twentieth_and_three_errors(loss, error, known):
    found = Found(finished=Found(loss=1.0, error=error), loss=loss if loss != 1.08 else (1 + 0.05 + 3 * 0.01) * 1.0)
    assert gains.unfinished(found) is known
    assert not gains.unfinished(Found(finished=None, loss=loss))


@pytest.mark.parametrize(("longest", "known"), [(5, False), (6, False), (7, True)])
def test_arrays_longer_than_the_vectors_are_of_a_sparse_autoencoder(longest, known):
    class Model:
        def __init__(self):
            self.W = np.zeros(longest)

        def forward(self, x):
            return np.maximum(x @ np.eye(6), 0)

        __call__ = forward

    model = Model()
    if known:
        with pytest.raises(ValueError, match="takes 6 numbers and has arrays of 7"):
            objects.of(model, None, None, 6, None)
    else:
        assert objects.of(model, None, None, 6, None).ns == 6


def test_as_many_files_as_a_survey_takes(monkeypatch, tmp_path):
    for name in "ab":
        np.savez(tmp_path / f"{name}.npz", W=np.eye(2), b=np.zeros(2))
    monkeypatch.setattr(survey, "MOST", 2)
    assert len(survey.files_in("folders", str(tmp_path))) == 2
    monkeypatch.setattr(survey, "MOST", 1)
    with pytest.raises(ValueError, match="hold 2 files of weights; allowed: 1 to 1"):
        survey.files_in("folders", str(tmp_path))


def test_twins_have_a_cosine_above_nine_tenths():
    angle = np.arccos([1.0, 0.9001, 0.5])
    D = np.array([np.cos(angle), np.sin(angle)])
    assert survey.twins(D[:, :2]) == 2 and survey.twins(D[:, 1:]) == 0
    assert survey.twins(np.array([[1.0, 0.9], [0.0, 0.19**0.5]])) == 0


def test_an_output_exactly_at_its_bar_does_not_pass():
    eye = {"W": np.eye(3), "b": np.zeros(3)}
    drive = np.array([[0.5, 0.6, -1.0]])
    assert Weights(**eye, threshold=np.full(3, 0.5)).outputs(drive).tolist() == [[0, 0.6, 0]]
    assert Weights(**eye, threshold=np.full(3, -0.5)).outputs(drive - 0.6).tolist() == [[0, 0, 0]]
    assert Weights(**eye, k=1).outputs(np.array([[1.0, 1.0, 0.5]])).tolist() == [[0, 0, 0]]
    assert Weights(**eye, k=1).outputs(drive).tolist() == [[0, 0.6, 0]]
    assert Weights(**eye, k=3).outputs(drive).tolist() == [[0.5, 0.6, 0]]
    assert Weights(**eye, k=2).bars(drive, middle=True).tolist() == [[0]]
    assert Weights(**eye, k=1).bars(drive, middle=True).tolist() == [[0.55]]


def test_a_model_as_wide_inside_as_outside_has_so_many_dimensions():
    on = np.arange(6) > 0  # the first feature never reaches an output, so that the product is of rank five
    options = {"encode": lambda x: x * on, "decode": lambda h: np.tanh(np.maximum(h, 0)), "ns": 6, "reading": "toy"}
    found = diagnosis.diagnose(law=LAW, samples=100, **options)
    assert (found.nd, found.rank) == (6, 5) and not found.stands
