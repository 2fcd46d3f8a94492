"""A function hands on what it has: an argument under the name that what it calls has for it, too.

Otherwise the default of the other function is taken without a word, and where that is the usual value, no number
shows it. What is meant to differ is listed.
"""

import ast
import importlib
import inspect
from collections import Counter
from functools import cache

import pytest
import superposition
from test_settings import modules

pytest.importorskip("torch")
NAME = f"{superposition.__name__}."
MEANT = {
    "decoders.dictionary_training.train_batch_topk calls adam without schedule",  # its own is of the prices
    "decoders.dictionary_training.train_saes calls adam without schedule",
    "diagnosis.autoencoder.diagnose calls clustering without seed",  # of the features it looks at, always the same
    "experiments.crowds.clones calls batches without device",  # fresh vectors, for numpy
    "experiments.predicted_fields.branches calls predicted_fields without steps",  # its own are of a training
    "experiments.predicted_fields.many_width calls predicted_fields without steps",
    "experiments.toy.phase_cell calls minimise without seed",  # no start there is random
    "experiments.trained_fields.sign_flips calls batches without device",  # fresh vectors, for numpy
    "ranges.group_exists calls batch_fits without p",  # the vectors are dense
    "receptive.ranges.hermite_ratios calls shown without most",  # its own is a ratio, the other of letters
    "rug.device_training.train_on_device calls training_settings without products",  # its own settings have them
    "rug.training.affordable_steps calls _step_seconds without steps",  # which times a few
}


def imported(function):
    """What a function imports from the library within itself, by name."""
    for node in ast.walk(function):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(superposition.__name__):
            module = importlib.import_module(node.module)
            yield from ((one.asname or one.name, getattr(module, one.name, None)) for one in node.names)


def meant_by(called, function, known, deep=0):
    """The functions that an expression may name: of the module, imported, or one of two by a condition."""
    if isinstance(called, ast.IfExp):
        return meant_by(called.body, function, known, deep) + meant_by(called.orelse, function, known, deep)
    if isinstance(called, ast.Attribute):
        owners = meant_by(called.value, function, known, deep)
        found = [
            getattr(one, called.attr, None) for one in owners if inspect.ismodule(one) or called.attr == "unchecked"
        ]
        return [one for one in found if one is not None]
    if not isinstance(called, ast.Name):
        return []
    given = [node.value for node in ast.walk(function) if isinstance(node, ast.Assign)
             and isinstance(node.targets[0], ast.Name) and node.targets[0].id == called.id]  # fmt: skip
    if given and deep < 2:
        return [one for value in given for one in meant_by(value, function, known, deep + 1)]
    return [known[called.id]] if known.get(called.id) is not None and not given else []


@cache
def parameters(function):
    """The names of a function of the library, in their order; none if it takes any number."""
    if not (getattr(function, "__module__", None) or "").startswith(superposition.__name__) or inspect.isclass(
        function
    ):
        return ()
    found = inspect.signature(function).parameters.values() if callable(function) else ()
    return () if any(one.kind is one.VAR_POSITIONAL for one in found) else tuple(one.name for one in found)


def named(call, function):
    """The names that a call gives to arguments, also those of a dictionary that is written out; else None."""
    written = {
        node.targets[0].id: {getattr(key, "value", None) for key in node.value.keys}
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Dict)
    }
    found = [{one.arg} if one.arg else written.get(ast.unparse(one.value), {None}) for one in call.keywords]
    names = set().union(*found)
    return None if None in names else names


def calls(name, module):
    """Each argument of a function that what it calls takes under the same name, and whether it is handed on."""
    for function in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(function, ast.FunctionDef):
            own = {one.arg for one in function.args.args + function.args.kwonlyargs}
            own -= {"device"} if "placed" in map(ast.unparse, function.decorator_list) else set()
            known = {**vars(module), **dict.fromkeys(own), **dict(imported(function))}
            for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
                keywords = named(call, function)
                if keywords is None or any(isinstance(one, ast.Starred) for one in call.args):
                    continue
                for other in meant_by(call.func, function, known):
                    names = parameters(other)
                    given = {*names[: len(call.args)], *keywords}
                    for one in own & set(names):
                        where = f"{name.removeprefix(NAME)}.{function.name} calls {other.__name__}"
                        yield f"{where} without {one}", one in given


@pytest.mark.thorough
def test_arguments_are_handed_on_under_their_names():
    found = [one for name, module in list(modules()) if name.startswith(NAME) for one in calls(name, module)]
    assert len(found) > 3000
    assert Counter(sentence for sentence, handed in found if not handed) == Counter(MEANT)  # each once
