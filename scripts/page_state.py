"""Whether a stored notebook still holds: what its code says and reaches, and which outputs differ by rounding alone.

A page's state is a fingerprint of its code cells, in which a name from the library stands for what its definition
says, and of the stored tables and claims that it names. So a renamed function, a moved module or a rewritten
sentence leaves it as it was; another formula, another table or another verdict does not.
"""

import ast
import hashlib
import json
import re
import tomllib
from functools import cache
from pathlib import Path

from defprint import fingerprint
from superposition.runs import RUNS

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "book" / "data"
LIBRARY = ROOT / "lib" / "superposition"
CLAIMS = LIBRARY / "book" / "claims.toml"
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
# Of the largest number of an output: a page that runs again differs by 1e-15 or so, and anything that matters by more.
ROUNDING = 1e-9
SIGNED = ("certified", "library_digest", "provenance_sha256")  # of a provenance: what a signing changes


def identify(cells):
    """Give each cell an id by what it says, so that an inserted cell changes no other's; repeated ones are counted."""
    seen = {}
    for cell in cells:
        name = _hash([cell.cell_type, cell.source])[:12]
        seen[name] = seen.get(name, 0) + 1
        cell.id = name if seen[name] == 1 else f"{name}-{seen[name]}"


def state(notebook):
    """Fingerprint of what the outputs of a page follow from; None where its code cannot be followed."""
    trees = [ast.parse(cell.source) for cell in notebook.cells if cell.cell_type == "code"]
    imports = {local: path for tree in trees for local, path in _imported(tree)}
    texts = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    words = {node.value for node in texts if isinstance(node.value, str)}
    try:
        said = [ast.dump(_Resolved(imports).visit(tree)) for tree in trees]
    except ValueError:  # of the fingerprint: a construct that it refuses to follow
        return None
    shown = [_metadata(cell) for cell in notebook.cells if cell.cell_type == "code"]
    return _hash([said, shown, _tables(words), _claims(words), _presentation()])[:16]


def keep_what_rounding_moved(new, old):
    """Take the stored outputs of cells that say the same, where the new ones differ in the last digits alone."""
    stored = {cell.id: cell for cell in old.cells if cell.cell_type == "code"}
    for cell in new.cells:
        if cell.cell_type == "code" and cell.id in stored and alike(cell.outputs, stored[cell.id].outputs):
            count = cell.execution_count
            cell.outputs = stored[cell.id].outputs
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = count


def alike(one, other):
    """Whether two outputs say the same, numbers up to rounding; pictures of points are decided by their vector form."""
    if type(one) is not type(other) and not (isinstance(one, dict) and isinstance(other, dict)):
        return False
    if isinstance(one, dict):
        skipped = {"execution_count"} | ({"image/png"} if "image/svg+xml" in one else set())
        return one.keys() == other.keys() and all(alike(one[k], other[k]) for k in one if k not in skipped)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return _same_text(one, other) if isinstance(one, str) else _same_number(one, other)


def _same_text(one, other):
    if one == other or NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return one == other
    return all(map(_same_number, map(float, NUMBER.findall(one)), map(float, NUMBER.findall(other))))


def _same_number(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= ROUNDING * max(1.0, abs(one))
    return one == other


class _Resolved(ast.NodeTransformer):
    """Puts the fingerprint of a definition in the place of each name that leads to one; imports say nothing else."""

    def __init__(self, imports):
        self.imports = imports

    def visit_Import(self, node):
        return None

    visit_ImportFrom = visit_Import

    def visit_Try(self, node):
        imports = all(isinstance(statement, (ast.Import, ast.ImportFrom)) for statement in node.body)
        return None if imports else self.generic_visit(node)

    def visit_Attribute(self, node):
        return self._behind(node) or self.generic_visit(node)

    def visit_Name(self, node):
        return self._behind(node) or node

    def _behind(self, node):
        parts, base = [], node
        while isinstance(base, ast.Attribute):
            parts, base = [base.attr, *parts], base.value
        path = self.imports.get(base.id) if isinstance(base, ast.Name) else None
        if path is None:
            return None
        whole = [*path.split("."), *parts]
        if whole[0] != "superposition":
            return ast.Constant(".".join(whole))
        definition, rest = _split(whole[1:])
        whole_module = _library(definition).exists()  # a variable of the page that is called as one
        if whole_module or definition[0] in ("runs", "book"):  # tables, whose content counts, and how they are shown
            return ast.Constant(".".join(whole))
        return ast.Constant([fingerprint.of(f"superposition:{'.'.join(definition)}"), *rest])


def _split(parts):
    """Modules and the name of a definition in the library, and the attributes after it."""
    module = 0
    while module < len(parts) and (_library(parts[: module + 1]).is_dir() or _library(parts[: module + 1]).exists()):
        module += 1
    return parts[: module + 1], parts[module + 1 :]


def _library(parts):
    path = LIBRARY.joinpath(*parts)
    return path if path.is_dir() else path.with_suffix(".py")


def _imported(tree):
    """Names that an import binds, and the dotted paths that they stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                yield alias.asname or top, alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _metadata(cell):
    """What of a cell's metadata its outputs depend on: captions stand in some of them, folds in none."""
    return cell.metadata.get("mystnb", {}).get("figure", {})


def _tables(words):
    """Stored tables that are named, whole or by how a name begins: their content, and what joins predictions to it."""
    beginnings = tuple(word for word in words if word.endswith("-")) or ("\n",)
    paths = [path for path in sorted(DATA.glob("*.*")) if path.stem in words or path.stem.startswith(beginnings)]
    content = [[path.name, _said(path)] for path in paths]
    joined = [function for path in paths if path.stem in RUNS for function in RUNS[path.stem].predicted]
    return content, [fingerprint.of(f"{f.__module__}:{f.__qualname__.split('.')[0]}") for f in joined]


def _said(path):
    """What a page shows of a table's file; who has signed it stands in its line alone, which `refresh` renews."""
    if path.suffix != ".json":
        return hashlib.sha256(path.read_bytes()).hexdigest()
    said = json.loads(path.read_text(encoding="utf-8"))
    return {name: value for name, value in said.items() if name not in SIGNED}


def _claims(words):
    """What the ledger declares about claims and chapters that are named."""
    declared = tomllib.loads(CLAIMS.read_text(encoding="utf-8"))
    named = {name: claim for name, claim in declared.items() if name in words or claim["chapter"] in words}
    return {name: {field: said for field, said in claim.items() if field != "code"} for name, claim in named.items()}


@cache
def _presentation():
    """What the modules say that show checks, tables and figures, without their words."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted((LIBRARY / "book").glob("*.py"))]
    return [ast.dump(_Wordless().visit(tree)) for tree in trees]


class _Wordless(ast.NodeTransformer):
    """Takes out texts that stand by themselves."""

    def visit_Expr(self, node):
        return None if isinstance(node.value, ast.Constant) else node


def _hash(said):
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
