"""The linter, docstrings included: what they promise is what the code does. The format, and the types."""

import subprocess
import sys
from pathlib import Path

import pytest

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
