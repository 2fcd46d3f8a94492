"""The parameters of the chapters: closed, typed, and refused in one sentence."""

import ast
import difflib
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError


class ParameterError(ValueError):
    """A parameter that a chapter cannot run with; a notebook shows the sentence alone."""

    def _render_traceback_(self):
        return [f"{type(self).__name__}: {self}"]


def _refuse_bool(value):
    if isinstance(value, bool):
        raise ValueError("true and false are no numbers")
    return value


def _ratios(value):
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, (list, tuple)) else [value]
    return sorted({float(part) for part in parts if str(part).strip()})


def _device(value):
    from superposition.devices import resolve_device

    resolve_device(value)
    return value


Count = Annotated[int, BeforeValidator(_refuse_bool)]
Real = Annotated[float, BeforeValidator(_refuse_bool), Field(allow_inf_nan=False)]


class Chapter(BaseModel):
    """What every chapter's parameters have in common: no unknown names, no changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    @property
    def at_defaults(self):
        """Whether every parameter but the device has its default value."""
        return self.model_dump(exclude={"device"}) == type(self)().model_dump(exclude={"device"})


class LossScaling(Chapter):
    """Parameters of chapter 3."""

    ns: Annotated[Count, Field(ge=2, le=16384, description="whole numbers from 2 to 16384")] = 256
    p: Annotated[Real, Field(ge=1e-3, le=1, description="numbers from 0.001 to 1")] = 0.05
    ratios: Annotated[
        tuple[Annotated[Real, Field(gt=0, le=1)], ...],
        BeforeValidator(_ratios),
        Field(min_length=1, description="at least one number above 0 and up to 1, separated by commas"),
    ] = (0.1, 0.2, 0.3, 0.5, 0.75)
    steps: Annotated[Count, Field(ge=1, le=10**6, description="whole numbers from 1 to 1000000")] = 2000
    minutes: Annotated[Real, Field(gt=0, le=10**5, description="numbers above 0 and up to 100000")] = 8.0
    seed: Annotated[Count, Field(ge=0, le=2**32 - 1, description="whole numbers from 0 to 4294967295")] = 0
    device: Annotated[str, BeforeValidator(_device), Field(description="auto, cpu, or cuda where there is one")] = (
        "auto"
    )

    @property
    def nds(self):
        """Hidden dimensions, nd = max(1, round(r ns)) for each ratio, without repetition."""
        return sorted({max(1, round(ratio * self.ns)) for ratio in self.ratios})


def _no_larger_than_n(value, info):
    if "n" in info.data and value > info.data["n"]:
        raise ValueError("more dimensions than features")
    return value


class ToyModels(Chapter):
    """Parameters of chapter 1."""

    n: Annotated[Count, Field(ge=1, le=6, description="whole numbers from 1 to 6")] = 5
    m: Annotated[
        Count, AfterValidator(_no_larger_than_n), Field(ge=1, le=6, description="whole numbers from 1 to n")
    ] = 2
    sparsities: Annotated[
        tuple[Annotated[Real, Field(ge=0, lt=1)], ...],
        BeforeValidator(_ratios),
        Field(min_length=1, description="at least one number from 0 up to below 1, separated by commas"),
    ] = (0.0, 0.5, 0.7, 0.8, 0.9, 0.97)
    decay: Annotated[Real, Field(gt=0, le=10, description="numbers above 0 and up to 10")] = 0.9
    instances: Annotated[Count, Field(ge=1, le=1000, description="whole numbers from 1 to 1000")] = 12
    steps: Annotated[Count, Field(ge=1, le=10**6, description="whole numbers from 1 to 1000000")] = 1500
    seed: Annotated[Count, Field(ge=0, le=2**32 - 1, description="whole numbers from 0 to 4294967295")] = 0
    device: Annotated[str, BeforeValidator(_device), Field(description="auto, cpu, or cuda where there is one")] = (
        "auto"
    )


class LowerBound(Chapter):
    """Parameters of chapter 2."""

    ns: Annotated[Count, Field(ge=2**14, le=2**24, description="whole numbers from 16384 to 16777216")] = 2**20
    p: Annotated[Real, Field(ge=0.01, le=1, description="numbers from 0.01 to 1")] = 0.05
    r: Annotated[Real, Field(ge=0.05, le=0.9, description="numbers from 0.05 to 0.9")] = 0.2
    samples: Annotated[Count, Field(ge=32, le=10**5, description="whole numbers from 32 to 100000")] = 128
    seed: Annotated[Count, Field(ge=0, le=2**32 - 1, description="whole numbers from 0 to 4294967295")] = 0
    device: Annotated[str, BeforeValidator(_device), Field(description="auto, cpu, or cuda where there is one")] = (
        "auto"
    )


class Bounds(Chapter):
    """Parameters of the page on the bounds behind chapter 3."""

    p: Annotated[Real, Field(ge=1e-12, le=0.99, description="numbers from 1e-12 to 0.99")] = 0.05
    sigma: Annotated[Real, Field(ge=1e-4, le=0.25, description="numbers from 0.0001 to 0.25")] = 0.05
    t: Annotated[Real, Field(ge=0.1, le=8, description="numbers from 0.1 to 8")] = 2.0
    samples: Annotated[Count, Field(ge=1000, le=2 * 10**6, description="whole numbers from 1000 to 2000000")] = 10**6
    seed: Annotated[Count, Field(ge=0, le=2**32 - 1, description="whole numbers from 0 to 4294967295")] = 0


class BeyondTheRug(Chapter):
    """Parameters of the page on what beats the rug."""

    ns: Annotated[Count, Field(ge=16, le=4096, description="whole numbers from 16 to 4096")] = 256
    p: Annotated[Real, Field(ge=1e-3, le=1, description="numbers from 0.001 to 1")] = 0.05
    ratios: Annotated[
        tuple[Annotated[Real, Field(gt=0, lt=1)], ...],
        BeforeValidator(_ratios),
        Field(min_length=1, description="at least one number above 0 and below 1, separated by commas"),
    ] = (0.2, 0.3, 0.5)
    steps: Annotated[Count, Field(ge=1, le=10**6, description="whole numbers from 1 to 1000000")] = 1000
    minutes: Annotated[Real, Field(gt=0, le=10**5, description="numbers above 0 and up to 100000")] = 5.0
    seed: Annotated[Count, Field(ge=0, le=2**32 - 1, description="whole numbers from 0 to 4294967295")] = 0
    device: Annotated[str, BeforeValidator(_device), Field(description="auto, cpu, or cuda where there is one")] = (
        "auto"
    )

    @property
    def nds(self):
        """Hidden dimensions, nd = max(1, round(r ns)) for each ratio, without repetition."""
        return sorted({max(1, round(ratio * self.ns)) for ratio in self.ratios})


class Sparsification(Chapter):
    """Parameters of chapter 4."""

    m: Annotated[Count, Field(ge=2, le=10**8, description="whole numbers from 2 to 100000000")] = 100_000
    lambda_: Annotated[Real, Field(ge=1e-9, le=0.3, description="numbers from 0.000000001 to 0.3")] = 1e-5
    n: Annotated[Count, Field(ge=2, le=256, description="whole numbers from 2 to 256")] = 48
    neurons: Annotated[Count, Field(ge=2, le=4096, description="whole numbers from 2 to 4096")] = 96
    strength: Annotated[Real, Field(ge=1e-3, le=0.1, description="numbers from 0.001 to 0.1")] = 0.01
    seed: Annotated[Count, Field(ge=0, le=2**32 - 1, description="whole numbers from 0 to 4294967295")] = 0
    device: Annotated[str, BeforeValidator(_device), Field(description="auto, cpu, or cuda where there is one")] = (
        "auto"
    )


class Kurtosis(Chapter):
    """Parameters of chapter 5."""

    n: Annotated[Count, Field(ge=2, le=32, description="whole numbers from 2 to 32")] = 8
    m: Annotated[Count, Field(ge=2, le=64, description="whole numbers from 2 to 64")] = 16
    sigma: Annotated[Real, Field(ge=0, le=1, description="numbers from 0 to 1")] = 0.1
    eta: Annotated[Real, Field(gt=0, le=0.2, description="numbers above 0 and up to 0.2")] = 0.02
    steps: Annotated[Count, Field(ge=100, le=10**7, description="whole numbers from 100 to 10000000")] = 100_000
    instances: Annotated[Count, Field(ge=2, le=1000, description="whole numbers from 2 to 1000")] = 8
    seed: Annotated[Count, Field(ge=0, le=2**31, description="whole numbers from 0 to 2147483648")] = 0
    device: Annotated[str, BeforeValidator(_device), Field(description="auto, cpu, or cuda where there is one")] = (
        "auto"
    )


def _even(value):
    if isinstance(value, int) and value % 2:
        raise ValueError("odd numbers have no alternating field")
    return value


def _narrow(value, info):
    # exp(-d^2 / xi^2) has a kink half way round: at n / 11 it is worth 1e-13, and the kernel still is a covariance
    if "n" in info.data and value > info.data["n"] / 11:
        raise ValueError("too wide for the ring")
    return value


def _shorter(value, info):
    if "xi1" in info.data and value > 0.9 * info.data["xi1"]:
        raise ValueError("not shorter than xi1")
    return value


class ReluFlow(Chapter):
    """Parameters of chapter 6, first half."""

    n: Annotated[
        Count, Field(ge=12, le=120), AfterValidator(_even), Field(description="even numbers from 12 to 120")
    ] = 40
    xi1: Annotated[Real, Field(ge=0.8), AfterValidator(_narrow), Field(description="numbers from 0.8 to n / 11")] = 2.0
    xi2: Annotated[Real, Field(ge=0.4), AfterValidator(_shorter), Field(description="numbers from 0.4 to 0.9 xi1")] = (
        1.0
    )
    gain: Annotated[Real, Field(ge=0.01, le=100, description="numbers from 0.01 to 100")] = 3.0
    steps: Annotated[Count, Field(ge=50, le=10**5, description="whole numbers from 50 to 100000")] = 600
    seed: Annotated[Count, Field(ge=0, le=10**6, description="whole numbers from 0 to 1000000")] = 0
    device: Annotated[str, BeforeValidator(_device), Field(description="auto, cpu, or cuda where there is one")] = (
        "auto"
    )


class Gates(Chapter):
    """Parameters of the second half of chapter 6."""

    n: Annotated[Count, Field(ge=32, le=128, description="whole numbers from 32 to 128")] = 40
    xi1: Annotated[Real, Field(ge=0.3, le=3, description="numbers from 0.3 to 3")] = 2.0
    xi2: Annotated[Real, Field(ge=0.3, le=3, description="numbers from 0.3 to 3")] = 1.0
    gain: Annotated[Real, Field(ge=0.01, le=100, description="numbers from 0.01 to 100")] = 3.0
    K: Annotated[Count, Field(ge=1, le=32, description="whole numbers from 1 to 32")] = 12
    samples: Annotated[Count, Field(ge=1000, le=200000, description="whole numbers from 1000 to 200000")] = 20000
    steps: Annotated[Count, Field(ge=1, le=10**6, description="whole numbers from 1 to 1000000")] = 5000
    seed: Annotated[Count, Field(ge=0, le=2**32 - 1, description="whole numbers from 0 to 4294967295")] = 0


def check(namespace, model):
    """Check the parameters cell of a chapter, and what papermill injected after it.

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
        If a name is unknown or a value is not allowed: which one, what it was, what is allowed.
    """
    known = model.model_fields
    for name in _injected_names(namespace.get("In", [])):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0)[0]
            raise ParameterError(f"{name} is no parameter of this chapter; nearest: {near}; all: {', '.join(known)}")
    missing = [name for name in known if name not in namespace]
    if missing:
        raise ParameterError(f"{missing[0]} is missing from the parameters cell; all: {', '.join(known)}")
    try:
        return model(**{name: namespace[name] for name in known})
    except ValidationError as error:
        first = error.errors()[0]
        name = first["loc"][0]
        raise ParameterError(_sentence(name, namespace[name], known[name].description, first)) from None


def _sentence(name, value, allowed, problem):
    if name == "device" and problem["type"] == "value_error":
        return str(problem["ctx"]["error"])
    return f"{name} = {value!r} is not allowed; allowed: {allowed}"


def _injected_names(history):
    """Names that papermill set: its cell begins with the comment "# Parameters"."""
    for source in history:
        if source.startswith("# Parameters\n"):
            for statement in ast.parse(source).body:
                if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                    yield from (target.id for target in targets if isinstance(target, ast.Name))
