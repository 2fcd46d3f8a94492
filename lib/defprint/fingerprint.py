"""A fingerprint of the code that a function depends on, and of the data files that this code reads.

A stored result is useful only together with the code that made it. The fingerprint follows the definitions that a
function reaches by name, through all modules of its own package. A definition is hashed together with the hashes of
the definitions that its names refer to. It may therefore move to another module, be renamed or be imported in another
way. Comments, docstrings, annotations and the texts of errors do not count. Constants, formulas, defaults and the
names of local variables do.

Names are resolved as Python resolves them: local names shadow, also those of comprehensions and nested functions, and
``global`` undoes it. Code that runs at import counts for the names that it mentions, and for its whole module if it
mentions none.

Data files count byte by byte where the code names them: ``resources.files("PACKAGE") / "FOLDER"``, with all files of
the folder. A construct that no name leads to is refused, with its module and line: ``refusals`` has those that look up
by string, ``importing`` the import-time side effects of all modules that are imported, reached or not. Some changes
count although the result is the same: other names of local variables or arguments, a method that nobody calls, the
words of a warning.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from defprint import importing, scopes, syntax
from defprint.syntax import Node

MARK = "defprint.transparent"
UNCHECKED = "unchecked"  # the attribute of a decorated function: the undecorated one


def of(function: str) -> str:
    """Return the fingerprint of all code and data that a function depends on.

    Parameters
    ----------
    function : str
        The function as "module:name". Its module is read, not imported.

    Returns
    -------
    str
        Sixteen hexadecimal digits.

    Raises
    ------
    ValueError
        If there is no such function, or if it reaches a construct that cannot be followed.

    Examples
    --------
    >>> len(of("json:dumps"))
    16
    """
    code, data = _code(function)
    return _hash([code, [_content(path) for path in data]])[:16] if data else code


def sources(function: str) -> list[Path]:
    """Return the files of the code that a function depends on, and of the data that this code reads.

    Parameters
    ----------
    function : str
        The function as "module:name".

    Returns
    -------
    list of pathlib.Path
        Sorted, each once.

    Raises
    ------
    ValueError
        If there is no such function, or if it reaches a construct that cannot be followed.

    Examples
    --------
    >>> [path.name for path in sources("defprint.scopes:parted")]
    ['scopes.py']
    """
    reached = _reached(_start(function))
    code = {_known_source(module) for module, _ in reached if module}
    return sorted(code.union(*(_files(path) for module, path in reached if not module)))


def transparent(decorator):
    """Mark a decorator that may refuse a call, and changes no value of a call that it lets pass: it does not count.

    The function that such a decorator makes may have the attribute ``unchecked``, the undecorated function; for the
    fingerprint the two are the same.

    Parameters
    ----------
    decorator : callable
        The decorator, or a function that returns one.

    Returns
    -------
    callable
        The same.

    Examples
    --------
    >>> @transparent
    ... def checked(function):
    ...     return function
    """
    return decorator


@contextmanager
def _no_search_for_garbage() -> Iterator[None]:
    """Syntax trees are many objects, none of them garbage; to go through all again and again takes half the time."""
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.enable()


@cache
@_no_search_for_garbage()
def _code(function: str) -> tuple[str, list[str]]:
    """The fingerprint of the code alone, and the paths of the data that it reads."""
    start = _start(function)
    definitions = _reached(start)
    for module in _imported({module for module, _ in definitions if module}):
        _check(module)
    finer = {node: _hash(shape) for node, (shape, _) in definitions.items()}
    count = 0
    while count < len(set(finer.values())):  # equal definitions differ by those that they refer to
        count, colours = len(set(finer.values())), finer
        finer = {
            node: _hash([shape, [colours[other] for other in others]]) for node, (shape, others) in definitions.items()
        }
    return _hash([finer[start], sorted(set(finer.values()))])[:16], sorted(
        path for module, path in definitions if not module
    )


def _imported(modules: set[str]) -> set[str]:
    """All modules of the package that an import of some modules imports."""
    found, todo = set(), [*modules]
    while todo:
        module = todo.pop()
        if module not in found:
            found.add(module)
            todo += _imports(module)
    return found


@cache
def _imports(module: str) -> set[str]:
    """The packages around a module, and the modules of its own package that it imports."""
    package = module.split(".")[0]
    paths = [path.split(".") for path in (module, *importing.modules(_module(module)))]
    begun = {".".join(path[:depth]) for path in paths if path[0] == package for depth in range(1, len(path) + 1)}
    return {path for path in begun if _source(path)}


@cache
def _check(module: str) -> None:
    importing.check(_module(module), lambda path: _found(path, module.split(".")[0]), _computes)


@cache
def _computes(node: Node) -> bool:
    """Whether a definition is transparent, or consists of functions and constants, with all that it reaches."""
    if _is_transparent(node):
        return True
    statements = [part for module, name in _reached(node) for part in (_module(module).own[name] if module else [None])]
    return all(isinstance(part, ast.FunctionDef) or _is_constant(part) for part in statements)


def _is_constant(statement: ast.stmt | None) -> bool:
    return isinstance(getattr(statement, "value", None), ast.Constant)


def _content(path: str) -> list[list[str]]:
    """The files at a path of data, each with the hash of its bytes; read each time, since they may change."""
    return [[file.name, hashlib.sha256(file.read_bytes()).hexdigest()] for file in _files(path)]


def _files(path: str) -> list[Path]:
    """The file at a path of data, or all files in a folder except hidden ones."""
    package, *inner = path.split("/")
    place = _known_source(package).parent.joinpath(*inner).resolve()
    found = [place] if place.is_file() else sorted(file for file in place.rglob("[!.]*") if file.is_file())
    if not found:
        raise ValueError(f"{place} holds no files, which the library reads; allowed: a folder of them, or a file")
    return found


def _start(function: str) -> Node:
    """The definition behind "module:name", wherever it comes from."""
    module, name = function.split(":")
    if _source(module) is None:
        raise ValueError(f"function = {function[:60]!r} does not exist: there is no such module")
    return _found(f"{module}.{name}", module.split(".")[0])[0]


def _reached(start: Node) -> dict[Node, tuple]:
    """The content of each definition that the start leads to, and the others that it refers to."""
    found, todo = {}, [start]
    while todo:
        node = todo.pop()
        if node not in found:
            found[node] = _definition(*node)
            todo += found[node][1]
    return found


@cache
def _definition(module: str, name: str) -> tuple:
    """The statements behind a name as nested lists, and the nodes that the numbers in them refer to."""
    if not module:
        return ["files", name], []
    here, package = _module(module), module.split(".")[0]
    others: list[Node] = []

    def resolve(path: str) -> tuple:
        node, rest = (("", path), []) if "/" in path else _found(path, package)
        if _is_transparent(node):
            return syntax.TRANSPARENT, rest
        if rest[:1] == [UNCHECKED] and _is_guarded(node):
            rest = rest[1:]
        if node[0] == "" and "/" not in path:
            return ["external", node[1]], []
        if node[1] == "*":
            return ["module", node[0]], []
        if node == (module, name):
            return "self", rest
        if node not in others:
            others.append(node)
        return ["other", others.index(node)], rest

    return syntax.shape(here.own[name], here, resolve), others


@cache
def _is_transparent(node: Node) -> bool:
    """Whether every statement behind a name defines a decorator that is marked as transparent."""
    marks = _decorators(node)
    return bool(marks) and all(("", MARK) in found for found in marks)


@cache
def _is_guarded(node: Node) -> bool:
    """Whether every statement behind a name defines a function with a transparent decorator."""
    marks = _decorators(node)
    return bool(marks) and all(any(map(_is_transparent, found)) for found in marks)


def _decorators(node: Node) -> list[list[Node]]:
    """The origins of the decorators of each statement behind a name."""
    module, name = node
    if not module or name == "*":
        return []
    here, package = _module(module), module.split(".")[0]
    marks = [getattr(statement, "decorator_list", []) for statement in here.own[name]]
    return [[_found(path, package)[0] for mark in each if (path := scopes.dotted(mark, here))] for each in marks]


def _found(path: str, package: str) -> tuple[Node, list[str]]:
    """The node that a dotted path leads to, and the attributes after it; outside of the package ("", path)."""
    module, *parts = path.split(".")
    if module != package:
        return ("", path), []
    for index, part in enumerate(parts):
        here, rest = _module(module), parts[index + 1 :]
        inner = f"{module}.{part}"
        if part in here.own:
            return (module, part), rest
        if here.imports.get(part, inner) != inner:
            return _found(".".join([here.imports[part], *rest]), package)
        if _source(inner) is None:
            return _found(".".join([_on_demand(module, part), *rest]), package)
        module = inner
    return (module, "*"), []


def _on_demand(module: str, name: str) -> str:
    """The path of a name that a package imports on demand."""
    package = _module(module)
    homes = (
        [home for home in _inner_modules(module) if name in _module(home).own] if "__getattr__" in package.own else []
    )
    if len(homes) > 1:
        homes = [home for home in homes if home.split(".")[-1] in package.words_beside(name)]
    if len(homes) != 1:
        raise ValueError(f"{module}:{name} cannot be followed; allowed: an import from the module that defines it")
    return f"{homes[0]}.{name}"


def _inner_modules(module: str) -> list[str]:
    folder = _known_source(module).parent
    return [f"{module}.{path.stem}" for path in sorted(folder.glob("*.py")) if path.stem != "__init__"]


@cache
def _module(name: str) -> scopes.Module:
    path = _known_source(name)
    return scopes.module(name, ast.parse(path.read_text(encoding="utf-8")), path.name == "__init__.py")


@cache
def _source(module: str) -> Path | None:
    """The file of a module, found without importing it; None where there is none."""
    top, *inner = module.split(".")
    spec = find_spec(top)
    if spec is None or spec.origin is None or not inner:
        return Path(spec.origin) if spec and spec.origin else None
    stem = Path(spec.origin).parent.joinpath(*inner)
    return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.exists()), None)


def _known_source(module: str) -> Path:
    """The file of a module that exists."""
    path = _source(module)
    assert path is not None
    return path


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
