"""Results that have one value for each feature, group, neuron or setting keep them apart.

Unequal ones are permuted in the arguments of every function of the contract that gives one value for each: the values
must be permuted with them. A mean over the wrong axis passes every test on features that are alike, and not this one.
"""

import importlib

import numpy as np
import pytest
import superposition
from contract import numbers, title
from contract_calls import CALLS as GROUND
from superposition import decoders, diagnosis, frequencies, rug
from superposition.decoders import yardsticks

pytest.importorskip("torch")
TIGHT = {"rtol": 1e-7, "atol": 1e-12}

# What goes together in the arguments, each with its axes, and the axes of each result that go with it. Sums over other
# axes may be taken in another order, and the last digits with them.
SAME = {
    "geometry.gram": ["W:1 -> 01"],
    "geometry.feature_dimensionality": ["W:1 -> 0"],
    "geometry.interference": ["W:1 -> 0"],
    "linear.best_linear_bias": ["W:1 -> 0"],
    "linear.linear_flow": ["W:0 -> 1", "W:1 importance:0 -> 2"],
    "linear.strength_curve": ["times:0 -> 0"],
    "linear.free_start": ["W:1 importance:0 -> 0"],
    "model.row_statistics": ["W:01 b:0 -> 0 0 0 0 0 0 0 0"],
    "noise_bound.with_unit_diagonal": ["W:01 -> 01"],
    "noise_bound.row_noise": ["W:01 -> 0"],
    "noise_bound.symmetrised_code": ["W:01 -> 01"],
    "collision_constant.isotropic_pairs": ["W:0 -> 0"],
    "collisions.benefit_and_interference": ["W:0 -> 0 0"],
    "collisions.duplicate_polysemantic": ["W:0 -> 0"],
    "many_networks.count_polysemantic_each": ["W:0 -> 0"],
    "many_networks.opposite_tops_each": ["W:0 -> 0"],
    "company.company_flow": ["W:0 -> 0", "W:1 -> 1", "W:2 -> 2"],
    "kurtosis.noisy_step": ["w:0 xi:1 -> 1", "xi:0 -> 0"],
    "kurtosis.direction_drift": ["w:0 -> 0"],
    "kurtosis.enumerated_drift": ["w:0 -> - 0"],
    "kurtosis.bipolar_reach": ["w:0 -> 0"],
    "l1_loss.gradient": ["W:0 -> 0", "W:1 -> 1"],
    "l1_loss.forces": ["W:0 -> 0 0 0", "W:1 -> 1 1 1"],
    "late_rate.overlap_flow": ["W:0 -> 1", "W:1 -> 23"],
    "many_features.gradient_flow": ["w0:0 -> 1", "w0:1 -> 2"],
    "many_features.descend_encodings": ["w0:0 -> 0", "w0:1 -> 1"],
    "many_networks.gradient_flow_each": ["w0:0 -> 0", "w0:1 -> 1", "w0:2 -> 2"],
    "noise_loss.expected_loss_grad": ["W:0 -> 0", "W:1 -> 1"],
    "noise_loss.expected_loss_grad_each": ["W:0 -> 0", "W:1 -> 1", "W:2 -> 2"],
    "noise_loss.descend_expected_loss": ["W:0 -> 1", "W:1 -> 2"],
    "noise_push.row_push": ["b:0 -> 0"],
    "noise_push.row_push_series": ["b:0 -> 1"],
    "noise_push.mean_row_push": ["b:0 -> 0 0"],
    "noise_push.mixture_row_push": ["b:0 -> 0"],
    "noisy_training.train_with_noise": ["W:1 -> - 2"],
    "one_feature.trajectory": ["times:0 -> 0 0 0 0 -"],
    "sparsification_rate.end_time": ["w0:0 -> 0"],
    "step_noise.descend_to_level": ["W:0 -> 0", "W:1 -> 1"],
    "tail_moments.relu_moments": ["c:0 -> 1"],
    "untied_weights.train_untied": ["E:0 D:0 inputs:01 -> 0 0", "E:1 D:1 -> 1 1"],
    "untied_weights.untied_alignment": ["E:0 D:0 -> 0"],
    "measures.ipr": ["w:0 -> 0"],
    "measures.half_energy_width": ["w:0 -> 0"],
    "measures.peak": ["w:0 -> 0"],
    "measures.power_spectrum": ["w:0 -> 0"],
    "measures.mean_frequency": ["w:0 -> 0"],
    "measures.ring_distance": ["i:0 -> 0"],
    "measures.same_place": ["w:0 -> 0"],
    "gates.opened_gates": ["directions:0 -> 1", "x:0 -> 0"],
    "gated_networks.gated_moments": ["gates:1 -> - 0"],
    "gated_networks.gdln_solution": ["t:0 -> 0"],
    "gated_training.relu_with_linear_pathway": ["h:0 -> 0", "h:1 -> 1"],
    "gated_training.train_gated": ["w0:1 -> 1"],
    "gated_on_device.train_gated_on_device": ["w0:1 -> 1"],
    "gated_training.gated_outputs": ["w:0 -> 1", "x:0 -> 0"],
    "least_squares.half_line_mean": ["r:0 -> 0"],
    "least_squares.ols_field": ["T:0 -> 0"],
    "least_squares.ols_loss": ["T:0 -> 0"],
    "least_squares.relu_neuron_loss": ["w:0 T:0 -> 0"],
    "least_squares.signed_mean": ["a:0 -> 0 0", "a:1 x:1 -> 1 1"],
    "least_squares.turned_signed_mean": ["a:0 -> 0"],
    "least_squares.gate_race": ["starts:0 -> 0 1"],
    "least_squares.best_shift_cosine": ["w:0 -> 0"],
    "relu_flow.half_space_mean": ["w:0 C:01 -> 0"],
    "relu_flow.two_neuron_coefficients": ["rho_kk:0 -> 0 -"],
    "relu_flow.gaussian_flow": ["W:0 -> 0", "W:1 C0:01 C1:01 -> 1"],
    "relu_flow.flip_rate": ["W:0 later:0 -> 0"],
    "added_fields.tiled_network_loss": ["W:0 -> - 0"],
    "landscape.first_order_loss": ["W:0 -> - 0"],
    "training.train_fields": ["W:1 -> 1 1 - 2 - - - -"],
    "training.train_gaussian_fields": ["w:0 -> 1"],
    "training.gate_flips": ["kept:1 x:1 -> - -"],
    "best_map.best_along": ["r:0 -> 0"],
    "exact_losses.best_decoder": ["W:01 -> 0 0 -"],
    "conflict_search.conflict_score": ["W:01 -> - 01"],
    "conflict_search.lemma_score": ["W:01 -> - 01"],
    "ands.and_layer": ["s:0 -> 1", "x:0 -> 0"],
    "ands.ands_of_pairs": ["x:0 -> 0"],
    "ands.beyond_linear": ["h:1 -> 1"],
    "ands.early_reading": ["x:0 -> 0"],
    "ands.late_reading": ["x:0 -> 0"],
    "coupled.readout": ["x:0 -> 0"],
    "coupled.apply": ["v:0 -> 0"],
    "coupled.decode_coupled": ["readout:0 -> 0"],
    "ladder.decode": ["W_in:1 -> 0"],
    "ladder.decode_rug": ["readout:0 -> 0"],
    "relu_layers.decode_in_layers": ["readout:0 -> 0"],
    "shared_directions.decode_antipodal": ["readout:0 -> 0"],
    "sparse_coding.nonnegative_lasso": ["hidden:0 -> 0", "directions:1 -> 1"],
    "priced_training.sae_along": ["directions:0 -> 1 - 0 0 - -", "directions:1 -> 0 0 1 - - -"],
    "priced_training.sae_losses": ["hidden:0 -> 0"],
    "dictionary_training.encode": ["hidden:0 -> 0"],
    "layer_training.train_layers": ["W_in:0 -> 0 - -"],
    "sharing.shares": ["W_in:1 p:0 -> 0"],
    "sharing.tied_shares": ["p:0 -> 0"],
    "sharing.even_shares": ["p:0 -> 0"],
    "exclusive.noise_gain": ["W_in:1 W_out:0 -> 0"],
    "facet_codes.graph_code_for": ["H:01 -> 1 0 0 - 0"],
    "graphs.colour_code_for": ["H:01 -> 1 0 0 - 0"],
    "crowds.crowd_loss": ["W:0 b:0 -> - 0 0"],
    "presence.presence_reader": ["vectors:0 p:0 -> 0 0 0 0 0 0"],
    "company_field.company_losses": ["W_in:1 W_out:0 b:0 x:1 -> 0 0 0 0"],
    "company_field.state_losses": ["W_in:1 W_out:0 b:0 x:1 threshold:0 -> 0 0"],
    "exclusive.best_noise_gain": ["W_in:1 -> 0"],
}
# Where the values of the contract are too alike, or a result has its own kind of symmetry
_drawn = np.random.default_rng(7).uniform
_code = _drawn(0.5, 1, (2, 3)) * [[1, -1, 1], [1, 1, -1]]
UNLIKE = {
    "coupled.readout": {"x": _drawn(0, 1, (2, 16))},
    "coupled.apply": {"v": _drawn(0, 1, (2, 8))},
    "coupled.decode_coupled": {"readout": _drawn(0, 1, (2, 32))},
    "ladder.decode_rug": {"readout": _drawn(0, 1, (2, 8))},
    "relu_layers.decode_in_layers": {"readout": _drawn(0, 1, (2, 8))},
    "shared_directions.decode_antipodal": {"readout": _drawn(0, 1, (2, 8))},
    "untied_weights.untied_alignment": {"E": _drawn(-1, 1, (9, 4)), "D": _drawn(-1, 1, (9, 4))},
    "many_networks.count_polysemantic_each": {"W": _drawn(-1, 1, (5, 4, 6))},
    "many_networks.opposite_tops_each": {"W": _drawn(-1, 1, (5, 4, 6))},
    "untied_weights.train_untied": {"inputs": np.diag([1.0, 0.6])},
    "exclusive.noise_gain": {"W_in": _code, "W_out": (_code + _drawn(-0.2, 0.2, (2, 3))).T},
}


