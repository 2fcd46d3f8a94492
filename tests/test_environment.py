"""pip, conda and make lead to the same versions, and the library comes without the book's tools."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
LINES = (ROOT / "constraints.txt").read_text().splitlines()
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())
MAKEFILE = (ROOT / "Makefile").read_text()

BOOK_ONLY = {"jupyter-book", "jupyterlab", "jupytext", "papermill", "nbval", "pytest", "playwright", "ruff", "mpmath"}
OURS = "superposition"  # an extra that takes in others: superposition[train]
ALL = [text for text in [*PROJECT["dependencies"], *sum(EXTRAS.values(), [])] if Requirement(text).name != OURS]


def pins():
    """Return the pinned versions by canonical name."""
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in LINES)}


def names(requirements):
    """Return the canonical names in a list of requirements."""
    return {canonicalize_name(Requirement(text).name) for text in requirements}


def test_constraints_are_plain_exact_pins():
    # No `+cpu` (no index has it), no address or path of one machine, no marker, no blank or comment.
    assert [line for line in LINES if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", line)] == []


def test_each_package_is_pinned_once():
    assert len(pins()) == len(LINES)


@pytest.mark.parametrize("text", ALL)
def test_dependency_is_pinned_within_its_range(text):
    requirement = Requirement(text)
    name = canonicalize_name(requirement.name)
    assert name in pins(), f"{text} of pyproject.toml is not in constraints.txt: run `make lock`"
    assert requirement.specifier.contains(pins()[name], prereleases=True)


def test_pyproject_pins_nothing_exactly():
    # One source of exact versions. Two would drift apart.
    assert [text for text in ALL if "==" in text] == []


def test_conda_installs_the_same_pins_and_extra():
    python, pip, pip_section = CONDA["dependencies"]
    assert pip == "pip"
    assert pip_section == {"pip": ["-c constraints.txt", "-e .[book]"]}
    assert python.startswith("python=")
    assert python.removeprefix("python=") in SpecifierSet(PROJECT["requires-python"])


def test_make_installs_the_same_pins_and_extra():
    assert "pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[book]'" in MAKEFILE
    assert re.search(r"^\.venv/\.ready: pyproject\.toml constraints\.txt\b", MAKEFILE, re.MULTILINE)
    minor = CONDA["dependencies"][0].removeprefix("python=")
    assert f"command -v python{minor} " in MAKEFILE, "make prefers another Python than environment.yml"


def test_library_comes_without_the_books_tools():
    book = names(EXTRAS["book"])
    assert BOOK_ONLY <= book
    assert names(PROJECT["dependencies"]).isdisjoint(book)


def test_theory_comes_without_torch_and_the_book_with_everything():
    assert names(PROJECT["dependencies"]) == {"numpy", "scipy", "click", "safetensors", "tqdm"}
    assert f"torch>={pins()['torch']}" in EXTRAS["train"], "torch's lower bound is its pin: no other was tested"
    assert {str(Requirement(text)) for text in EXTRAS["book"]} >= {"superposition[dask,train]"}


def test_theorys_bounds_are_lower_ones():
    # `make test-lowest` installs exactly these.
    assert [text for text in PROJECT["dependencies"] if not re.fullmatch(r"[a-z]+>=[0-9.]+", text)] == []


def test_side_by_side_a_group_stays_together(request):
    """Each cell of a notebook would meet another kernel, if pytest-xdist could not put the group into a test's id."""
    if request.config.getoption("loadgroup", default=False):
        assert request.node.nodeid.endswith("@tests/test_environment.py")


ASKED = """
import sys
from _pytest.config import _prepareconfig
for arguments in map(str.split, sys.stdin):
    config = _prepareconfig(["--nbval", *arguments], None)
    config.option.collectonly = True  # the hooks alone
    for hook in reversed(config.pluginmanager.hook.pytest_cmdline_main.get_hookimpls()):
        if hook.plugin_name.endswith("conftest.py") or hook.plugin_name == "xdist":
            hook.function(config)
    print(config.option.numprocesses, config.option.dist, config.option.markexpr, sep=";")
"""
QUICK = "not look and not thorough"
COMMANDS = {  # what is typed after `pytest --nbval`: whether it runs in one process, and the marks
    "": (False, QUICK),
    "-x": (False, QUICK),
    "-k minima": (False, ""),
    "-m thorough": (False, "thorough"),
    "--pdb": (True, QUICK),
    "-s": (True, QUICK),
    "tests/test_minima.py": (True, ""),
    "tests/test_minima.py::test_style": (True, ""),
    "book/ch2.ipynb": (True, ""),
}


def test_plain_command_is_the_test():
    """Side by side and without the long tests, unless a path, a choice or a debugger is asked for."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    how = {"cwd": ROOT, "env": environment, "input": "\n".join(COMMANDS) + "\n"}
    done = subprocess.run([sys.executable, "-c", ASKED], **how, capture_output=True, text=True, check=True)
    for line, (arguments, (in_one_process, marks)) in zip(done.stdout.splitlines(), COMMANDS.items(), strict=True):
        number, dist, chosen = line.split(";")
        assert (number == "0", dist == "no", chosen) == (in_one_process, in_one_process, marks), arguments


def test_with_the_oldest_versions_a_test_of_a_wing_has_one_case_and_the_ground_all():
    def item(node, marker=None):
        return SimpleNamespace(nodeid=node, path=ROOT / node.split("::")[0], get_closest_marker=lambda name: marker)

    wing, ground = "tests/rug/test_rugs.py::test_a", "tests/test_contract.py::test_b"
    items = [item(f"{wing}[0]", "thorough"), *(item(f"{test}[{k}]") for test in (wing, ground) for k in (1, 2))]
    first_cases = runpy.run_path(str(ROOT / "conftest.py"))["first_cases"]
    assert [one.nodeid for one in first_cases(items)] == [f"{wing}[1]", f"{ground}[1]", f"{ground}[2]"]


def test_jupyter_book_2_is_refused_in_a_sentence():
    """It cannot build this book, and would end with exit code 0 and no page."""
    [plugin] = yaml.safe_load((ROOT / "myst.yml").read_text())["project"]["plugins"]
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node")
    done = subprocess.run([node, ROOT / plugin], capture_output=True, text=True)
    assert done.returncode == 1 and "jupyter-book<2" in done.stderr
