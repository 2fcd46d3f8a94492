"""The names that a module and the scopes in it bind, and the statements behind those at its top."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*FUNCTIONS, ast.ClassDef, *COMPREHENSIONS)
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)


@dataclass(frozen=True)
class Module:
    """A module: the statements behind each name of its ``own``, and the path of each name it imports."""

    name: str
    is_package: bool
    own: dict[str, list[ast.stmt]]
    imports: dict[str, str]
    tree: ast.Module

    def words_beside(self, name: str) -> set[str]:
        """Words of all texts that share a dict entry with the name, as key or value."""
        entries = (pair for node in ast.walk(self.tree) if isinstance(node, ast.Dict) for pair in _entries(node))
        texts = [{n.value for n in entry if isinstance(n.value, str)} for entry in entries]
        beside = [text.replace(":", ".") for entry in texts if name in entry for text in entry]
        return {word for text in beside for word in text.split(".")}


def module(name: str, tree: ast.Module, is_package: bool) -> Module:
    """Sort the statements of a module by the names at its top; refuse it if it imports everything from somewhere."""
    empty = Module(name, is_package, {}, {}, tree)
    names = bound(tree.body, empty) | bound(run(empty), empty)  # a type checker's only where nothing else has them
    own = {each: [] for each, path in names.items() if path is None}
    for statement in run(empty):
        for each in _concerned(statement, own, empty):
            own[each].append(statement)
    return replace(empty, own=own, imports={each: path for each, path in names.items() if path is not None})


def _entries(node: ast.Dict) -> Iterator[list[ast.Constant]]:
    for key, value in zip(node.keys, node.values, strict=True):
        yield [part for half in (key, value) if half for part in ast.walk(half) if isinstance(part, ast.Constant)]


def within(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of one scope, inner scopes closed."""
    for node in nodes:
        yield node
        if not isinstance(node, _SCOPES):
            yield from within(ast.iter_child_nodes(node))


def bound(nodes: Iterable[ast.AST], here: Module) -> dict[str, str | None]:
    """Names that a scope binds: the path of an import for a name that is only imported, None for others."""
    found: dict[str, set] = {}
    for node in within(nodes):
        for name, path in _bindings(node, here):
            found.setdefault(name, set()).add(path)
    return {name: next(iter(paths)) if len(paths) == 1 else None for name, paths in found.items()}


def _bindings(node: ast.AST, here: Module) -> Iterator[tuple[str, str | None]]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield local(alias), path_of(node, alias, here)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id, None
    elif isinstance(node, COMPREHENSIONS):
        yield from ((part.target.id, None) for part in ast.walk(node) if isinstance(part, ast.NamedExpr))
    elif isinstance(node, _NAMED) and node.name:
        yield node.name, None
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest, None


def local(alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or alias.name.split(".")[0]


def path_of(node: ast.Import | ast.ImportFrom, alias: ast.alias, here: Module) -> str:
    """The dotted path that an imported name refers to."""
    if isinstance(node, ast.Import):
        return alias.name if alias.asname else alias.name.split(".")[0]
    if alias.name == "*":
        raise ValueError(f"{here.name} line {node.lineno}: the fingerprint cannot follow `import *`; allowed: names")
    above = here.name.split(".")[: len(here.name.split(".")) - node.level + here.is_package] if node.level else []
    return ".".join([*above, *([node.module] if node.module else []), alias.name])


def _concerned(statement: ast.stmt, own: dict, here: Module) -> Iterable[str]:
    """Return the names of a module that a statement at its top defines or changes; all of them if it names none."""
    if _is_text(statement):
        return ()
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)) or is_plain(statement):
        return [name for name in bound([statement], here) if name in own]
    mentioned = {part.id for part in ast.walk(statement) if isinstance(part, ast.Name)} | set(bound([statement], here))
    return [name for name in own if name in mentioned] or own


def run(here: Module) -> list[ast.stmt]:
    """The statements at the top of a module that an import runs."""
    return _run(here.tree.body)


def _run(statements: Iterable[ast.stmt]) -> list[ast.stmt]:
    """The statements at the top of a module that an import runs."""
    found = []
    for each in statements:
        found += _run(each.orelse) if isinstance(each, ast.If) and _is_for_others(each.test) else [each]
    return found


def _is_for_others(test: ast.expr) -> bool:
    """Whether a condition holds only under TYPE_CHECKING or `__main__`."""
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING", "__name__ == '__main__'")


def _is_text(statement: ast.stmt) -> bool:
    text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return text or isinstance(statement, ast.Pass)


def is_plain(statement: ast.stmt) -> bool:
    """Whether a statement only gives values to names."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    parts = [part for target in targets if target for part in ast.walk(target)]
    names_only = all(isinstance(part, (ast.Name, ast.Tuple, ast.expr_context)) for part in parts)
    return isinstance(statement, (ast.Assign, ast.AnnAssign)) and names_only


def parted(node: ast.expr) -> tuple[ast.expr, list[str]]:
    """The expression before all attributes, and the attributes."""
    attributes = []
    while isinstance(node, ast.Attribute):
        node, attributes = node.value, [node.attr, *attributes]
    return node, attributes


def dotted(node: ast.expr, here: Module) -> str | None:
    """The path of a name at the top of a module, with its attributes, called or not; None for Python's own."""
    base, attributes = parted(node.func if isinstance(node, ast.Call) else node)
    name = getattr(base, "id", "")
    path = f"{here.name}.{name}" if name in here.own else here.imports.get(name)
    return path and ".".join([path, *attributes])