def calls():
    """The first call of the contract of each function, by its title."""
    found = {}
    wings = [importlib.import_module(f"{wing}.contract_calls") for wing in superposition.WINGS]
    for function, call in [*GROUND, *(one for wing in wings for one in wing.CALLS)]:
        found.setdefault(title(function), (function, call))
    return found


CALLS = calls()


def parsed(spec):
    """Axes by argument, and for each result."""
    left, right = spec.split(" -> ")
    of = {name: tuple(map(int, axes)) for name, axes in (part.split(":") for part in left.split())}
    return of, [() if axes == "-" else tuple(map(int, axes)) for axes in right.split()]


def moved(array, axes, order):
    for axis in axes:
        array = np.take(array, order, axis=axis)
    return array


def copied(call):
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in call.items()}


@pytest.mark.parametrize(("name", "spec"), [(name, spec) for name in SAME for spec in SAME[name]])
def test_what_is_permuted_in_arguments_is_permuted_in_results(name, spec):
    function, call = CALLS[name]
    call, (axes, expected) = call | UNLIKE.get(name, {}), parsed(spec)
    for key, some in axes.items():  # where there is but one of a kind, a second that is another
        value = np.asarray(call[key])
        call[key] = np.concatenate([value, 0.8 * value[..., ::-1]], some[0]) if value.shape[some[0]] == 1 else value
    count = {call[key].shape[axis] for key, some in axes.items() for axis in some}
    (count,) = count
    order = np.roll(np.arange(count), 1) if count == 2 else np.r_[1, 0, count - 1, 2 : count - 1]
    permuted = {key: moved(call[key], some, order) for key, some in axes.items()}
    before, after = numbers(function(**copied(call))), numbers(function(**copied(call | permuted)))
    assert len(before) == len(after) == len(expected)
    for one, other, some in zip(before, after, expected, strict=True):
        if one.dtype.kind != "U":
            np.testing.assert_allclose(np.asarray(other, float), moved(np.asarray(one, float), some, order), **TIGHT)
    parts = [(one, axis) for one, some in zip(before, expected, strict=True) for axis in some]
    assert not parts or any(np.any(np.diff(np.asarray(one, float), axis=axis)) for one, axis in parts), "all alike"


