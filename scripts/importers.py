"""Which test files and pages import a module of the library, found in the code of both."""

import ast
import json
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARY, TESTS = ROOT / "lib", ROOT / "tests"


def module_name(path):
    """Return by what name a file is imported."""
    base = LIBRARY if path.is_relative_to(LIBRARY) else TESTS if path.is_relative_to(TESTS) else path.parent
    parts = path.relative_to(base).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def files():
    """Return the files that may import something, by name."""
    found = [*LIBRARY.rglob("*.py"), *TESTS.rglob("*.py"), *(ROOT / "scripts").glob("*.py")]
    return {module_name(path): path for path in sorted(found)}


@cache
def imported(name):
    """Return the modules that a file imports."""
    return named(files()[name].read_text()) - {name}


@cache
def imported_by_pages():
    """Return the modules that each page of the book imports in its cells."""
    return {page: named(code_of(page)) for page in sorted((ROOT / "book").glob("*.ipynb"))}


def code_of(page):
    """Return the code of all cells of a page."""
    cells = json.loads(page.read_text())["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def named(code):
    """Return the modules that some code imports, those of names that a package hands out, and those named in a text."""
    found, bound = set(), {}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
            bound |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
            bound |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value.split(":")[0].removesuffix(".py"))
        elif isinstance(node, ast.Attribute):
            of = bound.get(ast.unparse(node.value), "")
            found |= {f"{of}.{node.attr}"} if is_package(of) else set()
    return {module for one in found if (module := defining(one))}


def is_package(name):
    """Whether a name is that of a package of the library."""
    return name in files() and files()[name].name == "__init__.py"


@cache
def defining(name):
    """Return the module that a dotted name is, or stands in; the one behind a package's face."""
    if name in files():
        return name
    package, _, last = name.rpartition(".")
    if not is_package(package):
        return package if package in files() else None
    for node in ast.parse(files()[package].read_text()).body:
        if isinstance(node, ast.ImportFrom) and last in [alias.name for alias in node.names]:
            return defining(f"{node.module}.{last}")
    return package


def tests_of(name):
    """Return the test files that import a module; where there is none, those of what imports it, and so on."""
    tests = {files()[test]: imported(test) for test in files() if files()[test].name.startswith("test_")}
    return nearest(name, tests)


def pages_of(name):
    """Return the pages that import a module; where there is none, those of what imports it, and so on."""
    return nearest(name, imported_by_pages())


def nearest(name, users):
    """Return those users, files by what they import, that are the fewest imports away from a module."""
    reached, new = {name}, {name}
    while new:
        if found := [path for path in users if users[path] & new]:
            return found
        new = {other for other in files() if other not in reached and imported(other) & new}
        reached |= new
    return []
