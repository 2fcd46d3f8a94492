"""Cases of models that seldom come: small or large units, what overflows, and what is left of a limit."""

import sys
from contextlib import nullcontext
from types import SimpleNamespace as Found

import numpy as np
import pytest
from superposition import codes
from superposition.diagnosis import (
    autoencoder,
    behaviour,
    dimensions,
    feature_laws,
    gains,
    measures,
    names,
    objects,
    yardsticks,
)
from superposition.diagnosis.feature_laws import FeatureLaw, Population
from superposition.diagnosis.weights import Weights

B = np.array([0.1, 0.2, 0.3])
X = np.random.default_rng(0).random((20, 3))


def relu(x):
    return np.maximum(x, 0)


@pytest.mark.parametrize("gain", [1.0, 100.0])
def test_loudness_does_not_depend_on_the_unit_of_the_outputs(gain):
    rows = Found(off_variance=np.array([8.0, 4.5, 1.0]), off_mean=np.zeros(3), diagonal=gain * np.ones(3))
    found = Found(rows=rows, columns=np.array([8.0, 72.0, 1.0]) / gain**2)
    loud = autoencoder._loudness(found, np.array([True, True, False]), None)
    assert loud[1] / loud[0] == pytest.approx(16**0.25)


@pytest.mark.parametrize(("activation", "stands"), [(relu, True), (lambda x: np.tanh(relu(x)), False)])
def test_a_model_by_its_responses_keeps_what_is_known_of_it(activation, stands):
    W = np.array([[1.0, -0.5, 0.2], [0.1, 0.9, 0], [0, -0.2, 0.8]])
    model = Found(ns=3, forward=lambda x: activation(x @ W.T - 20), eps=2.0**-52, told=("before",), is_sae=True)
    found, stood = behaviour._by_responses(model, 32 * X, 32.0, 0.001)
    assert stood is stands and found.is_sae and found.told[0] == "before" and len(found.told) == 2
    assert found.told[1].startswith("ReLU(W x + b) of" if stands else "ReLU(W_out W_in x + b) misses its forward pass")
    assert stands or " by 0.1 %, so all" in found.told[1]  # the least of all that were tried


@pytest.mark.parametrize(
    ("eps", "missed", "stands"),
    [(1e-16, 1e-4, True), (1e-16, 1.005e-4, False), (1e-3, 0.004, True), (1e-3, 0.0041, False)],
)
@pytest.mark.parametrize("gate", [{}, {"k": 2}, {"threshold": B}])
def test_weights_are_those_of_a_model_within_its_precision(monkeypatch, eps, missed, stands, gate):
    seen = []
    monkeypatch.setattr(behaviour, "_refuse_batches", lambda model, x: seen.append(x))
    taken = [Weights(B, W=np.eye(3), **gate)]
    monkeypatch.setattr(behaviour, "_of_steps", lambda model, x, unit: seen.append(x) or [taken])
    monkeypatch.setattr(behaviour, "_misses", lambda model, found, x: seen.append(x) or missed)
    monkeypatch.setattr(behaviour, "_pairs", lambda model, own, other: Weights(B, W=np.diag([1, 1, eps])))
    model = Found(steps=(1, 2), ns=3, eps=eps, told=("before",), is_sae=True)
    found, stood = behaviour.weights(model, X, 4.0)
    assert stood is stands and found.is_sae and all(np.array_equal(x, 4 * X) for x in seen)
    said = "ReLU(W_out W_in x + b)" + " with its gate" * bool(gate)
    if stands:
        assert found.told == ("before", f"{said} reproduces it to {missed:.1g}")
        by_responses, stood = behaviour._by_responses(model, X, 1.0, np.inf)
        assert stood and by_responses.W[2, 2] == 0  # below what such a precision resolves
    else:
        assert "misses its forward pass" in found.told[1]


@pytest.mark.parametrize(("by", "refused"), [(0.035, False), (0.045, True)])
def test_outputs_may_depend_on_their_batch_by_rounding(by, refused):
    model = Found(forward=lambda x: 7 * np.ones(x.shape) * (1 + by * (len(x) > 10)), eps=0.01)
    with pytest.raises(ValueError, match="depend on the other") if refused else nullcontext():
        behaviour._refuse_batches(model, X)


