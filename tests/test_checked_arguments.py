"""Every argument of a function that checks its arguments is checked, but for those that are named here."""

import inspect

import pytest
from test_settings import modules

pytest.importorskip("torch")
UNCHECKED = {
    # by `placed`, or by the training that they are handed to
    "codes.exclusive_first.train_exclusive_first device",
    "codes.growing.train_growing device",
    "codes.on_vectors.train_on_vectors device",
    "correlated.training.train_grouped device",
    "frequencies.unequal_training.train_unequal device",
    "frequencies.unequal_training.train_unequal_alive device",
    "toy.training.train_models device",
    # together, in the function itself
    "diagnosis.record_verifier.check_record W",
    "diagnosis.record_verifier.check_record b",
    "diagnosis.record_verifier.check_record nd",
    "diagnosis.record_verifier.measured_record W",
    "diagnosis.record_verifier.measured_record b",
    "diagnosis.record_verifier.measured_record nd",
    "rug.model.row_statistics W",
    "rug.model.row_statistics b",
    "toy.thomson.direct_sum parts",
    # a name, and a function that is called or not
    "incidental.noise_laws.Law.__init__ name",
    "diagnosis.survey.survey_files progress",
}


def functions():
    """Every function and method of the library by its place."""
    for name, module in list(modules()):
        for value in list(vars(module).values()):
            inside = vars(value).values() if inspect.isclass(value) and value.__module__ == name else [value]
            for one in inside:
                if inspect.isfunction(one) and one.__module__ == name:
                    yield f"{name.removeprefix('superposition.')}.{one.__qualname__}", one


def arguments():
    """Each argument of a function that checks its arguments, and whether it has a range."""
    for where, function in functions():
        guarded = inspect.unwrap(function, stop=lambda one: not hasattr(one, "placed"))
        if prepared := inspect.getclosurevars(guarded).nonlocals.get("prepared"):
            _, ranges, _ = prepared.args
            for name in inspect.signature(guarded).parameters:
                if name != "self":
                    yield f"{where} {name}", name in ranges


def test_every_argument_has_a_range():
    found = dict(arguments())
    assert len(found) > 1400
    assert {name for name, ranged in found.items() if not ranged} == UNCHECKED
