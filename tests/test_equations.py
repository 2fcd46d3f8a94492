"""Every numbered equation of the texts is named, by its own number, where it is computed. Two texts have numbers."""

import ast
import re
from pathlib import Path

import pytest
from superposition import receptive, rug

NUMBERS = re.compile(r"eqs?\. (\d+(?:(?:, | and )\d+)*)")


def named_in_functions(wing):
    for folder in wing.__path__:
        for path in sorted(Path(folder).glob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                    text = " ".join((ast.get_docstring(node) or "").split())
                    for numbers in NUMBERS.findall(text):
                        yield from map(int, re.findall(r"\d+", numbers))


@pytest.mark.parametrize("wing, last", [(rug, 31), (receptive, 67)])
def test_all_numbers_are_there(wing, last):
    assert sorted(set(named_in_functions(wing))) == list(range(1, last + 1))
