"""The parameters of the chapters: closed, typed, and refused in one sentence."""

import ast
import difflib
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationError

from superposition import checks
from superposition.book import running
from superposition.book.chapter import AtLeastOne, Chapter, Device, Minutes, Ratios, hidden_sizes
from superposition.book.parameters_beyond import (  # noqa: F401  # pages find all of them here
    Ands,
    BelowTheFan,
    BestCodes,
    Coupled,
    Decoders,
    Depth,
    Dictionaries,
    Frequencies,
    KeptCompany,
    Narrow,
    NeverMeet,
    Phases,
    PlanePairs,
    RealNetwork,
    SearchedCodes,
    Together,
)
from superposition.inputs import Count, Even, Features, Real, Seed, Steps, UpTo, allowed

LARGE = 1024  # features, or neurons: below, two threads took longer than one (measured)


class ParameterError(ValueError):
    """A parameter that a chapter cannot run with; a notebook shows the sentence alone."""

    def _render_traceback_(self):
        return [f"{type(self).__name__}: {self}"]


class LossScaling(Chapter):
    """Parameters of chapter 3."""

    ns: Features = 256
    p: Annotated[Real, Field(ge=1e-3, le=1)] = 0.05
    ratios: Ratios = (0.1, 0.2, 0.3, 0.5, 0.75)
    steps: Steps = 400
    minutes: Minutes = 4.0
    seed: Seed = 0
    device: Device = "auto"
    nds = property(hidden_sizes)


class Training(Chapter):
    """Parameters of the page on training."""

    ns: Annotated[Count, Field(ge=16, le=4096)] = 128
    p: Annotated[Real, Field(ge=1e-3, le=1)] = 0.05
    ratios: Annotated[tuple[Annotated[Real, Field(gt=0, lt=1)], ...], *AtLeastOne] = (0.1, 0.2, 0.3, 0.5, 0.75)
    steps: Steps = 500
    seed: Seed = 1
    device: Device = "auto"
    nds = property(hidden_sizes)


class Recipe(Chapter):
    """Parameters of the page on the rule for training."""

    ns: Annotated[Count, Field(ge=16, le=2**14)] = 4096
    nd: Annotated[Count, Field(ge=1), AfterValidator(UpTo("ns", "ns"))] = 2048
    p: Annotated[Real, Field(ge=1e-3, le=1)] = 0.05


class Activations(Chapter):
    """Parameters of the page on activations other than the ReLU."""

    r: Annotated[Real, Field(ge=0.05, le=0.9)] = 0.2
    draws: Annotated[Count, Field(ge=2, le=1000)] = 6
    seed: Seed = 9


class ToyModels(Chapter):
    """Parameters of chapter 1."""

    n: Annotated[Count, Field(ge=1, le=6)] = 5
    m: Annotated[Count, Field(ge=1), AfterValidator(UpTo("n", "n"))] = 2
    sparsities: Annotated[tuple[Annotated[Real, Field(ge=0, lt=1)], ...], *AtLeastOne] = (0.0, 0.5, 0.7, 0.8, 0.9, 0.97)
    decay: Annotated[Real, Field(gt=0, le=10)] = 0.9
    instances: Annotated[Count, Field(ge=1, le=1000)] = 12
    steps: Steps = 1500
    seed: Seed = 0
    device: Device = "auto"


class Packing(Chapter):
    """Parameters of the page on packing features."""

    starts: Annotated[Count, Field(ge=5, le=1000)] = 40
    seed: Seed = 7


class Border(Chapter):
    """Parameters of the page on where superposition begins."""

    instances: Annotated[Count, Field(ge=2, le=1000)] = 8
    steps: Steps = 600
    seed: Seed = 1
    device: Device = "auto"


class LowerBound(Chapter):
    """Parameters of chapter 2."""

    ns: Annotated[Count, Field(ge=2**14, le=2**24)] = 2**20
    p: Annotated[Real, Field(ge=0.01, le=1)] = 0.05
    r: Annotated[Real, Field(ge=0.05, le=0.9)] = 0.2
    samples: Annotated[Count, Field(ge=32, le=10**5)] = 32
    seed: Seed = 0
    device: Device = "auto"