def shares_a_length(name):
    """Whether a result of a call has an axis as long as one of its arguments."""
    function, call = CALLS[name]
    lengths = {n for value in call.values() if isinstance(value, np.ndarray) for n in value.shape if n > 1}
    return bool(lengths) and any(lengths.intersection(found.shape) for found in numbers(function(**copied(call))))


# Functions with a result as long as an argument that gives no value for each
ELSE = {
    **dict.fromkeys(("rugs.apply", "rugs.walsh_hadamard"), "the places of a rug are no two alike"),
    **dict.fromkeys(("ring.gaussian_sample", "ring.circulant", "ring.square_root"), "neighbours on a ring"),
    **dict.fromkeys(("gates.gaussian_second_moment", "gated_networks.limiting_weights"), "blocks of gate and pixel"),
    **dict.fromkeys(("tilings.best_biased_tile", "tilings.crowd", "tilings.mean_crowd_size"), "neighbours on a ring"),
    **dict.fromkeys(("landscape.one_neuron_score", "landscape.field_score"), "neighbours on a ring"),
    **dict.fromkeys(("added_fields.behind_copies", "landscape_descent.best_field"), "neighbours on a ring"),
    **dict.fromkeys(("crowds.gaussian_tile", "tilings.root_mean_square"), "neighbours on a ring"),
    "presence.presence_losses": "below: with its reader",
    "relu_flow.single_neuron_flow": "steps of a flow, neighbours on a ring",
    "linear.descend_linear": "batches that are drawn",
    "gated_training.mirrored_sample": "rows that are shuffled",
    **dict.fromkeys(
        ("sharing.unequal_rug", "unequal_training.train_unequal", "unequal_training.train_unequal_alive"),
        "weights that are drawn",
    ),
    **dict.fromkeys(("few_active_features.few_active_losses", "few_active_features.tuned_losses"), "below: simulated"),
    **dict.fromkeys(("families.leaning", "dictionary_scores.scores"), "below: of a dictionary"),
    "contract_calls.direct_sum": "parts beside each other",
    "autoencoder.diagnose": "below: partly simulated",
    "allocations.allocate": "below: sorted",
}


