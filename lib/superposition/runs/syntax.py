"""What code says, without the names and words that do not matter: Python's syntax as nested lists."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

Node = tuple[str, str]  # a module and a name at its top

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_SILENT = {"ctx", "kind", "annotation", "returns", "type_comment", "type_params", "msg"}  # msg: of an assert
_ANNOTATIONS_THAT_ACT = {"ClassVar", "InitVar", "KW_ONLY", "Annotated"}


@dataclass(frozen=True)
class Module:
    """A module: the statements behind each name of its ``own``, and the path of each name it imports."""

    name: str
    is_package: bool
    own: dict[str, list[ast.stmt]]
    imports: dict[str, str]
    tree: ast.Module

    def said_beside(self, name: str) -> set[str]:
        """Words of the texts that stand in one entry of a dict with the name, whichever is the key."""
        entries = (pair for node in ast.walk(self.tree) if isinstance(node, ast.Dict) for pair in _entries(node))
        texts = [{n.value for n in entry if isinstance(n.value, str)} for entry in entries]
        beside = [text.replace(":", ".") for entry in texts if name in entry for text in entry]
        return {word for text in beside for word in text.split(".")}


@dataclass(frozen=True)
class _Scope:
    """Where a name is looked up: ``names`` of the functions around (the path of an import, None for others).

    ``of_class`` holds the names that the class body around binds, ``read`` what the function
    around reads outside of errors; both are None elsewhere.
    """

    module: Module
    resolve: Callable[[str], tuple]
    names: dict[str, str | None]
    of_class: frozenset[str] | None = None
    read: frozenset[str] | None = None


def module(name: str, tree: ast.Module, is_package: bool) -> Module:
    """Sort the statements of a module by the names at its top.

    Parameters
    ----------
    name : str
        The module.
    tree : ast.Module
        Its code.
    is_package : bool
        Whether it is the ``__init__`` of a package.

    Returns
    -------
    Module

    Raises
    ------
    ValueError
        If it imports everything from somewhere.
    """
    empty = Module(name, is_package, {}, {}, tree)
    bound = _bound(tree.body, empty)
    own = {each: [] for each, path in bound.items() if path is None}
    for statement in tree.body:
        for each in _concerned(statement, own, empty):
            own[each].append(statement)
    return replace(empty, own=own, imports={each: path for each, path in bound.items() if path is not None})


def shape(statements: list[ast.stmt], here: Module, resolve: Callable[[str], tuple]) -> list:
    """What statements at the top of a module say.

    Parameters
    ----------
    statements : list of ast.stmt
        The statements.
    here : Module
        Their module.
    resolve : callable
        Called with the dotted path of a global name and attributes of it; returns what the path
        stands for, and the attributes that are left.

    Returns
    -------
    list
        Nested lists of texts and numbers.
    """
    return _shapes(statements, _Scope(here, resolve, {}))


def _entries(node: ast.Dict) -> Iterator[list[ast.Constant]]:
    for key, value in zip(node.keys, node.values, strict=True):
        yield [part for half in (key, value) if half for part in ast.walk(half) if isinstance(part, ast.Constant)]


# Which names a scope binds


def _within(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of one scope, inner scopes closed."""
    for node in nodes:
        yield node
        if not isinstance(node, _SCOPES):
            yield from _within(ast.iter_child_nodes(node))


def _bound(nodes: Iterable[ast.AST], here: Module) -> dict[str, str | None]:
    """Names that a scope binds: the path of what is imported under a name and nothing else, None for others."""
    found: dict[str, set] = {}
    for node in _within(nodes):
        for name, path in _bindings(node, here):
            found.setdefault(name, set()).add(path)
    return {name: next(iter(paths)) if len(paths) == 1 else None for name, paths in found.items()}


def _bindings(node: ast.AST, here: Module) -> Iterator[tuple[str, str | None]]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield _local(alias), _path(node, alias, here)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id, None
    elif isinstance(node, _COMPREHENSIONS):
        yield from ((part.target.id, None) for part in ast.walk(node) if isinstance(part, ast.NamedExpr))
    elif isinstance(node, _NAMED) and node.name:
        yield node.name, None
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest, None


def _local(alias: ast.alias) -> str:
    return alias.asname or alias.name.split(".")[0]


def _path(node: ast.Import | ast.ImportFrom, alias: ast.alias, here: Module) -> str:
    """The dotted path that an imported name stands for."""
    if isinstance(node, ast.Import):
        return alias.name if alias.asname else alias.name.split(".")[0]
    if alias.name == "*":
        raise ValueError(f"{here.name} line {node.lineno}: the fingerprint cannot follow `import *`; allowed: names")
    above = here.name.split(".")[: len(here.name.split(".")) - node.level + here.is_package] if node.level else []
    return ".".join([*above, *([node.module] if node.module else []), alias.name])


def _concerned(statement: ast.stmt, own: dict, here: Module) -> Iterable[str]:
    """Names at the top of a module that a statement is part of."""
    if _is_silent(statement):
        return ()
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)) or _is_plain(statement):
        return [name for name in _bound([statement], here) if name in own]
    mentioned = {part.id for part in ast.walk(statement) if isinstance(part, ast.Name)} | set(_bound([statement], here))
    return [name for name in own if name in mentioned] or own