class SameNoise(Chapter):
    """Parameters of the page on rugs with the same noise."""

    ns: Annotated[Count, Field(ge=2**14, le=2**24)] = 2**20
    p: Annotated[Real, Field(ge=0.01, le=1)] = 0.05
    r: Annotated[Real, Field(ge=0.05, le=0.9)] = 0.2
    samples: Annotated[Count, Field(ge=32, le=10**5)] = 32
    seed: Seed = 0


class Bounds(Chapter):
    """Parameters of the page on the bounds behind chapter 3."""

    p: Annotated[Real, Field(ge=1e-12, le=0.99)] = 0.05
    sigma: Annotated[Real, Field(ge=1e-4, le=0.25)] = 0.05
    t: Annotated[Real, Field(ge=0.1, le=8)] = 2.0
    samples: Annotated[Count, Field(ge=1000, le=2 * 10**6)] = 10**6
    seed: Seed = 0


class TextFigures(Chapter):
    """Parameters of the page on the stopping rule and on the text's Figures 3 to 7."""

    r: Annotated[Real, Field(ge=0.05, le=0.9)] = 0.254
    steps: Steps = 700
    seed: Seed = 0
    device: Device = "auto"


class Sparsification(Chapter):
    """Parameters of chapter 4, first half."""

    m: Annotated[Count, Field(ge=2, le=10**8)] = 100_000
    lambda_: Annotated[Real, Field(ge=1e-9, le=0.3)] = 1e-5
    seed: Seed = 0


class Collisions(Chapter):
    """Parameters of chapter 4, second half."""

    n: Annotated[Count, Field(ge=2, le=256)] = 48
    neurons: Annotated[Count, Field(ge=2, le=4096)] = 96
    strength: Annotated[Real, Field(ge=1e-3, le=0.1)] = 0.01
    seed: Seed = 0
    device: Device = "auto"


class Kurtosis(Chapter):
    """Parameters of chapter 5, first half."""

    sigma: Annotated[Real, Field(ge=0.13, le=0.2)] = 0.13
    noises: Annotated[Count, Field(ge=4, le=100)] = 8
    seed: Annotated[Count, Field(ge=0, le=2**31)] = 0
    device: Device = "auto"


class Cumulants(Chapter):
    """Parameters of chapter 5, second half."""

    n: Annotated[Count, Field(ge=2, le=32)] = 8
    m: Annotated[Count, Field(ge=2, le=64)] = 16
    sigma: Annotated[Real, Field(ge=0, le=1)] = 0.1
    eta: Annotated[Real, Field(gt=0, le=0.2)] = 0.05
    steps: Annotated[Count, Field(ge=100, le=10**7)] = 40_000
    instances: Annotated[Count, Field(ge=2, le=1000)] = 8
    seed: Annotated[Count, Field(ge=0, le=2**31)] = 0
    device: Device = "auto"


class GaussianFlow(Chapter):
    """Parameters of the page on one neuron and Gaussian data."""

    xi1: Annotated[Real, Field(ge=0.8, le=3)] = 2.0
    xi2: Annotated[Real, Field(ge=0.4), AfterValidator(UpTo("0.9 xi1", "xi1", Fraction(9, 10)))] = 1.0
    steps: Annotated[Count, Field(ge=50, le=10**5)] = 2000
    seed: Annotated[Count, Field(ge=0, le=10**6)] = 0
    device: Device = "auto"


class ReluFlow(Chapter):
    """Parameters of the pages on squashed pixels: which gates win, the critical gain, and chapter 11."""

    n: Annotated[Count, Field(ge=12, le=120), AfterValidator(Even("odd numbers have no alternating field"))] = 40
    # exp(-d^2 / xi^2) has a kink half way round: at n / 11 it is worth 1e-13, and the kernel still is a covariance
    xi1: Annotated[Real, Field(ge=0.8), AfterValidator(UpTo("n / 11", "n", Fraction(1, 11)))] = 2.0
    xi2: Annotated[Real, Field(ge=0.4), AfterValidator(UpTo("0.9 xi1", "xi1", Fraction(9, 10)))] = 1.0
    gain: Annotated[Real, Field(ge=0.01, le=100)] = 3.0
    steps: Annotated[Count, Field(ge=50, le=10**5)] = 600
    seed: Annotated[Count, Field(ge=0, le=10**6)] = 0
    device: Device = "auto"