def test_every_result_that_is_as_long_as_an_argument_is_permuted_or_says_why_not():
    assert {name for name in CALLS if shares_a_length(name)} - SAME.keys() - ELSE.keys() == set()


@pytest.mark.thorough
@pytest.mark.parametrize("name", CALLS)
def test_an_array_of_settings_gives_each_of_them_its_own_result(name):
    """Five numbers, so that no axis of another argument is as long; every other one is the same."""
    function, call = CALLS[name]
    settings = [key for key, value in call.items() if isinstance(value, float) and 0 < abs(value) < 1e6]
    for key in (key for key in settings if (name, key) not in DRAWN):
        values = [call[key], 0.97 * call[key]]
        try:
            together = numbers(function(**copied(call | {key: np.array([*values, *values, values[0]])})))
        except (ValueError, RuntimeError):  # one number only
            continue
        alone = [numbers(function(**copied(call | {key: value}))) for value in values]
        for five, *pair in zip(together, *alone, strict=True):
            five, one, other = (np.asarray(found, float) for found in (five, *pair))
            wanted = [one, other, one, other, one]
            along = [np.moveaxis(five, axis, 0) for axis in range(five.ndim) if five.shape[axis] == 5]
            each = any(some[0].shape == one.shape and all(map(same, some, wanted)) for some in along)
            assert each or (five.shape == one.shape and same(five, one) and same(five, other)), key


def same(found, expected):
    return np.allclose(found, expected, **TIGHT)


# Each sparsity has a network with another start
DRAWN = {("training.train_models", "sparsity")}


def unequal(order):
    """A dictionary of unequal features, permuted."""
    rng = np.random.default_rng(3)
    directions = rng.standard_normal((6, 9))
    directions /= np.linalg.norm(directions, axis=0)
    return decoders.Dictionary("random", directions[:, order], np.linspace(0.02, 0.3, 9)[order], 0.05)


ORDER = np.array([4, 0, 8, 2, 1, 7, 3, 5, 6])


def test_one_relu_has_a_gain_and_a_bias_for_each_feature():
    plain, permuted = unequal(np.arange(9)), unequal(ORDER)
    losses = [np.array([yardsticks._of_direction(truth, i)[0] for i in range(9)]) for truth in (plain, permuted)]
    np.testing.assert_allclose(losses[1], losses[0][ORDER], rtol=1e-6)
    x, h = plain.activations(40_000, seed=0)
    z = (h - h.mean(axis=0)) @ plain.directions
    for i in range(9):  # the best of a grid of gains and biases, for this feature alone, on vectors that are drawn
        grid = [np.mean((a * np.maximum(z[:, i] + b, 0) - x[:, i]) ** 2)
                for a in np.linspace(0.02, 1, 25) for b in np.linspace(-1, 0.4, 25)]  # fmt: skip
        assert min(grid) == pytest.approx(losses[0][i], rel=0.06)  # standard error: 0.02


def test_scores_of_a_dictionary_go_with_its_features():
    plain, permuted = unequal(np.arange(9)), unequal(ORDER)
    x, h = plain.activations(3000, seed=1)
    codes = np.maximum(h @ plain.directions - np.linspace(0.05, 0.4, 9), 0)
    first = decoders.scores(plain, x, codes, plain.directions)
    second = decoders.scores(permuted, x[:, ORDER], codes, plain.directions)
    for field in ("latent", "cosine", "recalls"):
        np.testing.assert_allclose(getattr(second, field), getattr(first, field)[ORDER])
    assert np.ptp(first.recalls) > 0.1


