"""The syntax of code as nested lists, without the names and words that do not count."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from defprint import refusals, scopes
from defprint.scopes import Module

Node = tuple[str, str]  # a module and a name at its top; "" and the path of files

_SILENT = {"ctx", "kind", "annotation", "returns", "type_comment", "type_params", "msg"}  # msg: of an assert
_ANNOTATIONS_THAT_ACT = {"ClassVar", "InitVar", "KW_ONLY", "Annotated"}
_FIELDS_THAT_ACT = {"attr", "attrs", "msgspec", "pydantic"}  # their classes convert values to the types of annotations
_STOPS = ("StopIteration", "StopAsyncIteration")
_FILES = "importlib.resources.files"
_WORDS = (
    *(ast.Constant, ast.Name, ast.JoinedStr, ast.FormattedValue, ast.Tuple, ast.BinOp, ast.Add, ast.expr_context),
    *(ast.IfExp, ast.Compare, ast.Is, ast.IsNot),
)  # the parts of an assignment without effect
TRANSPARENT = ["transparent"]  # the shape of a transparent decorator
_ACTS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


@dataclass(frozen=True)
class _Scope:
    """The place where names are looked up: ``names`` of the functions around it (the path of an import, else None).

    ``resolve`` takes the dotted path of a global name and returns the shape that it refers to and the attributes after
    it; it also takes the path of files, with slashes. ``of_class`` holds the names that the surrounding class body
    binds, ``read`` the names that the surrounding function reads outside of errors; both are None elsewhere. ``doomed``
    holds the assignments of that function which an error follows at once. ``typed`` is true inside a class that
    converts its values to the types of their annotations.
    """

    module: Module
    resolve: Callable[[str], tuple]
    names: dict[str, str | None]
    of_class: frozenset[str] | None = None
    read: frozenset[str] | None = None
    doomed: frozenset[ast.stmt] = frozenset()
    typed: bool = False


def shape(statements: list[ast.stmt], here: Module, resolve: Callable[[str], tuple]) -> list:
    """Statements at the top of a module as nested lists of texts and numbers; ``_Scope`` describes ``resolve``."""
    return _shapes(statements, _Scope(here, resolve, {}))


def _shapes(nodes: list, scope: _Scope) -> list:
    return [found for node in nodes if (found := _shape(node, scope)) is not None]


def _shape(node: object, scope: _Scope) -> object:
    if isinstance(node, list):
        return _shapes(node, scope)
    if not isinstance(node, ast.AST):
        return repr(node)
    return next((say for kind, say in _SPECIAL.items() if isinstance(node, kind)), _plainly)(node, scope)


def _plainly(node: ast.AST, scope: _Scope, *without: str) -> list:
    """The kind of a node and its fields without empty ones, so that every version of Python gives the same."""
    fields = [(name, value) for name, value in ast.iter_fields(node) if name not in _SILENT and name not in without]
    return [type(node).__name__, *([name, _shape(value, scope)] for name, value in fields if value not in (None, []))]


def _name(node: ast.Name | ast.Attribute, scope: _Scope) -> object:
    """A name with its attributes: the shape that it refers to, or the name itself if it is local or Python's."""
    base, attributes = scopes.parted(node)
    if not isinstance(node.ctx, ast.Store):  # a decorator may set a docstring
        for attribute in attributes:
            refusals.attribute(scope.module.name, node.lineno, attribute)
    if not isinstance(base, ast.Name):
        return _plainly(node, scope)
    found, rest = _meaning(base.id, attributes, scope, stores=isinstance(base.ctx, ast.Store))
    if found[0] == "module":
        refusals.refuse(scope.module.name, node.lineno, f"the module `{found[1]}` as a value", "the names in it")
    if outside := _outside(base, found, scope):
        refusals.path(scope.module.name, node.lineno, outside)
    for attribute in rest:
        found = ["attribute", attribute, found]
    return found


def _outside(base: ast.Name, found: list, scope: _Scope) -> str:
    """The dotted path of a name of another library or of Python; empty for others."""
    if found[0] == "external":
        return found[1]
    here = scope.module
    return base.id if base.id not in {*scope.names, *here.own, *here.imports, *(scope.of_class or ())} else ""


def _meaning(name: str, attributes: list[str], scope: _Scope, *, stores: bool) -> tuple:
    if scope.of_class and name in scope.of_class:  # bound by the class body, perhaps later
        outside = None if stores else _meaning(name, [], replace(scope, of_class=None), stores=False)[0]
        return ["name", name, outside], attributes
    here = scope.module
    own = f"{here.name}.{name}" if name in here.own else here.imports.get(name)
    path = scope.names.get(name, own)
    return (["name", name], attributes) if path is None else scope.resolve(".".join([path, *attributes]))