@pytest.mark.parametrize("eps", [1e-16, 1e-4])
@pytest.mark.parametrize("share", [0.98, 1.02])
def test_outputs_at_a_gate_are_left_out_within_a_precision(eps, share):
    near = 8 * share * max(1e-4, 4 * eps)  # of the largest drive
    for gate, drive, out in (
        (
            {"threshold": np.full(3, 4.0)},
            [4 + near, 8, 0],
            [0, 8, 0],
        ),  # the model's own rounding is below the threshold
        ({"k": 1}, [8, 8 - 2 * near, 0], [0, 8 - 2 * near, 0]),  # or takes the second for the largest
    ):
        model, found = Found(forward=lambda x, out=out: np.array([out]), eps=eps), Weights(0 * B, W=np.eye(3), **gate)
        assert (behaviour._misses(model, found, np.array([drive])) == 0) == (share < 1)


def test_responses_to_pairs_give_small_gains_and_the_bias_of_what_is_on():
    W = np.diag([0.01, 0.01, -1.0, 1.0, -1.0]) + 0.001 * np.arange(25).reshape(5, 5) * (1 - np.eye(5))
    b = np.array([-0.05, 0.05, 0.0, -0.3, 0.2])  # the last is on where nothing is
    found = behaviour._pairs(Found(ns=5, forward=lambda x: relu(x @ W.T + b)), 16.0, 0.25)
    np.testing.assert_allclose(found.b, [-0.05, 0.05, -16, -0.3, 0.2], atol=1e-12)
    np.testing.assert_allclose(found.W, np.where(np.diag(W)[:, None] < 0, 0, W), atol=1e-12)


def test_weights_too_large_to_be_tried_miss_everything():
    huge = np.full((3, 3), 1e308) * [1, -1, 1]
    for more, missed in (({}, np.inf), ({"k": 1}, 1)):  # of three outputs that are infinite none is the largest
        found = Weights(B, W=np.abs(huge) if more else huge, **more)
        assert behaviour._misses(Found(forward=lambda x: x, eps=1e-16), found, 9 * np.ones((2, 3))) == missed


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_rows_are_fitted_in_the_unit_of_what_is_hidden(unit):
    D = np.array([[1.0, 0.5], [-1, 2], [0.3, -0.7]])
    rows = behaviour._fit(lambda h: relu(h @ D.T - unit), unit * np.ones((4, 2)), 2)
    np.testing.assert_allclose(rows, D, rtol=1e-9)


def test_an_output_without_a_drive_has_its_shift_alone():
    scale, shift = behaviour._scaled_and_shifted(
        np.zeros((2, 1)), np.ones((1, 2)), np.zeros(1), 1.0, lambda h: np.full((len(h), 2), 0.7), np.ones((3, 1))
    )
    assert scale.tolist() == [1, 1] and shift.tolist() == pytest.approx([0.7, 0.7])


@pytest.mark.parametrize("unit", [1.0, 2.0**-40])
def test_scale_and_shift_do_not_depend_on_the_unit(unit):
    A, F = np.array([[1.0, 0], [0, 1], [1, 0], [-1, 0], [0, 1]]), np.array([[1.0, 0, 0, 0, 0], [0, 1, 1, 1, 1]])
    scale, shift = np.array([2.0, 3.0, 0.5, 2.5, 1.0]), unit * np.array([-5.0, 0.2, -0.05, -0.5, -20.0])
    nothing, low = np.array([0.5, 0.25]), -2.5 * 32.25 - 1  # the last is on at twice the strength alone
    for second, expected in (
        (lambda h: relu(scale * (h @ A.T) + shift), ([2, 3, 0.5, 2.5, 2.5], [-5, 0.2, -0.05, -1, low])),
        (lambda h: 0 * h @ A.T, ([1] * 5, [-33.5, -33.25, -1.5, -1, -33.25])),  # below what the own feature gives
    ):
        found = behaviour._scaled_and_shifted(A, F, unit * nothing, unit, second, unit * X[:, :2])
        np.testing.assert_allclose(found[0], expected[0])
        np.testing.assert_allclose(found[1], unit * np.array(expected[1]), atol=1e-12 * unit)


