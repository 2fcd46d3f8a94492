"""The contract on input, for every call in the tables of the parts, and no public function without a call."""

import importlib
import inspect
import sys

import pytest
from contract import StandIn, breaches, numbers, stand_ins, theory_modules, title, watched
from superposition import toy as toy_wing

with stand_ins():
    from contract_calls import CALLS as GROUND
    from incidental import contract_calls as incidental
    from receptive import contract_calls as receptive
    from rug import contract_calls as rug
    from toy import contract_calls as toy

# Where a docstring promises nan: the formula of the critical gain does not hold for q above 0.3.
NAN = incidental.NAN | {"critical_gain": ["xi2 = tiny"]}
CALLS = [*GROUND, *toy.CALLS, *incidental.CALLS, *receptive.CALLS, *rug.CALLS]

# What has no call, each with its reason.
STEPS = {  # each with a function that takes it, and has a call; every such function has checked before
    "bayes.uniform_posterior": "bayes.bayes_decoder",
    "cut_path.solve": "one_feature.trajectory",
    "ladder.iterates": "ladder.decode",
    "landscape.network_loss": "landscape.many_neuron_loss",
    "landscape.score": "landscape.one_neuron_score",
    "many_features.warn_if_crowded": "many_features.start",
    "meanfield.best_gain": "meanfield.optimum",
    "mixtures.lower_hull": "best_map.best_codes",
}
REFUSES = "refuses itself what its callers, which have calls, hand on"
INTEGRAL = "an integral over arrays, in which a search may hold nan; the callers have calls"
RUN_STEP = "a step of named runs, with points from their own grids"
TENSORS = "takes tensors, settings or models that the library made"
NAMED_RUN = "what a named run calls, with points from its own grid; too long for a few hundred calls"
WITHOUT_A_CALL = dict.fromkeys(STEPS, "a step of what is called here: its caller has checked") | {
    "batched_training.train_many": TENSORS,
    "led_training.ablated_autoencoder": NAMED_RUN,
    "led_training.led_network": NAMED_RUN,
    "compared_codes.priced_code": NAMED_RUN,
    "compared_codes.recorded_code": NAMED_RUN,
    "best_codes.searched_tile": NAMED_RUN,
    "best_codes.sized_tile": NAMED_RUN,
    "counts.measured": NAMED_RUN,
    "wave_growth.growth": REFUSES,
    "noise_descent.descended_and_trained": NAMED_RUN,
    "decoder_ladder.antipodal_ladder": NAMED_RUN,
    "decoder_ladder.ladder": NAMED_RUN,
    "devices.resolve_device": "a name or a device, in test_devices",
    "exact_gradients.batch_gradient": TENSORS,
    "exact_gradients.prepared": TENSORS,
    "trained_fields.batches": REFUSES,
    "trained_fields.describe": RUN_STEP,
    "single_fields.critical_point": NAMED_RUN,
    "controls.descended_rug": NAMED_RUN,
    "controls.gaussian_autoencoder": NAMED_RUN,
    "toy.phase_cell": NAMED_RUN,
    "autoencoders.stopped_autoencoder": NAMED_RUN,
    "autoencoders.trained_autoencoder": NAMED_RUN,
    "other_protocols.trained_by": NAMED_RUN,
    "toy.trained_on": NAMED_RUN,
    "unequal.unequal_autoencoder": NAMED_RUN,
    "trained_gates.other_marginal": NAMED_RUN,
    "trained_gates.trained_fields": NAMED_RUN,
    "gated_training.<lambda>": "the slopes of a ReLU, which a training hands its own arrays",
    "gated_training.relu_with_linear_pathway": "a path, which a training hands its own arrays",
    "gaussian_training.closed_form_loss": TENSORS,
    "gaussian_training.continue_training": TENSORS,
    "gaussian_training.train": TENSORS,
    "gaussian_training.train_on_samples": TENSORS,
    "interference.triples": "takes a rug alone",
    "predicted_fields.branches": NAMED_RUN,
    "predicted_fields.copies": RUN_STEP,
    "predicted_fields.describe": RUN_STEP,
    "predicted_fields.flow": RUN_STEP,
    "predicted_fields.many_width": NAMED_RUN,
    "predicted_fields.one_width": NAMED_RUN,
    "predicted_fields.sampled_loss": RUN_STEP,
    "predicted_fields.settle": RUN_STEP,
    "predicted_fields.template_cosines": RUN_STEP,
    "single_fields.extents": RUN_STEP,
    "wide_networks.filter_power": RUN_STEP,
    "wide_networks.frozen_gates": NAMED_RUN,
    "wide_networks.hundred": NAMED_RUN,
    "wide_networks.pulse_fields": NAMED_RUN,
    "single_fields.torus_batches": RUN_STEP,
    "single_fields.torus_field": NAMED_RUN,
    "minima.lowest": "takes functions",
    "model.load": "takes a path, in test_training",
    "model.save": TENSORS,
    "moments.moment": INTEGRAL,
    "moments.moment_direct": INTEGRAL,
    "moments.moment_tail": INTEGRAL,
    "moments.noiseless_loss": INTEGRAL,
    "moments.piecewise": INTEGRAL,
    "moments.ramp_moment": INTEGRAL,
    "noise_description.description": TENSORS,
    "noise_description.example": TENSORS,
    "noisy_networks.trained_under_noise": NAMED_RUN,
    "optimise.adam": TENSORS,
    "optimise.by_autograd": TENSORS,
    "landscape_descent.best_field": RUN_STEP,
    "landscape_descent.descend": REFUSES,
    "landscape_descent.starting_fields": REFUSES,
    "picture.draw": "takes a diagnosis, in test_picture",
    "price.balanced": "takes a code alone",
    "recipe.tried_protocol": NAMED_RUN,
    "recipe.tried_rate": NAMED_RUN,
    "ring.lengths": REFUSES,
    "ring.spectrum": REFUSES,
    "signs.shuffled_signs": NAMED_RUN,
    "unequal.shuffled_signs": NAMED_RUN,
    "shared.mean_and_spread": RUN_STEP,
    "shared.over_rug": RUN_STEP,
    "shared.rug_loss": RUN_STEP,
    "shared.theory": RUN_STEP,
    "compared_codes.beside_best": RUN_STEP,
    "controls.beside_antipodal": RUN_STEP,
    "record_verifier.measured": "by the arguments of record_verifier.check, which has a call and refuses with it",
    "single_fields.predicted_gain": RUN_STEP,
    "trained_gates.hermite_ratios": RUN_STEP,
    "thomson.sum_of_parts": "takes any number of matrices, in test_thomson",
    "tight_frames.checked_sizes": REFUSES,
    "tile_search.descend": TENSORS,
    "tile_search.draw": TENSORS,
    "tile_search.first_weights": TENSORS,
    "tile_search.search": "a search of minutes; its sizes in test_tile_search",
    "layered_tiles.optimum": "a search of a second; its sizes are those of layered_tiles.rug, which has a call",
    "tilings.best_tile": TENSORS,
    "tilings.least_variation": TENSORS,
    "tilings.network_outputs": TENSORS,
    "tilings.variation": TENSORS,
    "training.affordable_steps": "answers in seconds of this machine, another number each time",
    "training.checked_settings": REFUSES,
    "training.draw": TENSORS,
    "training.evaluate": TENSORS,
    "training.forward": TENSORS,
    "training.initial_weights": TENSORS,
    "weights.fitting": "takes a mapping, in test_weights",
    "weights.load": "takes a path, in test_weights",
}


