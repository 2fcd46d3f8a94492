"""The contract on input: a refusal that names the parameter, or the result of the same numbers in float64."""

import dataclasses
import inspect
import re
import warnings
import zlib

import numpy as np

LONGEST = 400  # characters of a refusal, however long the value was

# What no function can mean by a number, an array or a name.
ODD = {
    "nan": np.nan,
    "inf": np.inf,
    "None": None,
    "text": "a text" * 1000,
    "number in a text": "0.5",
    "complex": 1j,
    "complex array": np.array([[1.0 + 1j]]),
    "nan in an array": np.array([[np.nan, 1.0]]),
    "ragged": [*[[1.0]] * 1000, [1.0, 2.0]],
    "empty": [],
    "four axes": np.ones((2, 1, 3, 2)),
    "dict": {},
    "bool": True,
    "negative": -1,
    "fraction": 2.5,
    "huge": 1e308,
    "huge and whole": 10**400,
    "tiny": 1e-320,
    "array of None": np.array([None] * 1000),
}

# A call that these accept takes a tenth of a second to ten, as they search, train or simulate: `make test-more`
DEAR = {
    "autoencoder.diagnose", "best_map.best_along", "best_map.best_known", "border.superposition_border",
    "budgets.candidate_codes", "chains.chain_code", "collision_constant.isotropic_pairs", "coupled.coupled_evolution",
    "crowds.best_crowd", "crowds.steepest_pair", "exact_losses.best_decoder", "families.best_pair",
    "finite_rugs.rug_loss", "layered_tiles.layered_tile", "mixtures.dropping_ratio", "mixtures.hull", "mixtures.hulls",
    "optima.best_scale", "optima.minimise", "priced_dictionaries.border_price",
    "priced_dictionaries.least_priced_loss", "public_protocol.train_as_published",
    "public_protocol.train_as_published_on_device", "record_verifier.check_record", "scaling.half_ratio",
    "step_noise.descend_to_level", "survey.survey_files", "tempered.tuned_code", "tile_search.search_tile",
    "training.train_grouped", "yardsticks.ceilings",
}  # fmt: skip

# What is no object of the library, where one is wanted
STRANGERS = {"number": 3.0, "text": "a text", "list": [None]}

# What is no number anywhere is refused under the parameter's own name; a name may go by what it names.
NO_NUMBER = ("nan", "None", "complex", "dict", "masked")
OTHER_WORD = {"name"}


def same_in_other_clothes(value):
    """The same numbers as a list, in float32 where that holds them, without axes, and whole ones as a numpy scalar."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
        yield "list", value.tolist()
    if isinstance(value, float):
        yield "without axes", np.array(value)
        if float(np.float32(value)) == value:
            yield "float32", np.float32(value)
    if isinstance(value, int) and not isinstance(value, bool):
        yield "numpy scalar", np.int64(value)
        yield "without axes", np.array(float(value))
        yield "whole float", float(value)


def numbers(result):
    """All numbers of a result, one array each, whatever it is wrapped in."""
    if isinstance(result, (float, int, np.ndarray, np.generic)):
        return [np.asarray(result)]
    if isinstance(result, dict):
        result = list(result.values())
    if dataclasses.is_dataclass(result):
        result = [getattr(result, field.name) for field in dataclasses.fields(result) if not field.name.startswith("_")]
    if isinstance(result, (list, tuple)):
        return [found for part in result for found in numbers(part)]
    return [np.asarray(result.detach())] if hasattr(result, "detach") else []


def masked(value):
    """Numbers of which the first is masked."""
    return np.ma.masked_array(value, np.arange(value.size).reshape(value.shape) == 0)


def in_house(refusal):
    """Whether an error names a parameter and says what is allowed; where two do not fit, it may name the other."""
    if len(str(refusal)) > LONGEST:
        return False
    return re.match(r"[\w, ]+\b.*; allowed: ", str(refusal)) is not None or "the periodic kernel" in str(refusal)


def broken(function, call, name, value, by_name):
    """What is wrong with the answer to one odd value, None if nothing is; a refusal may have to be by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            with np.errstate(all="ignore"):
                result = function(**{**call, name: value})
        except ValueError as refusal:
            if by_name and not re.search(rf"\b{name}\b", str(refusal)):
                return f"refused under another name: {refusal}"
            return None if in_house(refusal) else f"no refusal of ours: {refusal}"
        except FloatingPointError:  # a training that diverges says so
            return None
        except RuntimeError as missed:  # so does a search
            return None if str(missed).startswith("the search ended") else f"RuntimeError: {missed}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    if np.ma.is_masked(value):
        return "its mask is lost"
    bad = [found for found in numbers(result) if found.dtype.kind in "fc" and np.isnan(found).any()]
    return "nan" if bad else None


