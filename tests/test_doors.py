"""One door: what is used outside of its wing is public there, refuses, and has an example.

Pages, recipes, experiments and claims use a name of a wing as its ``__all__`` has it (`rug.optimum`); another wing may
name the module that defines it. Nothing else of a wing is used outside of it.
"""

import ast
import inspect
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import jupytext
import pytest
import superposition
from superposition.book import declarations
from together import together

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "lib" / "superposition"
WINGS = {wing: import_module(f"superposition.{wing}") for wing in superposition.WINGS}
PAGES = sorted((ROOT / "book").glob("ch*.md"))
EXPERIMENTS = sorted((LIBRARY / "experiments").glob("*.py"))
OTHERS = [path for wing in superposition.WINGS for path in sorted((LIBRARY / wing).glob("*.py"))]


def code_of(path):
    """The Python of a page, a recipe or a module."""
    if path.suffix == ".py":
        return path.read_text()
    if path.stem == "recipes":
        return "\n".join(re.findall(r"^(?:>>>|\.\.\.) ?(.*)$", path.read_text(), re.M))
    return "\n".join(cell.source for cell in jupytext.read(path).cells if cell.cell_type == "code")


def is_module(path):
    try:
        return find_spec(path) is not None
    except ModuleNotFoundError:
        return False


def used(code):
    """The module and the name of everything of the library that some code mentions."""
    tree = ast.parse(code)
    imports = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "superposition":
            imports |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        if isinstance(node, ast.Import):
            imports |= {a.asname or "superposition": a.name for a in node.names if a.name.startswith("superposition")}
    for node in ast.walk(tree):
        path = dotted(node)
        if path and path[0] in imports:
            full = [*imports[path[0]].split("."), *path[1:]]
            depth = next(n for n in range(len(full), 0, -1) if is_module(".".join(full[:n])))
            if depth < len(full):
                yield ".".join(full[:depth]), full[depth]


def dotted(node):
    """A name with its attributes, as a list; None for anything else."""
    attributes = []
    while isinstance(node, ast.Attribute):
        node, attributes = node.value, [node.attr, *attributes]
    return [node.id, *attributes] if isinstance(node, ast.Name) else None


def wing_of(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in WINGS else None


@together("path", [*PAGES, ROOT / "book" / "recipes.md", *EXPERIMENTS], ids=lambda path: path.name)
def test_pages_recipes_and_experiments_use_public_names(path):
    names = [(module, name) for module, name in used(code_of(path)) if wing_of(module)]
    inner = {f"{module}.{name}" for module, name in names if module.count(".") > 1}
    public = ((module, name) for module, name in names if module.count(".") == 1)
    unknown = {f"{module}.{name}" for module, name in public if name not in WINGS[wing_of(module)].__all__}
    assert (inner, unknown) == (set(), set())


@together("path", OTHERS, ids=lambda path: "/".join(path.parts[-2:]))
def test_a_wing_uses_of_another_what_is_public(path):
    own = path.parent.name
    names = {(wing_of(m), name) for m, name in used(code_of(path)) if wing_of(m) not in (None, own)}
    assert {f"{wing}.{name}" for wing, name in names if name not in WINGS[wing].__all__} == set()


def test_claims_name_public_code():
    places = {claim.code for claim in declarations.declared().values() if claim.code}
    parted = {place: place.split(":") for place in places}
    inner = {
        p
        for p, (module, name) in parted.items()
        if (wing := wing_of(module)) and (module.count(".") > 1 or name not in WINGS[wing].__all__)
    }
    assert inner == set()


CHECKS_ITSELF = (superposition.diagnose,)  # a matrix, a file or names: which of them decides what is allowed


def public():
    for wing, module in WINGS.items():
        for name in module.__all__:
            if inspect.isfunction(found := getattr(module, name)) and found.__name__ != "<lambda>":  # no constant
                yield pytest.param(getattr(module, name), id=f"{wing}.{name}")


@together("function", list(public()))
def test_a_public_function_checks_and_shows_how_it_is_called(function):
    takes = inspect.signature(function).parameters
    assert not takes or hasattr(function, "unchecked") or function in CHECKS_ITSELF, "no @checked"
    assert ">>>" in (function.__doc__ or ""), "no example"


@pytest.mark.parametrize("wing", WINGS)
def test_a_wing_is_a_list(wing):
    """Its ``__init__`` has a docstring, imports and ``__all__``; only what needs torch comes on demand."""
    body = ast.parse((LIBRARY / wing / "__init__.py").read_text()).body
    others = [node for node in body if not isinstance(node, (ast.Expr, ast.ImportFrom, ast.Assign))]
    assert [getattr(node, "name", node) for node in others] in ([], ["__getattr__"])
    assert len(set(WINGS[wing].__all__)) == len(WINGS[wing].__all__)
