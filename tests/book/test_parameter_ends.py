"""Every parameter of every page: its default, and what is allowed, as a reader is told; a snapshot.

After a change that was meant: ``python tests/book/test_parameter_ends.py`` stores anew.
"""

import dataclasses
import json
from pathlib import Path

import pytest
from superposition import inputs
from superposition.book import parameters, parameters_beyond
from superposition.book.chapter import Chapter

STORED = Path(__file__).with_name("parameter_ends.json")
MEND = "run `python tests/book/test_parameter_ends.py` if that was meant"
PAGES = {
    name: kind
    for module in (parameters, parameters_beyond)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, Chapter)
}


def ends(kind):
    """Default and sentence of each parameter, and ends that others set."""
    found = {}
    for name, field in kind.model_fields.items():
        others = [repr(one.func) for one in field.metadata if dataclasses.is_dataclass(getattr(one, "func", None))]
        found[name] = [repr(field.default), inputs.allowed(field), *others]
    return found


@pytest.mark.parametrize("name", PAGES)
def test_defaults_and_ends_are_those_that_are_stored(name):
    assert ends(PAGES[name]) == json.loads(STORED.read_text())[name], MEND


if __name__ == "__main__":
    STORED.write_text(json.dumps({name: ends(kind) for name, kind in PAGES.items()}, indent=0) + "\n")
