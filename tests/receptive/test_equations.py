"""Every numbered equation of the notes on localization is named, by its own number, where it is computed."""

import ast
import re
from pathlib import Path

from superposition import receptive

FOLDER = Path(receptive.__file__).parent
NUMBERS = re.compile(r"eq\. (\d+(?:(?:, | and )\d+)*)")


def named_in_functions():
    for path in sorted(FOLDER.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                text = " ".join((ast.get_docstring(node) or "").split())
                for numbers in NUMBERS.findall(text):
                    yield from ((int(number), f"{path.stem}.{node.name}") for number in re.findall(r"\d+", numbers))


def test_all_numbers_are_there():
    found = dict(named_in_functions())
    assert sorted(found) == list(range(1, 68))
