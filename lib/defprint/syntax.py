"""What code says, without the names and words that do not matter: Python's syntax as nested lists."""

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
_FIELDS_THAT_ACT = {"attr", "attrs", "msgspec", "pydantic"}  # their classes turn values into what an annotation says
_STOPS = ("StopIteration", "StopAsyncIteration")
_FILES = "importlib.resources.files"
_WORDS = (
    *(ast.Constant, ast.Name, ast.JoinedStr, ast.FormattedValue, ast.Tuple, ast.BinOp, ast.Add, ast.expr_context),
    *(ast.IfExp, ast.Compare, ast.Is, ast.IsNot),
)  # of these an assignment may be that does nothing else
TRANSPARENT = ["transparent"]  # what a decorator says that changes no value
_ACTS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


@dataclass(frozen=True)
class _Scope:
    """Where a name is looked up: ``names`` of the functions around (the path of an import, None for others).

    ``resolve`` says of the dotted path of a global name what it stands for, and which attributes are left; it also
    takes the path of files, with slashes.

    ``of_class`` holds the names that the class body around binds, ``read`` what the function
    around reads outside of errors; both are None elsewhere. ``doomed`` holds the assignments of that
    function which an error follows at once. ``typed`` says whether the class around
    turns its values into what their annotations say.
    """

    module: Module
    resolve: Callable[[str], tuple]
    names: dict[str, str | None]
    of_class: frozenset[str] | None = None
    read: frozenset[str] | None = None
    doomed: frozenset[ast.stmt] = frozenset()
    typed: bool = False


def shape(statements: list[ast.stmt], here: Module, resolve: Callable[[str], tuple]) -> list:
    """What statements at the top of a module say, as nested lists of texts and numbers; `_Scope` has ``resolve``."""
    return _shapes(statements, _Scope(here, resolve, {}))


def _shapes(nodes: list, scope: _Scope) -> list:
    return [said for node in nodes if (said := _shape(node, scope)) is not None]


def _shape(node: object, scope: _Scope) -> object:
    if isinstance(node, list):
        return _shapes(node, scope)
    if not isinstance(node, ast.AST):
        return repr(node)
    return next((say for kind, say in _SPECIAL.items() if isinstance(node, kind)), _plainly)(node, scope)


def _plainly(node: ast.AST, scope: _Scope, *without: str) -> list:
    """The kind of a node and its fields; those that are empty are left out, so every Python says the same."""
    fields = [(name, value) for name, value in ast.iter_fields(node) if name not in _SILENT and name not in without]
    return [type(node).__name__, *([name, _shape(value, scope)] for name, value in fields if value not in (None, []))]


def _name(node: ast.Name | ast.Attribute, scope: _Scope) -> object:
    """A name with its attributes: what it stands for, or the name itself if it is local or Python's."""
    base, attributes = scopes.parted(node)
    for attribute in attributes:
        refusals.attribute(scope.module.name, node.lineno, attribute)
    if not isinstance(base, ast.Name):
        return _plainly(node, scope)
    said, rest = _meaning(base.id, attributes, scope, stores=isinstance(base.ctx, ast.Store))
    if said[0] == "module":
        refusals.refuse(scope.module.name, node.lineno, f"the module `{said[1]}` as a value", "the names in it")
    if outside := _outside(base, said, scope):
        refusals.path(scope.module.name, node.lineno, outside)
    for attribute in rest:
        said = ["attribute", attribute, said]
    return said


def _outside(base: ast.Name, said: list, scope: _Scope) -> str:
    """The dotted path of what another library or Python has; empty for others."""
    if said[0] == "external":
        return said[1]
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
    seen = _without_transparent(node, scope)
    return [*_plainly(seen, scope, "name", "body"), _called(node, scope), _shape(body, inner)]


def _without_transparent(node: Any, scope: _Scope) -> Any:
    """A definition without the decorators that change no value, whose arguments do not count either."""
    marks = getattr(node, "decorator_list", [])
    kept = [mark for mark in marks if _decorates(mark, scope) != TRANSPARENT]
    if len(kept) == len(marks):
        return node
    seen = copy.copy(node)
    vars(seen)["decorator_list"] = kept
    return seen


def _decorates(mark: ast.expr, scope: _Scope) -> list | None:
    """What a decorator stands for, called or not; None where it is no name."""
    base, attributes = scopes.parted(mark.func if isinstance(mark, ast.Call) else mark)
    return _meaning(base.id, attributes, scope, stores=False)[0] if isinstance(base, ast.Name) else None


def _refuse_received_errors(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: _Scope) -> None:
    """Refuse the end of a context that uses what an error carries."""
    if not isinstance(node, ast.Lambda) and node.name in ("__exit__", "__aexit__"):
        for argument in [*node.args.args[2:], node.args.vararg]:
            if argument and argument.arg in _read(node.body):
                refusals.payload(scope.module.name, node.lineno, argument.arg)


def _class(node: ast.ClassDef, scope: _Scope) -> list:
    above = [base.id for base in node.bases if isinstance(base, ast.Name)]
    if stops := [name for name in above if name in _STOPS]:
        refusals.refuse(scope.module.name, node.lineno, f"a kind of {stops[0]}", "a generator")
    node = _without_transparent(node, scope)
    typed = any(_types_fields(_shape(part, scope)) for part in (*node.bases, *node.decorator_list))
    inner = replace(scope, of_class=frozenset(scopes.bound(node.body, scope.module)), typed=typed)
    return [*_plainly(node, scope, "name", "body"), _called(node, scope), _shape(node.body, inner)]