@pytest.fixture(autouse=True, scope="module")
def called():
    """How often each step was called; none may get what its caller should have refused."""
    with watched(STEPS) as called:
        yield called


def public_functions():
    """All public functions of the theory."""
    for module in map(importlib.import_module, theory_modules()):
        for name, value in vars(module).items():
            if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
                if inspect.signature(value).parameters:
                    yield value


def place(function):
    """The wing, the module and the name."""
    return f"{inspect.unwrap(function).__module__}.{title(function)}"


def test_no_public_function_is_without_a_call():
    called = {place(function) for function, _ in CALLS}
    without = [place(found) for found in public_functions() if title(found) not in WITHOUT_A_CALL]
    assert sorted({*without} - called) == []


def test_what_has_no_call_is_there_and_needs_its_reason():
    public = {title(found) for found in public_functions()}
    called = {title(function) for function, _ in CALLS} - {"training.initial_weights"}  # that of the fields has one
    assert {*WITHOUT_A_CALL} - public == set() and called & {*WITHOUT_A_CALL} == set()


def test_no_stand_in_stays_where_a_table_cannot_be_imported(monkeypatch):
    name = "superposition.toy.training"
    monkeypatch.delattr(toy_wing, "training", raising=False)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="a table"), stand_ins():
        assert isinstance(sys.modules[name], StandIn) and vars(toy_wing)["training"] is sys.modules[name]
        raise ImportError("a table")
    assert name not in sys.modules and "training" not in vars(toy_wing)


@pytest.mark.parametrize(("step", "caller"), STEPS.items())
def test_a_step_is_called_by_what_is_named(called, step, caller):
    before = called[step]
    assert [numbers(function(**call)) for function, call in CALLS if title(function) == caller]
    assert called[step] > before


@pytest.mark.parametrize(("function", "call"), CALLS, ids=[title(function) for function, _ in CALLS])
def test_odd_input_is_refused_or_gives_the_float64_result(function, call):
    name = title(function).split(".")[-1]
    assert list(breaches(function, call, nan_at=NAN.get(name, ()))) == []