def _is_silent(statement: ast.stmt) -> bool:
    """Whether a statement does nothing at import: a text, and what only a type checker or a script runs."""
    if isinstance(statement, ast.If):
        return ast.unparse(statement.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING", "__name__ == '__main__'")
    text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return text or isinstance(statement, ast.Pass)


def _is_plain(statement: ast.stmt) -> bool:
    """Whether it only gives values to names."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    parts = [part for target in targets if target for part in ast.walk(target)]
    names_only = all(isinstance(part, (ast.Name, ast.Tuple, ast.expr_context)) for part in parts)
    return isinstance(statement, (ast.Assign, ast.AnnAssign)) and names_only


# What a node says


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
    base, attributes = node, []
    while isinstance(base, ast.Attribute):
        base, attributes = base.value, [base.attr, *attributes]
    if not isinstance(base, ast.Name):
        return _plainly(node, scope)
    said, rest = _meaning(base.id, attributes, scope, stores=isinstance(base.ctx, ast.Store))
    for attribute in rest:
        said = ["attribute", attribute, said]
    return said


def _meaning(name: str, attributes: list[str], scope: _Scope, *, stores: bool) -> tuple:
    if scope.of_class and name in scope.of_class:  # bound by the class body, perhaps later
        outside = None if stores else _meaning(name, [], replace(scope, of_class=None), stores=False)[0]
        return ["name", name, outside], attributes
    here = scope.module
    own = f"{here.name}.{name}" if name in here.own else here.imports.get(name)
    path = scope.names.get(name, own)
    return (["name", name], attributes) if path is None else scope.resolve(".".join([path, *attributes]))


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: _Scope) -> list:
    """A function: decorators and defaults are looked up outside, the body inside."""
    body = node.body if isinstance(node.body, list) else [node.body]
    arguments = node.args
    taken = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    outside = {name for part in _within(body) if isinstance(part, ast.Global) for name in part.names}
    names = scope.names | _bound(body, scope.module) | {argument.arg: None for argument in taken if argument}
    inner = replace(
        scope,
        names={name: path for name, path in names.items() if name not in outside},
        of_class=None,
        read=frozenset(_read(body)) if scope.read is None else scope.read,
    )
    return [*_plainly(node, scope, "name", "body"), _called(node, scope), _shape(body, inner)]


def _class(node: ast.ClassDef, scope: _Scope) -> list:
    inner = replace(scope, of_class=frozenset(_bound(node.body, scope.module)))
    return [*_plainly(node, scope, "name", "body"), _called(node, scope), _shape(node.body, inner)]


def _called(node: ast.AST, scope: _Scope) -> object:
    """What a definition is called; nothing at the top of a module."""
    name = getattr(node, "name", None)
    return name and _meaning(name, [], scope, stores=True)[0]


def _comprehension(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, scope: _Scope) -> list:
    """A comprehension: its first iterable is looked up outside."""
    targets = _bound([generator.target for generator in node.generators], scope.module)
    inner = replace(scope, names=scope.names | targets, of_class=None)
    first, *others = node.generators
    said = [_shape(first.iter, scope), _plainly(first, inner, "iter"), _shape(others, inner)]
    return [*_plainly(node, inner, "generators"), said]


def _raise(node: ast.Raise, scope: _Scope) -> list:
    """Which error, not its words."""
    error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return ["Raise", error and _shape(error, scope)]


def _assign(node: ast.Assign, scope: _Scope) -> list | None:
    """An assignment, unless it makes words that only an error says."""
    target = node.targets[0]
    if scope.read is not None and scope.of_class is None and isinstance(target, ast.Name) and len(node.targets) == 1:
        unread = target.id not in scope.read and scope.names.get(target.id, "") is None
        acts = any(isinstance(part, (ast.Call, ast.Await, ast.Yield, ast.NamedExpr)) for part in ast.walk(node.value))
        if unread and not acts:
            return None
    return _plainly(node, scope)


def _annotated(node: ast.AnnAssign, scope: _Scope) -> list | None:
    """In a class a field; elsewhere an assignment, or nothing."""
    if scope.of_class is None:
        return _assign(ast.Assign([node.target], node.value), scope) if node.value else None
    words = {getattr(part, "id", getattr(part, "attr", None)) for part in ast.walk(node.annotation)}
    acts = _shape(node.annotation, scope) if words & _ANNOTATIONS_THAT_ACT else None
    return [*_plainly(node, scope), acts]


def _import(node: ast.Import | ast.ImportFrom, scope: _Scope) -> list | None:
    """An import, only where something else may have the same name: elsewhere the uses say it."""
    known = scope.module.imports | scope.names
    said = [
        [_meaning(_local(alias), [], scope, stores=True)[0], scope.resolve(_path(node, alias, scope.module))[0]]
        for alias in node.names
        if known.get(_local(alias)) is None
    ]
    return ["Import", said] if said else None


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


_SPECIAL: dict[type | tuple[type, ...], Callable[[Any, _Scope], object]] = {
    (ast.Name, ast.Attribute): _name,
    _FUNCTIONS: _function,
    ast.ClassDef: _class,
    _COMPREHENSIONS: _comprehension,
    ast.Raise: _raise,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    (ast.Import, ast.ImportFrom): _import,
    ast.Expr: _expression,
    (ast.Global, ast.Pass): _nothing,
}