def _path_of_files(node: ast.BinOp, scope: _Scope) -> object:
    """Files that go with the library, as in resources.files("PACKAGE") / "FOLDER"; else an operation."""
    base, parts = node, []
    while isinstance(base, ast.BinOp) and isinstance(base.op, ast.Div) and (part := _text(base.right)):
        base, parts = base.left, [part, *parts]
    package = _package_of_files(base, scope)
    return scope.resolve("/".join([*package.split("."), *parts]))[0] if parts and package else _plainly(node, scope)


def _package_of_files(node: ast.expr, scope: _Scope) -> str:
    """The package in resources.files("PACKAGE"); empty for others."""
    if not isinstance(node, ast.Call) or len(node.args) != 1:
        return ""
    name, attributes = scopes.parted(node.func)
    if not isinstance(name, ast.Name) or _meaning(name.id, attributes, scope, stores=False)[0] != ["external", _FILES]:
        return ""
    return _text(node.args[0])


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: _Scope) -> list:
    """A function: decorators and defaults are looked up outside, the body inside."""
    body = node.body if isinstance(node.body, list) else [node.body]
    arguments = node.args
    taken = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    outside = {name for part in scopes.within(body) if isinstance(part, ast.Global) for name in part.names}
    _refuse_received_errors(node, scope)
    names = scope.names | scopes.bound(body, scope.module) | {argument.arg: None for argument in taken if argument}
    inner = replace(
        scope,
        names={name: path for name, path in names.items() if name not in outside},
        of_class=None,
        read=frozenset(_read(body)) if scope.read is None else scope.read,
        doomed=frozenset(_doomed(body)) if scope.read is None else scope.doomed,
    )
    kept = _without_transparent(node, scope)
    return [*_plainly(kept, scope, "name", "body"), _called(node, scope), _shape(body, inner)]


def _without_transparent(node: Any, scope: _Scope) -> Any:
    """The same definition without its transparent decorators; their arguments do not count either."""
    marks = getattr(node, "decorator_list", [])
    kept = [mark for mark in marks if _decorates(mark, scope) != TRANSPARENT]
    if len(kept) == len(marks):
        return node
    without = copy.copy(node)
    without.decorator_list = kept
    return without


def _decorates(mark: ast.expr, scope: _Scope) -> list | None:
    """The shape of a decorator, called or not; None if it is not a name."""
    base, attributes = scopes.parted(mark.func if isinstance(mark, ast.Call) else mark)
    return _meaning(base.id, attributes, scope, stores=False)[0] if isinstance(base, ast.Name) else None


def _refuse_received_errors(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: _Scope) -> None:
    """Refuse the end of a context that uses what an error carries."""
    if not isinstance(node, ast.Lambda) and node.name in ("__exit__", "__aexit__"):
        for argument in [*node.args.args[2:], node.args.vararg]:
            if argument and argument.arg in _read(node.body):
                refusals.payload(scope.module.name, node.lineno, argument.arg)


def _constant(node: ast.Constant, scope: _Scope) -> list:
    """A constant; a text may be the name of an attribute, as in getattr(h, "__doc__")."""
    if isinstance(node.value, str):
        refusals.attribute(scope.module.name, node.lineno, node.value)
    return _plainly(node, scope)


def _class(node: ast.ClassDef, scope: _Scope) -> list:
    above = [base.id for base in node.bases if isinstance(base, ast.Name)]
    if stops := [name for name in above if name in _STOPS]:
        refusals.refuse(scope.module.name, node.lineno, f"a kind of {stops[0]}", "a generator")
    kept = _without_transparent(node, scope)
    typed = any(_types_fields(_shape(part, scope)) for part in (*kept.bases, *kept.decorator_list))
    inner = replace(scope, of_class=frozenset(scopes.bound(node.body, scope.module)), typed=typed)
    return [*_plainly(kept, scope, "name", "body"), _called(node, scope), _shape(node.body, inner)]


def _types_fields(found: object) -> bool:
    """Whether the shape of a base or decorator has a definition of the package, or a library that acts on types."""
    if not isinstance(found, list):
        return False
    if found[:1] == ["external"]:
        return found[1].split(".")[0] in _FIELDS_THAT_ACT
    return found[:1] == ["other"] or any(map(_types_fields, found))


def _called(node: ast.AST, scope: _Scope) -> object:
    """The name of a definition; None at the top of a module."""
    name = getattr(node, "name", None)
    return name and _meaning(name, [], scope, stores=True)[0]


def _comprehension(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, scope: _Scope) -> list:
    """A comprehension: its first iterable is looked up outside."""
    targets = scopes.bound([generator.target for generator in node.generators], scope.module)
    inner = replace(scope, names=scope.names | targets, of_class=None)
    first, *others = node.generators
    found = [_shape(first.iter, scope), _plainly(first, inner, "iter"), _shape(others, inner)]
    return [*_plainly(node, inner, "generators"), found]