def differs(function, call, expected, name, value):
    """Whether the same number in other clothes gives another result, or an error that is no refusal."""
    try:
        found = numbers(function(**{**call, name: value}))
    except ValueError as refusal:
        return None if in_house(refusal) else f"no refusal of ours: {refusal}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    apart = [distance(a, b) for a, b in zip(expected, found, strict=True)]
    # where an array lies in memory may decide the order of a sum: 1e-12 is far below what float32 would lose, 1e-8
    return None if max(apart, default=0) < 1e-12 else f"another result, by {max(apart):.2g} of the largest number"


def distance(one, other):
    """How far apart two arrays of numbers are, in units of the largest; 0 where the bits are equal."""
    floating = one.dtype.kind == "f"
    if np.array_equal(one, other, equal_nan=floating):
        return 0.0
    if not floating or one.shape != other.shape or not np.array_equal(np.isfinite(one), np.isfinite(other)):
        return np.inf
    with np.errstate(all="ignore"):
        apart, finite = np.abs(one - other), np.isfinite(one)
    alike = np.array_equal(one[~finite], other[~finite], equal_nan=True)
    return float(apart[finite].max() / np.abs(one[finite]).max()) if alike else np.inf


def is_drawn(title, name, what):
    """Whether an odd value of a parameter is of those that `make test` tries: what is no number, and a third of all."""
    return what in NO_NUMBER or zlib.crc32(f"{title} {name} {what}".encode()) % 3 == 0


GIVEN = {}  # what functions give, with both, by their ids: for the drawn odd values and for all others


def given(function, call):
    """The numbers that a call gives, computed once."""
    place = id(function), id(call)
    if place not in GIVEN:
        GIVEN[place] = function, call, numbers(function(**call))
    return GIVEN[place][-1]


def breaches(function, call, *, drawn, nan_at=()):
    """Breaches of the contract by one function at the drawn odd values, or at all others, as sentences.

    There is nan only for odd values at which it is promised.
    """
    expected, mine = given(function, call), title(function)
    for name, base in call.items():
        if type(base).__module__.startswith("superposition"):
            for what, value in STRANGERS.items():
                if drawn and (wrong := broken(function, call, name, value, True)):
                    yield f"{name} = {what}: {wrong}"
            continue
        if callable(base) or isinstance(base, bool):
            continue
        arrays = {"masked": masked(base)} if isinstance(base, np.ndarray) and base.dtype.kind in "iuf" else {}
        for what, value in {**ODD, **arrays}.items():
            if value is None and inspect.signature(function).parameters[name].default is None:
                continue  # what a call without it means, and often the dearest
            if is_drawn(mine, name, what) != drawn:
                continue
            wrong = broken(function, call, name, value, what in NO_NUMBER and name not in OTHER_WORD)
            if wrong != ("nan" if f"{name} = {what}" in nan_at else None):
                yield f"{name} = {what}: {wrong or 'no nan, which was promised'}"
        for what, value in same_in_other_clothes(base):
            if is_drawn(mine, name, what) == drawn and (wrong := differs(function, call, expected, name, value)):
                yield f"{name} as {what}: {wrong}"


def title(function):
    """Where a function is, for the name of a test."""
    code = inspect.unwrap(function)
    return f"{code.__module__.split('.')[-1]}.{code.__qualname__.split('.')[-1]}"
