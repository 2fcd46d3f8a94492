"""Rejects import-time side effects: all that an import does except giving values to the module's own names.

One side effect is not seen: that of a function of the package which is called for its value at import.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from defprint import refusals, scopes
from defprint.syntax import Node

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_DISPLAYS = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)
_CONTAINERS = {"dict", "list", "set"}
_ACCESSORS = {"setter", "getter", "deleter"}
_HOOKS = {"__init_subclass__", "__set_name__"}
_SETTERS = ("set", "seed", "manual_seed", "enable", "disable", "use_", "register", "filterwarnings", "simplefilter")

_INSIDE = "settings within the function that needs them"
_BY_NAME = "definitions that are used by name"

Follow = Callable[[str], tuple[Node, list[str]]]


@dataclass(frozen=True)
class _Place:
    """A module, and the names that the surrounding class body binds.

    ``follow`` takes a dotted path and returns the definition it leads to and the attributes after it; ``computes``
    returns whether a definition has no side effects.
    """

    here: scopes.Module
    follow: Follow
    computes: Callable[[Node], bool]
    local: frozenset[str] = frozenset()

    def refuse(self, node: ast.stmt | ast.expr, what: str, allowed: str) -> None:
        refusals.refuse(self.here.name, node.lineno, what, allowed)

    def home(self, node: ast.expr) -> tuple[Node, list[str]] | None:
        """The origin of a name with attributes, and the attributes after it; None for Python's own."""
        base, attributes = scopes.parted(node)
        name, here = getattr(base, "id", ""), self.here
        path = f"{here.name}.{name}" if name in here.own else here.imports.get(name)
        return None if path is None or name in self.local else self.follow(".".join([path, *attributes]))


def modules(here: scopes.Module) -> Iterator[str]:
    """Dotted paths of all imports of a module; each begins with a module."""
    for node in _statements(scopes.run(here)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield alias.name if isinstance(node, ast.Import) else scopes.path_of(node, alias, here)


def _statements(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All statements, including those of functions."""
    for node in nodes:
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            if isinstance(inner := getattr(node, field, None), list):
                yield from _statements(inner)


def check(here: scopes.Module, follow: Follow, computes: Callable[[Node], bool]) -> None:
    """Refuse a module whose import changes other modules, or registers its definitions elsewhere."""
    _check(scopes.run(here), _Place(here, follow, computes))
    for name, statements in here.own.items():
        if len(statements) > 1:
            _check_order(name, statements, here)


def _check(statements: Iterable[ast.AST], place: _Place) -> None:
    for node in _executed(statements):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            _check_call(node.value, place)
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            _check_change(node, place)
        elif isinstance(node, ast.Call):
            _check_setting(node, place)
        if isinstance(node, _DEFINITIONS):
            for decorator in node.decorator_list:
                _check_decorator(decorator, place)
        if isinstance(node, ast.ClassDef):
            _check_class(node, place)


def _executed(nodes: Iterable[ast.AST | None]) -> Iterator[ast.AST]:
    """All nodes that an import runs, except class bodies."""
    for node in nodes:
        if node is None:
            continue
        yield node
        if isinstance(node, scopes.FUNCTIONS):
            decorators = getattr(node, "decorator_list", [])
            yield from _executed([*decorators, *node.args.defaults, *node.args.kw_defaults])
        elif isinstance(node, ast.ClassDef):
            yield from _executed([*node.decorator_list, *node.bases, *node.keywords])
        else:
            yield from _executed(ast.iter_child_nodes(node))


def _check_class(node: ast.ClassDef, place: _Place) -> None:
    names = scopes.bound(node.body, place.here)
    if hooks := _HOOKS & set(names):
        place.refuse(node, f"`{min(hooks)}`, which may register classes", _BY_NAME)
    for keyword in node.keywords:
        if (home := place.home(keyword.value)) and home[0][0]:
            place.refuse(node, f"`{ast.unparse(keyword)}`, which may register classes", _BY_NAME)
    own = frozenset(name for name, path in names.items() if path is None)
    _check(node.body, replace(place, local=own))


def _check_call(node: ast.Call, place: _Place) -> None:
    """Refuse a call for its effect, unless it changes a container of the module or is Python's own."""
    root = _root(node.func)
    changes_own = isinstance(node.func, ast.Attribute) and (_is_container(root, place.here) or root in place.local)
    if not changes_own and (_is_known(root, place) or root in ("setattr", "delattr") or not hasattr(builtins, root)):
        place.refuse(node, f"the effect of `{ast.unparse(node)}` at import", _INSIDE)


def _check_change(node: ast.Attribute | ast.Subscript, place: _Place) -> None:
    """Refuse a change of an object, unless it is a container or a definition of the module."""
    root = _root(node)
    statements = place.here.own.get(root, [])
    ours = any(isinstance(statement, _DEFINITIONS) for statement in statements) or root in place.local
    if not ours and not (isinstance(node, ast.Subscript) and _is_container(root, place.here)):
        place.refuse(node, f"the change of `{ast.unparse(node)}` at import", _INSIDE)


def _check_setting(node: ast.Call, place: _Place) -> None:
    """Refuse a call of a library's function whose name says that it sets something, even if its value is kept."""
    home = place.home(node.func)
    if home and home[0][0] == "" and home[0][1].split(".")[-1].startswith(_SETTERS):
        place.refuse(node, f"the effect of `{ast.unparse(node)}` at import", _INSIDE)


def _check_decorator(node: ast.expr, place: _Place) -> None:
    """Refuse a decorator, unless it is Python's or a library's that registers nothing elsewhere, or only computes."""
    function = node.func if isinstance(node, ast.Call) else node
    home, root = place.home(function), _root(function)
    if home and home[0][0] == "":
        refusals.path(place.here.name, node.lineno, home[0][1])
        return
    if home:
        known = not home[1] and place.computes(home[0])
    else:
        known = getattr(function, "attr", "") in _ACCESSORS if root in place.local else hasattr(builtins, root)
    if not known:
        place.refuse(node, f"the decorator `{ast.unparse(node)}`, which may register its definition", _BY_NAME)


def _check_order(name: str, statements: list[ast.stmt], here: scopes.Module) -> None:
    """Refuse a name that is used before its last change, since the order of definitions does not count."""
    order = scopes.run(here)
    places = [order.index(statement) for statement in statements]
    for other in order[min(places) : max(places)]:
        if other not in statements and any(_may_use(name, part, here) for part in _all_executed(other)):
            refusals.refuse(here.name, other.lineno, f"`{name}`, used before its last change", "a second name")


def _may_use(name: str, node: ast.AST, here: scopes.Module) -> bool:
    reads = isinstance(node, ast.Name) and node.id == name
    return reads or (isinstance(node, ast.Call) and _root(node.func) in {*here.own, *here.imports})


def _all_executed(statement: ast.stmt) -> Iterator[ast.AST]:
    for node in _executed([statement]):
        yield node
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                yield from _all_executed(part)


def _root(node: ast.AST) -> str:
    """The name at the start of an expression; empty if there is none."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "id", "")


def _is_known(name: str, place: _Place) -> bool:
    return name in place.here.own or name in place.here.imports or name in place.local


def _is_container(name: str, here: scopes.Module) -> bool:
    """Whether a name refers to a dict, list or set that the module itself made."""
    values = [getattr(statement, "value", None) for statement in here.own.get(name, []) if scopes.is_plain(statement)]
    made = [
        isinstance(value, _DISPLAYS) or (isinstance(value, ast.Call) and getattr(value.func, "id", "") in _CONTAINERS)
        for value in values
    ]
    return bool(made) and all(made)
