"""Who may know whom: the contracts in pyproject.toml, and what they cannot say, names and what a face loads."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import superposition
from together import together

PACKAGE = Path(__file__).resolve().parents[1] / "lib" / "superposition"
WINGS = superposition.WINGS
SLOW = ("torch", "matplotlib", "pydantic", "IPython", "scipy.stats", "scipy.interpolate")


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def parsed(module):
    return ast.parse(SOURCES[module].read_text())


def private_names(tree):
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "superposition":
            yield from (alias.name for alias in node.names if is_private(alias.name))
            modules |= {alias.asname or alias.name for alias in node.names if f"{node.module}.{alias.name}" in SOURCES}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield from [node.attr] if is_private(node.attr) else []


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


PACKAGES = ("numpy", "scipy", "click", "safetensors", "tqdm")  # the theory's


def names_of_packages(tree):
    """The dotted names in the theory's packages that a module imports, and those that it reaches through them."""
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            whole = [one for one in node.names if of_packages(one.name)]
            known |= {one.asname or (top := one.name.split(".")[0]): one.name if one.asname else top for one in whole}
            yield from (one.name for one in whole)
        if isinstance(node, ast.ImportFrom) and of_packages(node.module or ""):
            known |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
            yield from (f"{node.module}.{one.name}" for one in node.names)
    for node in ast.walk(tree):
        name, *inner = ast.unparse(node).split(".") if isinstance(node, ast.Attribute) else [""]
        if name in known and all(part.isidentifier() for part in inner):
            yield ".".join([known[name], *inner])


def of_packages(name):
    return name.split(".")[0] in PACKAGES


def found(name):
    """What a dotted name stands for."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        outer, _, last = name.rpartition(".")
        return getattr(found(outer), last)


@pytest.mark.parametrize("module", SOURCES)
def test_every_name_of_a_package_is_there(module):
    """Also on branches that no test takes: `make test-lowest` looks them up in the oldest versions."""
    for name in sorted(set(names_of_packages(parsed(module)))):
        found(name)


def test_a_name_that_is_not_there_is_seen():
    _, name = names_of_packages(ast.parse("import scipy.stats as st\nst.nothing"))
    with pytest.raises(AttributeError, match="nothing"):
        found(name)


def test_contracts_are_kept():
    pytest.importorskip("importlinter")  # the contracts stand in pyproject.toml
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"]
    done = subprocess.run(command, cwd=PACKAGE.parents[1], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@together("module", SOURCES)
def test_no_private_name_crosses_a_wall(module):
    assert list(private_names(parsed(module))) == []


def test_a_face_loads_nothing_but_theory():
    """One after another in one process: what none has loaded after the last was loaded by none of them."""
    ask = "print({wing!r}, [n for n in {slow} if n in sys.modules])"
    program = ["import sys, superposition", *(f"superposition.{w}; {ask.format(wing=w, slow=SLOW)}" for w in WINGS)]
    done = subprocess.run([sys.executable, "-c", "\n".join(program)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{wing} []" for wing in WINGS]


@pytest.mark.parametrize("wing", WINGS)
def test_no_module_bears_the_name_of_a_function_on_its_face(wing):
    modules = {path.stem for path in (PACKAGE / wing).glob("*.py")}
    face = next(node for node in parsed(f"superposition.{wing}").body if isinstance(node, ast.Assign))
    assert modules & set(ast.literal_eval(face.value)) == set()
