"""The settings of every module are what was stored: defaults of functions, methods and fields, and constants.

They say what a caller gets who asks for nothing, how fine a grid is, where a search begins or ends, and which runs use
a device. Whether they are good, the other tests say, each at its own arguments; this one says that none moved unasked.
After a change that was meant: ``python tests/test_settings.py`` stores anew, and names what is other.
"""

import dataclasses
import hashlib
import importlib
import inspect
import json
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

for needed in ("torch", "pydantic", "matplotlib"):
    pytest.importorskip(needed)
import defprint  # noqa: E402
import superposition  # noqa: E402
from superposition import runs  # noqa: E402

STORED = Path(__file__).with_name("settings.json")
MEND = "run `python tests/test_settings.py` if that was meant"
SHORT = 80  # characters; of what is longer, a digest is stored
# Said elsewhere, or by Python, or a state that running a page in the same process leaves behind
APART = ("TYPE_CHECKING", "_fields", "_field_defaults", "_watching")


def said(value):
    """A value in words that any machine gives, or None for what is no setting."""
    if value is None or isinstance(value, (bool, str, int)):
        return repr(value)
    if isinstance(value, (float, complex, np.generic)):
        return f"{value:.10g}" if not isinstance(value, (np.str_, np.bool_)) else str(value)
    if isinstance(value, np.ndarray):
        return f"array {value.shape} {said(value.ravel().tolist())}"
    if isinstance(value, re.Pattern):
        return f"{value.pattern!r} {value.flags}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return said({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    if isinstance(value, dict):
        return "{" + ", ".join(f"{said(key)}: {said(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(map(str, map(said, value)))) + "}"
    if isinstance(value, (tuple, list, range)):
        return "[" + ", ".join(str(said(one)) for one in value) + "]"
    return value.__name__ if inspect.isfunction(value) or isinstance(value, type) else None


def short(text):
    return text if len(text) <= SHORT else f"{text[: SHORT // 2]}… {hashlib.sha256(text.encode()).hexdigest()[:12]}"


def modules():
    """Every module of the library by its name."""
    for package in (superposition, defprint):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield found.name, importlib.import_module(found.name)


def own(holder, name):
    """What a module or a class holds and has from nobody else."""
    for key, value in vars(holder).items():
        home = getattr(value, "__module__", None)
        if not key.startswith("__") and not inspect.ismodule(value) and (home is None or home == name):
            yield key, value


def defaults(function):
    """What a function takes where nothing is given."""
    for one in inspect.signature(function).parameters.values():
        if one.default is not one.empty:
            yield one.name, one.default


def settings(holder, name, title):
    """The settings of a module or a class."""
    for key, value in own(holder, name):
        inside = inspect.unwrap(getattr(value, "__func__", value)) if callable(value) else value
        if isinstance(value, type):
            yield from settings(value, name, f"{title}.{key}")
        elif inspect.isfunction(inside):
            yield from ((f"{title}.{key} {parameter}", default) for parameter, default in defaults(inside))
        elif not callable(value) and key not in APART:
            yield f"{title}.{key}", value


def today():
    found = {place: said(value) for name, module in modules() for place, value in settings(module, name, name)}
    found |= {f"{name} takes a device": repr(run.takes_device) for name, run in runs.RUNS.items()}
    return {place: short(value) for place, value in found.items() if value is not None}


def test_settings_are_those_that_are_stored():
    assert today() == json.loads(STORED.read_text()), MEND


def main():
    """Store what is set today, and name what is other."""
    before = json.loads(STORED.read_text()) if STORED.exists() else {}
    found = today()
    STORED.write_text(json.dumps(found, indent=0, ensure_ascii=False) + "\n")
    print("\n".join(sorted(place for place in found.keys() | before.keys() if found.get(place) != before.get(place))))


if __name__ == "__main__":
    main()
