"""Small faults of code: another comparison, operator, number, condition or default; a factor, term or keyword left out.

`scripts/mutants.py` puts them into the library.
"""

import ast
import copy
from typing import Any, NamedTuple

SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.And: ast.Or, ast.Or: ast.And, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
PARTS = {
    ast.Add: "left right",
    ast.Sub: "left",
    ast.Mult: "left right",
    ast.MatMult: "left right",
    ast.Div: "left",
    ast.Pow: "left",
}  # what may be left of an operation


class Fault(NamedTuple):
    """One change of a module's code: where it goes, what stands there, and how both read."""

    holder: ast.AST
    field: str
    index: int | None
    old: Any
    new: Any
    line: int
    was: str
    now: str


def changes(node):
    """Yield a node with one fault each."""
    if isinstance(node, ast.BinOp):
        if type(node.op) in SWAPS:
            yield ast.BinOp(node.left, SWAPS[type(node.op)](), node.right)
        for part in PARTS.get(type(node.op), "").split():
            yield getattr(node, part)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(SWAPS[type(node.op)](), node.values)
    elif isinstance(node, ast.AugAssign):
        yield ast.Pass()
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield ast.Compare(node.left, [SWAPS[type(node.ops[0])](), *node.ops[1:]], node.comparators)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, float):
        yield ast.Constant(1.01 * node.value + (node.value == 0))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        yield node.operand
    elif isinstance(node, (ast.If, ast.IfExp)):
        changed = copy.copy(node)
        changed.test = ast.UnaryOp(ast.Not(), node.test)
        yield changed


def faults(tree):
    """Yield every fault of some code, outside of annotations and what they import, errors and texts."""
    for field, value in ast.iter_fields(tree):
        for index, node in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(node, ast.AST) or field in ("annotation", "returns"):
                continue
            if isinstance(node, (ast.Raise, ast.Import, ast.ImportFrom, ast.JoinedStr)):
                continue
            if isinstance(node, ast.If) and brief(node.test) == "TYPE_CHECKING":
                continue  # the names of types that it imports are for annotations, and no computation reads them
            if isinstance(node, ast.keyword) and node.arg:
                others = [one for one in value if one is not node]
                yield Fault(tree, field, None, value, others, node.lineno, brief(node), "")
            for new in changes(node):
                new = ast.copy_location(new, node) if not hasattr(new, "lineno") else new
                place = index if isinstance(value, list) else None
                yield Fault(tree, field, place, node, new, node.lineno, brief(node), brief(new))
            yield from faults(node)


def put(fault, node):
    """Put a node into the place of a fault."""
    if fault.index is None:
        setattr(fault.holder, fault.field, node)
    else:
        getattr(fault.holder, fault.field)[fault.index] = node


def code_with(tree, fault):
    """Return the code with a fault."""
    put(fault, fault.new)
    text = ast.unparse(ast.fix_missing_locations(tree))
    put(fault, fault.old)
    return text


def brief(node):
    """Return code on one short line."""
    return ast.unparse(node).split("\n")[0][:80]