def test_a_pair_of_a_family_has_its_own_angles():
    truth = decoders.dictionary_of_families(8, 6, p=0.3, children=0.5)
    x, _ = truth.activations(500, seed=0)
    bent = truth.directions + 0.2 * np.random.default_rng(1).standard_normal(truth.directions.shape)
    pairs = np.r_[[2, 0, 3, 1], np.array([2, 0, 3, 1]) + 4]
    moved_truth = decoders.Dictionary(truth.kind, truth.directions[:, pairs], truth.p[pairs], truth.noise)
    first = decoders.leaning(truth, x, x, bent)
    second = decoders.leaning(moved_truth, x[:, pairs], x, bent)
    for field in ("to_child", "to_parent"):
        np.testing.assert_allclose(getattr(second, field), getattr(first, field)[pairs[:4]])
        assert np.ptp(getattr(first, field)) > 1


def test_late_reading_has_the_mean_and_spread_of_its_cases():
    """By the number n of bits that are on, for pairs of which both, one or none are: pairs drawn on a rug."""
    m, N, drawn = 128, 40, 4000
    rng, cases, code = np.random.default_rng(0), decoders.late_cases(m, N, 0.04), rug.Rug(m, N, seed=0)
    first = {target: int(np.flatnonzero(cases.target == target)[0]) for target in (0, 1)}
    counts = np.flatnonzero(cases.target == 1) - first[1]
    assert len(cases.weight) == 3 * len(counts)
    smallest = round(float((cases.mean[0] - 2) / (cases.mean[1] - cases.mean[0]) + 1))  # n of the first case
    for n in (3, 8):
        for kind, on in enumerate((2, 1, 0)):
            x, pairs = np.zeros((drawn, m)), np.empty((drawn, 2), int)
            for row in range(drawn):
                order = rng.permutation(m)
                pairs[row] = order[:2]
                x[row, np.r_[order[:on], order[2 : 2 + n - on]]] = 1
            reading = np.take_along_axis(code.apply(x), pairs, 1).sum(axis=1)
            at = kind * len(counts) + n - smallest
            assert cases.target[at] == (on == 2)
            assert abs(reading.mean() - cases.mean[at]) < 5 * reading.std() / drawn**0.5
            assert reading.std() == pytest.approx(cases.spread[at], rel=0.06)  # standard error: about 0.02


def test_simulated_losses_go_with_their_features():
    p, share = np.array([0.02, 0.1, 0.3, 0.05]), np.array([0.3, 0.7, 0.5, 0.5])
    W, order = np.eye(4) + 0.3 * np.random.default_rng(0).standard_normal((4, 4)), np.array([2, 0, 3, 1])
    few = [frequencies.few_active_losses(p[o], share[o], samples=20_000) for o in (np.arange(4), order)]
    tuned = [frequencies.tuned_losses(W[np.ix_(o, o)], p[o], samples=20_000)[0] for o in (np.arange(4), order)]
    for first, second in (few, tuned):
        np.testing.assert_allclose(second, first[order], rtol=0.05)
        assert not np.allclose(second, first, rtol=0.3)


def test_the_diagnosis_of_a_feature_goes_with_it():
    """What is exact is permuted; what is simulated is nearer to its own feature's than to another's."""
    rng, p = np.random.default_rng(0), np.array([0.05, 0.1, 0.2, 0.4])
    W, b, order = rng.standard_normal((3, 4)), np.array([-0.1, -0.02, 0.05, -0.2]), np.array([2, 0, 3, 1])
    first, second = (diagnosis.diagnose(W[:, o], b[o], p=p[o], samples=20_000, seed=0) for o in (np.arange(4), order))
    pairs = [(one, other) for one, other in zip(numbers(first), numbers(second), strict=True) if one.shape == (4,)]
    values = [(one, other) for one, other in pairs if one.dtype.kind == "f" and np.ptp(one) > 0.1 * np.abs(one).max()]
    assert len(values) > 9
    for one, other in values:
        off = np.abs(other - one[order]).max() / np.abs(one).max()
        assert off < 0.1 or off < 0.2 * np.abs(other - one).max() / np.abs(one).max(), (one, other)
    assert sum(np.allclose(other, one[order], rtol=1e-9) for one, other in values) > 4


def test_losses_by_presence_go_with_their_features():
    function, call = CALLS["presence.presence_losses"]
    reader, order = CALLS["presence.presence_reader"][0], np.array([2, 0, 1])
    moved_call = {"vectors": call["vectors"][order], "p": call["p"][order]}
    moved_call |= {"best": reader(**moved_call), "cells": call["cells"][:, order]}
    first = function(**call | {"best": reader(vectors=call["vectors"], p=call["p"])})
    assert np.ptp(first) > 0
    np.testing.assert_allclose(function(**call | moved_call), first[order], **TIGHT)