def _raise(node: ast.Raise, scope: _Scope) -> list:
    """The kind of an error, without its words."""
    error = node.exc
    if isinstance(error, ast.Call):
        error, taken = error.func, [*error.args, *error.keywords]
        if taken and isinstance(error, ast.Name) and error.id in _STOPS:
            refusals.refuse(scope.module.name, node.lineno, f"a {error.id} with a value", "`return` in a generator")
    return ["Raise", error and _shape(error, scope)]


def _handler(node: ast.ExceptHandler, scope: _Scope) -> list:
    """The handling of an error, which must not use the values that the error carries."""
    again = [part.exc for part in ast.walk(node) if isinstance(part, ast.Raise)]
    if node.name and [*_read(node.body)].count(node.name) > sum(getattr(e, "id", "") == node.name for e in again):
        refusals.payload(scope.module.name, node.lineno, node.name)
    return _plainly(node, scope)


def _assign(node: ast.Assign, scope: _Scope) -> list | None:
    """An assignment, unless it makes words for an error only."""
    target = node.targets[0]
    if scope.read is not None and scope.of_class is None and isinstance(target, ast.Name) and len(node.targets) == 1:
        unread = target.id not in scope.read and scope.names.get(target.id, "") is None
        if unread and _is_words(node, scope):
            return None
    return _plainly(node, scope)


def _is_words(node: ast.Assign, scope: _Scope) -> bool:
    """Whether an assignment has no other effect, or an error follows at once."""
    parts = [*ast.walk(node.value)]
    acts = any(isinstance(part, _ACTS) for part in parts)
    return not acts and (node in scope.doomed or all(isinstance(part, _WORDS) for part in parts))


def _annotated(node: ast.AnnAssign, scope: _Scope) -> list | None:
    """A field in a class; elsewhere an assignment, or nothing."""
    if scope.of_class is None:
        return _assign(ast.Assign([node.target], node.value), scope) if node.value else None
    words = {getattr(part, "id", getattr(part, "attr", None)) for part in ast.walk(node.annotation)}
    acts = _shape(node.annotation, scope) if scope.typed or words & _ANNOTATIONS_THAT_ACT else None
    return [*_plainly(node, scope), acts]


def _import(node: ast.Import | ast.ImportFrom, scope: _Scope) -> list | None:
    """An import, where something else may have the same name; elsewhere its uses count instead."""
    known = scope.module.imports | scope.names
    found = [
        [_meaning(scopes.local(alias), [], scope, stores=True)[0], _imported(node, alias, scope)]
        for alias in node.names
        if known.get(scopes.local(alias)) is None
    ]
    return ["Import", found] if found else None


def _imported(node: ast.Import | ast.ImportFrom, alias: ast.alias, scope: _Scope) -> object:
    found = scope.resolve(scopes.path_of(node, alias, scope.module))[0]
    if found[0] == "module":
        what = f"`{scopes.local(alias)}`, which may be the module `{found[1]}` or something else"
        refusals.refuse(scope.module.name, node.lineno, what, "a name for each")
    return found


def _expression(node: ast.Expr, scope: _Scope) -> list | None:
    return None if isinstance(node.value, ast.Constant) else _plainly(node, scope)


def _nothing(node: ast.AST, scope: _Scope) -> None:
    return None


def _read(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names that are read outside of the words of errors."""
    for node in nodes:
        if isinstance(node, ast.Raise):
            yield from _read([node.exc.func] if isinstance(node.exc, ast.Call) else [node.exc] if node.exc else [])
        elif isinstance(node, ast.Assert):
            yield from _read([node.test])
        else:
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
                yield node.id
            yield from _read(ast.iter_child_nodes(node))


def _doomed(body: list) -> Iterator[ast.stmt]:
    """Assignments that are followed only by an error in their block."""
    inner = (value for part in body for node in ast.walk(part) for _, value in ast.iter_fields(node))
    for block in (body, *(value for value in inner if isinstance(value, list))):
        if block and isinstance(block[-1], ast.Raise):
            yield from itertools.takewhile(lambda part: isinstance(part, ast.Assign), block[-2::-1])


_SPECIAL: dict[type | tuple[type, ...], Callable[[Any, _Scope], object]] = {
    (ast.Name, ast.Attribute): _name,
    scopes.FUNCTIONS: _function,
    ast.ClassDef: _class,
    scopes.COMPREHENSIONS: _comprehension,
    ast.Constant: _constant,
    ast.BinOp: _path_of_files,
    ast.ExceptHandler: _handler,
    ast.Raise: _raise,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    (ast.Import, ast.ImportFrom): _import,
    ast.Expr: _expression,
    (ast.Global, ast.Pass): _nothing,
}