class Gates(Chapter):
    """Parameters of chapter 6."""

    n: Annotated[Count, Field(ge=32, le=128)] = 40
    xi1: Annotated[Real, Field(ge=0.3, le=3)] = 2.0
    xi2: Annotated[Real, Field(ge=0.3, le=3)] = 1.0
    gain: Annotated[Real, Field(ge=0.01, le=100)] = 3.0
    K: Annotated[Count, Field(ge=1, le=32)] = 12
    samples: Annotated[Count, Field(ge=1000, le=200000)] = 20000
    steps: Steps = 5000
    seed: Seed = 0


class Headings(Chapter):
    """Parameters of the page on the experiments of chapter 6."""

    gain: Annotated[Real, Field(ge=1, le=100)] = 3.0
    steps: Annotated[Count, Field(ge=50, le=10**5)] = 600
    seed: Annotated[Count, Field(ge=0, le=10**6)] = 0
    device: Device = "auto"


def check(namespace: Mapping[str, object], model: type[Chapter]) -> Chapter:
    """Check the parameters cell of a chapter, and what papermill injected after it.

    Where the chapter trains, torch keeps its threads for large networks, and one for others.

    Parameters
    ----------
    namespace : dict
        The notebook's ``globals()``.
    model : type
        A subclass of `Chapter`.

    Returns
    -------
    Chapter
        The checked parameters.

    Raises
    ------
    ParameterError
        If a name is unknown or a value is not allowed; the message has the name, its value and what is allowed.
    """
    known = model.model_fields
    injected = list(_injected_names(running.cells(namespace)))
    for name in injected:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0)[0]
            raise ParameterError(f"{name} is no parameter of this chapter; nearest: {near}; all: {', '.join(known)}")
    missing = [name for name in known if name not in namespace]
    if missing:
        raise ParameterError(f"{missing[0]} is missing from the parameters cell; all: {', '.join(known)}")
    try:
        par = model(**{name: namespace[name] for name in known})  # pyrefly: ignore[bad-argument-type]: what the model checks
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        sentence = _sentence(name, namespace[name], known[name], first)
        if name not in injected and (other := _end_from(known[name], injected)):
            sentence = f"{other} = {checks.shown(namespace[other])} does not go with {name}: {sentence}"
        raise ParameterError(sentence) from None
    if {"device", "steps"} & set(known):
        _divide_work(par)
    running.say_whose(par)
    return par


def _divide_work(par):
    """Give large networks all of torch's threads, and others one; the chapters' threads sleep while they wait."""
    torch, threads = _torch_and_its_threads()
    torch.set_num_threads(threads if max(getattr(par, name, 0) for name in ("ns", "neurons")) >= LARGE else 1)


@cache
def _torch_and_its_threads():
    """Torch, and its number of threads before the first chapter."""
    from superposition.devices import torch

    return torch, torch.get_num_threads()


def _sentence(name, value, field, problem):
    reason = str(problem["ctx"]["error"]) if problem["type"] == "value_error" else ""
    if name == "device" and reason:
        return reason
    refusal = f"{name} = {checks.shown(value)} is not allowed; allowed: {allowed(field)}"
    return f"{refusal}; {reason}" if reason else refusal


def _end_from(field, injected):
    """The injected name that an end of a field's range depends on; None if there is none."""
    others = (getattr(getattr(one, "func", None), "other", None) for one in field.metadata)
    return next((other for other in others if other in injected), None)


def _injected_names(cells):
    """Names that papermill set: its cell begins with the comment "# Parameters"."""
    for source in cells:
        if source.startswith("# Parameters\n"):
            for statement in ast.parse(source).body:
                if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                    yield from (target.id for target in targets if isinstance(target, ast.Name))