@pytest.mark.parametrize(("off", "linear"), [(0.5e-5, True), (1.5e-5, False)])
def test_a_first_step_is_linear_to_a_hundred_thousandth(off, linear):
    E = np.array([[1.0, 2.0, 0.5], [0.3, -1, 2]])
    steps = (lambda x: x @ E.T * (1 + off * (len(x) == len(X))), lambda h: relu(h @ E))
    model = Found(steps=steps, arrays=(), ns=3, k=None, eps=2.0**-52)
    assert bool(list(behaviour._of_steps(model, X, 1.0))) is linear


def test_the_step_of_a_fan_is_the_largest_where_none_is_enough():
    assert yardsticks._step(1e-6) == max(yardsticks.STEPS)
    fan = codes.priority_fan(yardsticks.SIX, max(yardsticks.STEPS))
    assert codes.code_loss(fan.W, fan.b, 1e-6) > yardsticks.NEAR * codes.fan_loss(1e-6, yardsticks.SIX)


def test_blocks_have_a_row_at_least(monkeypatch):
    sizes = []
    for module in (behaviour, objects, measures):
        monkeypatch.setattr(module, "BLOCK", 2)
    behaviour._columns(lambda x: sizes.append(len(x)) or x, 3, 1.0, np.zeros(3))
    behaviour._diagonal(lambda x: sizes.append(len(x)) or x, np.eye(3))
    out = objects._batched(lambda x: sizes.append(len(x)) or x + 1)(X[:3])
    assert sizes == [1] * 9 and np.array_equal(out, X[:3] + 1)
    monkeypatch.setattr(objects, "BLOCK", 6)
    assert np.array_equal(objects._batched(lambda x: sizes.append(len(x)) or x[:, :1])(X[:5]), X[:5, :1])
    assert sizes[9:] == [2, 2, 1] and measures._blocks(3) == [(0, 1), (1, 2), (2, 3)]


def test_a_product_of_many_features_has_a_rank_of_one_at_least(monkeypatch):
    monkeypatch.setattr(names, "NAMED", 2)
    for W in (np.ones((3, 3)), np.zeros((3, 3))):
        assert dimensions.of(Weights(B, W=W), None) == (1, 1)


def test_the_spread_of_a_product_is_that_of_its_symmetric_part():
    W = np.array([[1.0, 0.5, -0.2], [0.1, 2.0, 0.3], [0.7, 0, 0.5]])
    relative = W / np.diag(W)[:, None]
    values = np.linalg.eigvalsh((relative + relative.T) / 2)
    assert values.min() > 0
    found = dimensions.spread(Weights(B, W=W), np.ones(3, dtype=bool), None, np.ones(3))
    assert found == pytest.approx(values.std() / values.mean())


def test_probabilities_are_between_zero_and_one():
    assert Population.of([0.0, 0.5], None, None, 2).each.tolist() == [1e-9, 0.5]
    found = Population.of(None, None, 0.5, 2)
    assert (found.p, found.chance, found.largest) == (0.25, 0.25, 1)
    for given, said in (
        (([0.1, 1.0], None, None, 2), r"p = 1 is out of range; allowed: \[0, 1\)"),
        ((0.0, None, None, 2), r"p = 0 is out of range; allowed: \(0, 1\)"),
        ((None, None, 2, 2), r"l0 = 2 is out of range; allowed: \(0, 2\)"),
        ((None, None, 0, 2), r"l0 = 0 is out of range; allowed: \(0, 2\)"),
    ):
        with pytest.raises(ValueError, match=said):
            Population.of(*given)


@pytest.mark.parametrize("variance", [np.inf, 0.0])
def test_a_law_has_a_finite_variance_above_zero(variance):
    with pytest.raises(ValueError, match=f"variance = {variance:g} is out of range"):
        FeatureLaw(0.0, variance, lambda rng, shape: rng.standard_normal(shape))


def test_a_law_of_rare_features_is_drawn_a_few_times_more(monkeypatch):
    asked = []

    def sampler(rng, shape):
        asked.append((shape, rng.random()))
        return np.eye(shape[0], 1)

    for name, value in (("DRAWN", 10), ("ENOUGH", 1000), ("MOST_DRAWS", 3)):
        monkeypatch.setattr(feature_laws, name, value)
    nodes = feature_laws._law(0.1, 0.09, sampler).nodes()
    assert asked == [((10, 1), np.random.default_rng(seed).random()) for seed in range(3)]
    np.testing.assert_allclose(nodes.x, [0, 1, 1, 1])
    np.testing.assert_allclose(nodes.weight, [0.9, *[0.1 / 3] * 3])


