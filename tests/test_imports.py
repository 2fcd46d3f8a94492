"""Who may know whom: texts the ground, beyond also the rug and codes, runs and book no wing; no circles."""

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "lib" / "superposition"
TEXTS = ("toy", "rug", "incidental", "receptive")
BEYOND = {"codes": {"rug"}, "decoders": {"rug", "codes"}, "frequencies": {"rug", "codes"}}
WINGS = (*TEXTS, *BEYOND, "diagnosis")
MAY_KNOW = {"ground": {"ground"}, "runs": {"runs", "ground"}, "book": {"book", "ground"}}
MAY_KNOW |= {wing: {wing, "ground"} for wing in TEXTS}
MAY_KNOW |= {wing: {wing, "ground", *known} for wing, known in BEYOND.items()}
MAY_KNOW |= {room: {room, "ground", *TEXTS, *BEYOND, "diagnosis"} for room in ("diagnosis", "experiments")}
MAY_KNOW["experiments"].add("runs")
SLOW = ("torch", "matplotlib", "pydantic", "IPython")


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}


def part_of_the_house(module):
    top = module.split(".")[1:2]
    return top[0] if top and (PACKAGE / top[0]).is_dir() else "ground"


def imported(tree):
    """Modules of the package that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "superposition":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in SOURCES else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in SOURCES)


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


@pytest.mark.parametrize("module", [m for m in SOURCES if m not in ("superposition", "superposition.cli")])
def test_every_module_keeps_to_its_part_of_the_house(module):
    allowed = MAY_KNOW[part_of_the_house(module)]
    assert {other for other in imported(SOURCES[module]) if part_of_the_house(other) not in allowed} == set()


def test_there_is_no_circle():
    graph = {
        module: {other for other in imported(tree) if other != module and not module.startswith(f"{other}.")}
        for module, tree in SOURCES.items()
    }
    assert list(graphlib.TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("module", SOURCES)
def test_no_private_name_crosses_a_wall(module):
    assert list(private_names(SOURCES[module])) == []


@pytest.mark.parametrize("wing", WINGS)
def test_a_face_loads_nothing_but_theory(wing):
    program = f"import sys, superposition; superposition.{wing}; print([n for n in {SLOW} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("wing", WINGS)
def test_no_module_bears_the_name_of_a_function_on_its_face(wing):
    modules = {path.stem for path in (PACKAGE / wing).glob("*.py")}
    face = next(node for node in SOURCES[f"superposition.{wing}"].body if isinstance(node, ast.Assign))
    assert modules & set(ast.literal_eval(face.value)) == set()
