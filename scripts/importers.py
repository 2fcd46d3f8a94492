"""Which test files import a module of the library, found in the code of both."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARY, TESTS = ROOT / "lib" / "superposition", ROOT / "tests"


def module_name(path):
    """Return by what name a file is imported."""
    base = LIBRARY.parent if path.is_relative_to(LIBRARY) else TESTS if path.is_relative_to(TESTS) else path.parent
    parts = path.relative_to(base).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def files():
    """Return the files that may import something, by name."""
    found = [*LIBRARY.rglob("*.py"), *TESTS.rglob("*.py"), *(ROOT / "scripts").glob("*.py")]
    return {module_name(path): path for path in sorted(found)}


@cache
def imported(name):
    """Return the modules that a file imports, those of names that a package hands out, and those named in a text."""
    found, bound = set(), {}
    for node in ast.walk(ast.parse(files()[name].read_text())):
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
    return {module for one in found if (module := defining(one))} - {name}


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
    reached, new = {name}, {name}
    while new:
        new = {other for other in files() if other not in reached and imported(other) & new}
        tests = [files()[other] for other in sorted(new) if files()[other].name.startswith("test_")]
        if tests:
            return tests
        reached |= new
    return []