def test_the_best_gain_and_bias_where_nothing_is_shared_or_nothing_can_be_gained():
    found = feature_laws.rug_optimum(feature_laws.uniform_law(0.1), 1)
    assert [float(one) for one in (found.a, found.b, found.sigma, found.loss)] == [1, 0, 0, 0]
    below = feature_laws._law(-0.5, 1 / 12, lambda rng, shape: -rng.random(shape))
    found, nodes = feature_laws.rug_optimum(below, 0.5), below.nodes()
    assert float(found.a) == 0 and float(found.loss) == pytest.approx(nodes.weight @ nodes.x**2)


def test_a_repair_that_gains_a_twentieth_is_named(monkeypatch):
    ends = {"_answered": 0.05, "_represented": np.nextafter(0.05, 0), "_refitted": None, "_turned": 0.3}
    for name, gain in (ends | {"_trained_on": 0.1}).items():
        monkeypatch.setattr(gains, name, lambda found, gain=gain: None if gain is None else gains.Mend(gain, ""))
    assert [one.gain for one in gains.of(None)] == [0.3, 0.1, 0.05]


def test_more_dimensions_than_features_that_are_heard_lose_nothing():
    kinds = np.array(["heard", "heard", "dropped", "dropped"])
    found = Found(ns=4, nd=3, p=0.05, kind=kinds, heard=kinds == "heard", by_feature=np.ones(4), importance=None)
    assert gains._represented(found) is None


def test_no_repair_gains_more_than_the_loss():
    variance = float(feature_laws.uniform_law(0.05).variance)
    found = Found(p=0.05, sigma=variance**0.5, sigma_bound=1e-9, stands=True, nd=2, heard=np.ones(2, dtype=bool),
                  importance=None, population=Found(variance=np.full(2, variance)))  # fmt: skip
    found.loss = 0.9 * float(gains.meanfield.optimum(0.05, 0.5).loss)
    assert gains.ratio_of(found) == pytest.approx(0.5) and gains._turned(found).gain == 1


def test_gains_too_large_for_their_squares_are_refused_in_words():
    huge = Weights(np.zeros(2), W_in=np.diag([1e200, 1.0]), W_out=np.eye(2))
    with pytest.raises(ValueError, match=r"W_out W_in = 1e\+200 is out of range"):
        measures.measured(huge, np.zeros(2), np.ones(2), lambda more: None)


def test_of_weights_that_are_too_large_the_first_is_said():
    with pytest.raises(ValueError, match=r"W_out W_in = -2e\+30 is out of range"):
        measures.measured(Weights(np.zeros(2), W=np.array([[1e30, -2e30], [3e30, 1]])), B[:2], B[:2], lambda more: None)


def test_weights_of_single_precision_are_summed_in_double(monkeypatch):
    monkeypatch.setattr(measures, "ALL", 6)
    W = np.random.default_rng(0).standard_normal((40, 40)).astype(np.float32)
    found = measures.measured(Weights(np.zeros(40), W=W.astype(float), single=True), W[0], W[1] ** 2, lambda more: None)
    np.fill_diagonal(W, 0)
    mean, square = W.sum(axis=1, dtype=float) / 39, (W**2).sum(axis=1, dtype=float) / 39
    np.testing.assert_allclose(found.rows.off_mean, mean, rtol=1e-12)
    np.testing.assert_allclose(found.rows.off_variance, square - mean**2, rtol=1e-12)


def test_progress_over_blocks_is_told_in_rows_and_in_vectors(monkeypatch):
    monkeypatch.setattr(measures, "BLOCK", 6)
    told, weights, population = [], Weights(B, W=np.eye(3)), Population.of(0.5, None, None, 3)
    rows = measures.measured(weights, population.mean, population.variance, told.append)
    measures.simulated(weights, population, rows, 5, 0, told.append)
    assert told == [2, 1, 2, 2, 1]