def _types_fields(said: object) -> bool:
    """Whether the shape of a base or decorator has a definition of the package, or a library that acts on types."""
    if not isinstance(said, list):
        return False
    if said[:1] == ["external"]:
        return said[1].split(".")[0] in _FIELDS_THAT_ACT
    return said[:1] == ["other"] or any(map(_types_fields, said))


def _called(node: ast.AST, scope: _Scope) -> object:
    """What a definition is called; nothing at the top of a module."""
    name = getattr(node, "name", None)
    return name and _meaning(name, [], scope, stores=True)[0]


def _comprehension(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, scope: _Scope) -> list:
    """A comprehension: its first iterable is looked up outside."""
    targets = scopes.bound([generator.target for generator in node.generators], scope.module)
    inner = replace(scope, names=scope.names | targets, of_class=None)
    first, *others = node.generators
    said = [_shape(first.iter, scope), _plainly(first, inner, "iter"), _shape(others, inner)]
    return [*_plainly(node, inner, "generators"), said]


def _raise(node: ast.Raise, scope: _Scope) -> list:
    """Which error, not its words."""
    error = node.exc
    if isinstance(error, ast.Call):
        error, taken = error.func, [*error.args, *error.keywords]
        if taken and isinstance(error, ast.Name) and error.id in _STOPS:
            refusals.refuse(scope.module.name, node.lineno, f"a {error.id} with a value", "`return` in a generator")
    return ["Raise", error and _shape(error, scope)]


def _handler(node: ast.ExceptHandler, scope: _Scope) -> list:
    """What is done about an error; not with what it carries."""
    again = [part.exc for part in ast.walk(node) if isinstance(part, ast.Raise)]
    if node.name and [*_read(node.body)].count(node.name) > sum(getattr(e, "id", "") == node.name for e in again):
        refusals.payload(scope.module.name, node.lineno, node.name)
    return _plainly(node, scope)


def _assign(node: ast.Assign, scope: _Scope) -> list | None:
    """An assignment, unless it makes words that only an error says."""
    target = node.targets[0]
    if scope.read is not None and scope.of_class is None and isinstance(target, ast.Name) and len(node.targets) == 1:
        unread = target.id not in scope.read and scope.names.get(target.id, "") is None
        if unread and _is_words(node, scope):
            return None
    return _plainly(node, scope)


def _is_words(node: ast.Assign, scope: _Scope) -> bool:
    """Whether an assignment can do nothing else, be it that an error follows at once."""
    parts = [*ast.walk(node.value)]
    acts = any(isinstance(part, _ACTS) for part in parts)
    return not acts and (node in scope.doomed or all(isinstance(part, _WORDS) for part in parts))


def _annotated(node: ast.AnnAssign, scope: _Scope) -> list | None:
    """In a class a field; elsewhere an assignment, or nothing."""
    if scope.of_class is None:
        return _assign(ast.Assign([node.target], node.value), scope) if node.value else None
    words = {getattr(part, "id", getattr(part, "attr", None)) for part in ast.walk(node.annotation)}
    acts = _shape(node.annotation, scope) if scope.typed or words & _ANNOTATIONS_THAT_ACT else None
    return [*_plainly(node, scope), acts]


def _import(node: ast.Import | ast.ImportFrom, scope: _Scope) -> list | None:
    """An import, only where something else may have the same name: elsewhere the uses say it."""
    known = scope.module.imports | scope.names
    said = [
        [_meaning(scopes.local(alias), [], scope, stores=True)[0], _imported(node, alias, scope)]
        for alias in node.names
        if known.get(scopes.local(alias)) is None
    ]
    return ["Import", said] if said else None


def _imported(node: ast.Import | ast.ImportFrom, alias: ast.alias, scope: _Scope) -> object:
    said = scope.resolve(scopes.path_of(node, alias, scope.module))[0]
    if said[0] == "module":
        what = f"`{scopes.local(alias)}`, which may be the module `{said[1]}` or something else"
        refusals.refuse(scope.module.name, node.lineno, what, "a name for each")
    return said


def _expression(node: ast.Expr, scope: _Scope) -> list | None:
    return None if isinstance(node.value, ast.Constant) else _plainly(node, scope)


def _nothing(node: ast.AST, scope: _Scope) -> None:
    return None


def _read(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names that are read outside of what errors say."""
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
    """Assignments that only an error follows in their block."""
    inner = (value for part in body for node in ast.walk(part) for _, value in ast.iter_fields(node))
    for block in (body, *(value for value in inner if isinstance(value, list))):
        if block and isinstance(block[-1], ast.Raise):
            yield from itertools.takewhile(lambda part: isinstance(part, ast.Assign), block[-2::-1])


_SPECIAL: dict[type | tuple[type, ...], Callable[[Any, _Scope], object]] = {
    (ast.Name, ast.Attribute): _name,
    scopes.FUNCTIONS: _function,
    ast.ClassDef: _class,
    scopes.COMPREHENSIONS: _comprehension,
    ast.BinOp: _path_of_files,
    ast.ExceptHandler: _handler,
    ast.Raise: _raise,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    (ast.Import, ast.ImportFrom): _import,
    ast.Expr: _expression,
    (ast.Global, ast.Pass): _nothing,
}
