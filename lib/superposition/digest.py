"""A digest of the library code that a function depends on.

A stored result is worth something only together with the code that made it. The digest covers
the definitions that a function reaches by name, through all modules of its own package, as
parsed code: comments, docstrings and layout do not count, and neither does what is not reached.
"""

import ast
import hashlib
import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def of(function):
    """Digest of the code that a function depends on.

    Parameters
    ----------
    function : str
        Where it is, as "module:name".

    Returns
    -------
    str
        Sixteen hexadecimal digits.

    Raises
    ------
    ValueError
        If the module or the name does not exist.
    """
    text = json.dumps([[place, _shape(node)] for place, node in sorted(_reached(function).items())])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def modules(function):
    """Names of the modules that hold the code a function depends on.

    Parameters
    ----------
    function : str
        Where it is, as "module:name".

    Returns
    -------
    list of str
        Sorted.

    Raises
    ------
    ValueError
        If the module or the name does not exist.
    """
    return sorted({place.split(":")[0] for place in _reached(function)})


def _reached(function):
    """All statements at the top of a module that the function reaches, by place."""
    module, name = function.split(":")
    if name not in _definitions(module):
        raise ValueError(f"function = {function!r} does not exist; {module} defines {', '.join(_definitions(module))}")
    package = module.split(".")[0]
    found, todo = {}, [(module, name)]
    while todo:
        module, name = todo.pop()
        for place, node in _statements(module, name):
            if place not in found:
                found[place] = node
                todo += _references(module, node, package)
    return found


def _statements(module, name):
    """What binds a name at the top of a module, and what runs there whatever is asked for; all of it for "*"."""
    count = 0
    for node in _parsed(module).body:
        bound = _bound(node)
        count += not bound
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((f"{module}:{name}", alias) for alias in node.names if _local(alias) == name)
        elif name in bound or name == "*" or not bound:
            yield f"{module}:{','.join(sorted(bound)) or count}", node


def _references(module, node, package):
    """Pairs (module, name) that a statement refers to: its own module's, and those of the same package."""
    imported, own = _imports(module, package), _definitions(module)
    taken = set()  # names whose attribute is known, so that not the whole module is meant
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id in imported:
            target, name = imported[part.value.id]
            if name is None:
                taken.add(part.value)
                yield target, part.attr
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part not in taken:
            if part.id in imported:
                target, name = imported[part.id]
                yield target, name or "*"
            elif part.id in own:
                yield module, part.id


@cache
def _imports(module, package):
    """What each name imported from the package stands for: (module, None), or (module, name in it)."""
    found = {}
    for node in ast.walk(_parsed(module)):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == package:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found[_local(alias)] = (inner, None) if _source(inner) else (node.module, alias.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)) and _hides_a_module(node, package):
            raise ValueError(f"{module} line {node.lineno}: the digest can follow `from {package} import …` only")
    return found


def _hides_a_module(node, package):
    if isinstance(node, ast.ImportFrom):
        return node.level > 0
    return any(alias.name.split(".")[0] == package for alias in node.names)


def _local(alias):
    return alias.asname or alias.name.split(".")[0]


@cache
def _definitions(module):
    """Names that the top level of a module defines or imports."""
    return sorted(set().union(*map(_bound, _parsed(module).body)))


def _bound(node):
    """Names that a statement at the top of a module binds; none where it has to run whatever is asked for."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {_local(alias) for alias in node.names}
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return set()


@cache
def _parsed(module):
    path = _source(module)
    if path is None:
        raise ValueError(f"module = {module!r} does not exist")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node):
            node.body = node.body[1:]
    return tree


@cache
def _source(module):
    """The file of a module, found without importing it; None where there is none."""
    top, *inner = module.split(".")
    spec = find_spec(top)
    if spec is None or not inner:
        return Path(spec.origin) if spec else None
    stem = Path(spec.origin).parent.joinpath(*inner)
    return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.exists()), None)


def _shape(node):
    """A nested list that is the same under every version of Python: fields that are empty are left out."""
    if isinstance(node, ast.AST):
        fields = [(name, value) for name, value in ast.iter_fields(node) if name != "kind"]
        return [type(node).__name__, *([name, _shape(value)] for name, value in fields if value not in (None, []))]
    return [_shape(part) for part in node] if isinstance(node, list) else repr(node)
