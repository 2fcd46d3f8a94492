"""The contract on input, for every call in the tables of the parts, and no public function without a call."""

import importlib
import inspect

import pytest
from contract import breaches, stand_ins, theory_modules, title

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
STEPS = "a step of what is called here: its caller has checked"
TENSORS = "takes tensors, settings or models that the library made"
NAMED_RUN = "what a named run calls, with points from its own grid; too long for a few hundred calls"
WITHOUT_A_CALL = {
    "batched_training.train_many": TENSORS,
    "bayes.uniform_posterior": STEPS,
    "best_experiments.ablated_autoencoder": NAMED_RUN,
    "best_experiments.led_network": NAMED_RUN,
    "best_experiments.priced_code": NAMED_RUN,
    "best_experiments.recorded_code": NAMED_RUN,
    "best_experiments.searched_tile": NAMED_RUN,
    "best_experiments.sized_tile": NAMED_RUN,
    "constant.measured": NAMED_RUN,
    "crossings.growth": STEPS,
    "cut_path.solve": STEPS,
    "descent_experiments.descended_and_trained": NAMED_RUN,
    "decoder_experiments.antipodal_ladder": NAMED_RUN,
    "decoder_experiments.ladder": NAMED_RUN,
    "decoders.iterates": STEPS,
    "devices.resolve_device": "a name or a device, in test_devices",
    "exact_gradients.batch_gradient": TENSORS,
    "exact_gradients.prepared": TENSORS,
    "experiments.batches": STEPS,
    "experiments.critical_point": NAMED_RUN,
    "experiments.descended_rug": NAMED_RUN,
    "experiments.gaussian_autoencoder": NAMED_RUN,
    "experiments.phase_cell": NAMED_RUN,
    "experiments.stopped_autoencoder": NAMED_RUN,
    "experiments.trained_autoencoder": NAMED_RUN,
    "experiments.trained_by": NAMED_RUN,
    "finite_data.trained_on": NAMED_RUN,
    "frequencies_experiments.unequal_autoencoder": NAMED_RUN,
    "gated_experiments.other_marginal": NAMED_RUN,
    "gated_experiments.trained_fields": NAMED_RUN,
    "gated_training.relu_with_linear_pathway": STEPS,
    "gaussian_training.closed_form_loss": TENSORS,
    "gaussian_training.continue_training": TENSORS,
    "gaussian_training.train": TENSORS,
    "gaussian_training.train_on_samples": TENSORS,
    "interference.triples": "takes a rug alone",
    "landscape.network_loss": STEPS,
    "landscape.score": STEPS,
    "landscape_experiments.branches": NAMED_RUN,
    "landscape_experiments.copies": STEPS,
    "landscape_experiments.describe": STEPS,
    "landscape_experiments.flow": STEPS,
    "landscape_experiments.many_width": NAMED_RUN,
    "landscape_experiments.one_width": NAMED_RUN,
    "landscape_experiments.sampled_loss": STEPS,
    "landscape_experiments.settle": STEPS,
    "landscape_experiments.template_cosines": STEPS,
    "many_experiments.extents": STEPS,
    "many_experiments.filter_power": STEPS,
    "many_experiments.frozen_gates": NAMED_RUN,
    "many_experiments.hundred": NAMED_RUN,
    "many_experiments.pulse_fields": NAMED_RUN,
    "many_experiments.torus_batches": STEPS,
    "many_experiments.torus_field": NAMED_RUN,
    "many_features.warn_if_crowded": STEPS,
    "meanfield.best_gain": STEPS,
    "minima.lowest": "takes functions",
    "mixtures.lower_hull": STEPS,
    "model.load": "takes a path, in test_training",
    "model.save": TENSORS,
    "moments.moment": STEPS,
    "moments.moment_direct": STEPS,
    "moments.moment_tail": STEPS,
    "moments.piecewise": STEPS,
    "moments.ramp_moment": STEPS,
    "noise_experiments.description": TENSORS,
    "noise_experiments.example": TENSORS,
    "noise_experiments.trained_under_noise": NAMED_RUN,
    "optimise.adam": TENSORS,
    "optimise.by_autograd": TENSORS,
    "predicted.best_field": STEPS,
    "predicted.descend": STEPS,
    "predicted.starting_fields": STEPS,
    "placing.draw": "takes a diagnosis, in test_placing",
    "price.balanced": "takes a code alone",
    "protocol_experiments.tried_protocol": NAMED_RUN,
    "sign_experiments.shuffled_signs": NAMED_RUN,
    "thomson.sum_of_parts": "takes any number of matrices, in test_thomson",
    "tight_frames.checked_sizes": STEPS,
    "tile_search.descend": TENSORS,
    "tile_search.draw": TENSORS,
    "tile_search.first_weights": TENSORS,
    "tile_search.search": "a search of minutes; its sizes in test_tile_search",
    "tiles.optimum": "a search of a second; its sizes are those of tiles.rug, which has a call",
    "tilings.best_tile": TENSORS,
    "tilings.least_variation": TENSORS,
    "tilings.network_outputs": TENSORS,
    "tilings.variation": TENSORS,
    "training.affordable_steps": "answers in seconds of this machine, another number each time",
    "training.checked_settings": STEPS,
    "training.draw": TENSORS,
    "training.evaluate": TENSORS,
    "training.forward": TENSORS,
    "training.initial_weights": TENSORS,
    "weights.fitting": "takes a mapping, in test_weights",
    "weights.load": "takes a path, in test_weights",
}


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


@pytest.mark.parametrize(("function", "call"), CALLS, ids=[title(function) for function, _ in CALLS])
def test_odd_input_is_refused_or_gives_the_float64_result(function, call):
    name = title(function).split(".")[-1]
    assert list(breaches(function, call, nan_at=NAN.get(name, ()))) == []