def test_no_row_is_dead_before_it_is_simulated():
    found = measures.measured(Weights(B, W=np.eye(3)), np.zeros(3), np.ones(3), lambda more: None).rows
    assert found.dead.dtype == bool and not found.dead.any()


def test_biases_are_moved_on_as_many_outputs_as_are_enough(monkeypatch):
    weights, population = Weights(-B, W=np.eye(3) - 0.1), Population.of(0.5, None, None, 3)
    rows = measures.measured(weights, population.mean, population.variance, lambda more: None)
    shares = []
    for samples, enough in ((2, 6), (8, 6), (8, 7)):
        monkeypatch.setattr(measures, "BLOCK", 6)
        monkeypatch.setattr(measures, "REFITTED", enough)
        seen = measures.simulated(weights, population, rows, samples, 0, lambda more: None)
        shares.append(seen.refitted / seen.loss.mean)
    assert shares[0] == pytest.approx(shares[1], rel=1e-12)
    assert abs(shares[2] / shares[1] - 1) > 1e-3


def test_a_plane_code_hides_nineteen_of_twenty_pairs(monkeypatch):
    fan = codes.priority_fan(6, 20)
    relative, loud = fan.W / np.diag(fan.W)[:, None], 20.0 ** -np.arange(6.0)
    for hidden, name in ((0.95, "a fan of 6 features"), (0.949, "a loud and quiet code of 6 features in 2 dimensions")):
        monkeypatch.setattr(names, "_hidden", lambda relative, loud, hidden=hidden: hidden)
        assert names._in_the_plane(relative, loud) == name


@pytest.mark.parametrize(("n", "is_graph"), [(8, True), (10, False)])
def test_weights_of_a_graph_have_four_sizes_at_most(n, is_graph):
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    apart = np.minimum(apart, n - apart)
    W = np.where(apart == 0, 1, np.where(apart == 1, -0.5, 0.1 * apart))
    assert len(np.unique(W[0])) - 1 == n // 2 and names._is_graph(W) is is_graph
    W[0, 2] = W[2, 0] = 0.2001  # within half a thousandth
    assert names._is_graph(W) is is_graph


def test_steps_are_taken_without_torch_and_without_gradients(monkeypatch):
    def refuse(x):
        raise TypeError("tensors alone")

    torch = pytest.importorskip("torch")
    assert objects._detached(lambda x: torch.is_grad_enabled(), X) is False and torch.is_grad_enabled()
    monkeypatch.delitem(sys.modules, "torch")
    assert objects._detached(lambda x: x, X) is X and objects._called(lambda x: x, X) is X
    with pytest.raises(TypeError, match="^tensors alone$"):
        objects._called(refuse, X)


def test_a_model_in_another_unit():
    model = objects.Model(lambda x: relu(x - 1), 3, None, None, (), None, None, False, 1e-16, ())
    np.testing.assert_allclose(model.scaled(4.0).forward(X), relu(4 * X - 1) / 4)


@pytest.mark.parametrize(
    ("bent", "eps", "affine"),
    [(0, 2.0**-52, True), (0.01, 2.0**-52, False), (0.01, 0.1, True), (1e-3, 1e-4, True), (0.1, 1e-4, False)],
)
@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
def test_an_affine_step_maps_sums_to_sums(bent, eps, affine, unit):
    assert objects._is_affine(lambda x: unit * (2 * x + 1 + bent * x**2), 3, eps) == affine


def test_arrays_of_a_module_are_those_of_an_instance_in_numbers_with_fractions():
    torch = pytest.importorskip("torch")
    module = torch.nn.Module()
    module.register_buffer("steps", torch.arange(24).reshape(4, 3, 2))
    module.register_buffer("W", torch.arange(30.0).reshape(3, 2, 5))
    for instance, chosen in ((None, 0), (2, 2)):
        [W], _ = objects._tools(module, instance)
        assert torch.equal(W, module.W[chosen])
    for instance in (-1, 3):
        with pytest.raises(ValueError, match=f"instance = {instance} is out of range"):
            objects._tools(module, instance)
    assert objects._sizes([np.zeros((2, 1)), np.zeros(5)]) == [5, 2]
    there = objects._tensor(np.ones(2), torch.zeros(1, device="meta", dtype=torch.float16))
    assert (there.device.type, there.dtype) == ("meta", torch.float16)
