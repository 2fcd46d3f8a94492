"""The linter, docstrings included: what they promise is what the code does. The format, and the types."""

import ast
import subprocess
import sys
from pathlib import Path

import defprint
import pytest
import superposition

ROOT = Path(__file__).resolve().parent.parent
TYPED = ["pyrefly", "check", "--output-format=min-text", f"--python-interpreter-path={sys.executable}"]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["ruff", "check", "--output-format", "concise"], id="linter"),
        pytest.param(["ruff", "format", "--check"], id="format"),
        pytest.param(TYPED, id="types", marks=pytest.mark.thorough),
    ],
)
def test_it_finds_nothing(command):
    tool = Path(sys.executable).with_name(command[0])
    done = subprocess.run([tool, *command[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_texts_that_are_read_or_written_name_their_encoding():
    """Whatever they are read from: the linter knows it of a path only where it sees how the path is made."""
    for package in (superposition, defprint):
        for file in Path(package.__file__).parent.rglob("*.py"):
            for call in ast.walk(ast.parse(file.read_text())):
                if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in ("read_text", "write_text"):
                    said = {word.arg: getattr(word.value, "value", None) for word in call.keywords}
                    assert said.get("encoding") == "utf-8", f"{file}, line {call.lineno}"
