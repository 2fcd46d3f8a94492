"""Rewritings of the library that compute the same."""

import ast
from copy import deepcopy
from pathlib import Path

import superposition
from defprint import fingerprint, scopes
from superposition import runs

HOME = Path(superposition.__file__).parent
FUNCTIONS = sorted({run.function for run in runs.RUNS.values()})


def dotted(path):
    """The name of the module in a file."""
    parts = ["superposition", *path.relative_to(HOME).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {HOME / "__init__.py"}.union(*map(fingerprint.sources, FUNCTIONS))
SOURCES = {path for path in SOURCES if path.suffix == ".py"}  # others are data
SOURCES |= {HOME / "inputs.py", *HOME.glob("runs/*.py")}  # what points are made of, in the same modules
# Looked at, to see that a decorator is transparent and what its arguments are, and not followed.
SOURCES |= {HOME / "checked.py", HOME / "placing.py", HOME / "ranges.py", *HOME.glob("*/ranges.py")}
SOURCES |= {parent / "__init__.py" for path in SOURCES for parent in path.parents if HOME in parent.parents}
TEXTS = {dotted(path): path.read_text() for path in sorted(SOURCES)}
PACKAGES = {dotted(path) for path in SOURCES if path.name == "__init__.py"}


def parsed():
    """The modules by name, as trees to be changed; a copy of trees takes six times as long."""
    return {name: ast.parse(text) for name, text in TEXTS.items()}


# What computes the same: each rewrites all modules that the runs reach


def every(kind):
    """A rewriting that changes each node of a kind."""

    def declare(change):
        def rewriting(trees):
            for node in [node for tree in trees.values() for node in ast.walk(tree)]:
                if isinstance(node, kind):
                    change(node)

        rewriting.__name__ = change.__name__
        return rewriting

    return declare


def own_names(tree):
    """Names that the top of a module binds other than by imports."""
    return [name for name, path in scopes.bound(tree.body, None).items() if path is None]


def imports(tree):
    return [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]


DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def only_laid_out_again(trees):
    pass


@every(DEFINITIONS)
def docstrings_reworded(node):
    if ast.get_docstring(node):
        node.body[0] = ast.Expr(ast.Constant("Something else."))


@every(DEFINITIONS)
def docstrings_removed(node):
    if ast.get_docstring(node):
        node.body = node.body[1:] or [ast.Pass()]


@every(ast.Module)
def docstrings_of_modules_removed(tree):
    tree.body = tree.body[bool(ast.get_docstring(tree)) :]


@every(ast.Raise)
def errors_reworded(node):
    if isinstance(node.exc, ast.Call):
        node.exc.args = [ast.Constant("no")]


@every(ast.Raise)
def errors_have_a_cause(node):
    if node.exc is not None:
        node.cause = ast.Name("error")


@every(ast.Assert)
def assertions_say_why(node):
    node.msg = ast.Constant("because")


@every(ast.FunctionDef)
def arguments_annotated(node):
    for argument in [*node.args.args, *node.args.kwonlyargs]:
        argument.annotation = ast.Name("ArrayLike")


@every(ast.FunctionDef)
def results_annotated(node):
    node.returns = ast.parse("tuple[Float[np.ndarray, 'n'], int]", mode="eval").body


@every(ast.Module)
def constants_annotated(tree):
    for place, node in enumerate(tree.body):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            tree.body[place] = ast.AnnAssign(node.targets[0], ast.Name("object"), node.value, 1)


def fields_annotated_otherwise(trees):
    """Other types for fields and variables, but for fields of a class of another one here, which may act on them."""
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    above = [node for node in nodes if isinstance(node, ast.ClassDef) and node.bases]
    derived = [node for node in above if ast.unparse(node.bases[0]) != "NamedTuple"]
    kept = {id(part) for node in derived for part in node.body}
    for node in nodes:
        if isinstance(node, ast.AnnAssign) and id(node) not in kept:
            node.annotation = ast.Name("Anything")


@every(ast.Module)
def annotations_postponed(tree):
    tree.body.insert(bool(ast.get_docstring(tree)), ast.parse("from __future__ import annotations").body[0])


@every(ast.Module)
def imports_for_a_type_checker(tree):
    tree.body += ast.parse("if TYPE_CHECKING:\n    from collections.abc import Callable").body


@every(ast.Module)
def more_definitions(tree):
    tree.body += ast.parse("def an_unused_function(x=1): return np.sqrt(x)\nAN_UNUSED_NUMBER = 5").body


@every(ast.Module)
def listed_in_all(tree):
    if "__all__" not in ast.unparse(tree):
        tree.body.append(ast.parse(f"__all__ = {own_names(tree)}").body[0])


@every(ast.Module)
def definitions_in_reverse(tree):
    moved = [node for node in tree.body if isinstance(node, DEFINITIONS)]
    tree.body = [node for node in tree.body if node not in moved] + moved[::-1]


@every(ast.Module)
def libraries_under_other_names(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.alias) and node.asname == "np":
            node.asname = "numerics"
        if isinstance(node, ast.Name) and node.id == "np":
            node.id = "numerics"


def private_names_public(trees):
    """What the top of a module calls _x is called x_of_all everywhere, unless something else has that name."""
    names = {name for tree in trees.values() for name in own_names(tree)}
    private = {name for name in names if name.startswith("_") and not name.startswith("__")}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    private -= {node.arg for node in nodes if isinstance(node, (ast.arg, ast.keyword))}
    assert len(private) > 20
    for node in nodes:
        for field in ("id", "attr", "name", "asname"):
            if getattr(node, field, None) in private:
                setattr(node, field, getattr(node, field).strip("_") + "_of_all")


def imported_in(node):
    return [alias for part in ast.walk(node) if isinstance(part, ast.Import) for alias in part.names]


def each_function_in_a_module_of_its_own(trees):
    for module, tree in list(trees.items()):
        names, borrowed_from_others = own_names(tree), imports(tree)
        for node in [node for node in tree.body if isinstance(node, ast.FunctionDef) and names.count(node.name) == 1]:
            if module not in PACKAGES:
                home = f"{module}_{node.name}"
                guarded = [alias.name for part in tree.body if isinstance(part, ast.Try) for alias in imported_in(part)]
                others = [ast.alias(name) for name in [*names, *guarded] if name != node.name] or [
                    ast.alias("__name__")
                ]
                borrowed = ast.ImportFrom(module, others, 0)
                trees[home] = ast.Module([*deepcopy(borrowed_from_others), borrowed, node], [])
                tree.body[tree.body.index(node)] = ast.ImportFrom(home, [ast.alias(node.name)], 0)


def is_read(name):
    return isinstance(name.ctx, ast.Load)


def imported_where_it_is_used(trees):
    for tree in trees.values():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
                used -= {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and not is_read(part)}
                used -= {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
                local = [deepcopy(line) for line in imports(tree)]
                for line in local:
                    line.names = [alias for alias in line.names if (alias.asname or alias.name) in used]
                node.body = [*(line for line in local if line.names), *node.body]


def imported_relatively(trees):
    for module, tree in trees.items():
        depth = len(module.split(".")) - (module not in PACKAGES)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "superposition":
                node.module, node.level = ".".join(node.module.split(".")[1:]) or None, depth


def imported_as_whole_modules(trees):
    for tree in trees.values():
        for place, node in enumerate(tree.body):
            if isinstance(node, ast.ImportFrom) and all(f"{node.module}.{alias.name}" in trees for alias in node.names):
                names = [ast.alias(f"{node.module}.{alias.name}", alias.asname or alias.name) for alias in node.names]
                tree.body[place] = ast.Import(names)


def imported_through_a_face(trees):
    trees["superposition.face"] = ast.Module([], [])
    for node in [node for tree in trees.values() for node in ast.walk(tree)]:
        module = getattr(node, "module", None)
        if module in trees and not any(f"{module}.{alias.name}" in trees for alias in node.names):
            node.module = "superposition.face"
            for alias in node.names:
                shown = f"{module.replace('.', '_')}_{alias.name}"
                line = ast.ImportFrom(module, [ast.alias(alias.name, shown)], 0)
                trees["superposition.face"].body.append(line)
                alias.name, alias.asname = shown, alias.asname or alias.name


SAME = {
    "nothing": (only_laid_out_again,),
    "words": (docstrings_reworded, errors_reworded, errors_have_a_cause, assertions_say_why),
    "annotations": (
        arguments_annotated, results_annotated, constants_annotated, fields_annotated_otherwise,
        imports_for_a_type_checker, annotations_postponed,
    ),
    "order": (
        docstrings_removed, docstrings_of_modules_removed, more_definitions, listed_in_all, definitions_in_reverse,
    ),
    "names": (private_names_public, libraries_under_other_names),
    "files": (each_function_in_a_module_of_its_own,),
    "local imports": (imported_where_it_is_used,),
    "relative imports": (imported_relatively,),
    "whole modules": (imported_as_whole_modules,),
    "a face": (imported_through_a_face,),
}  # fmt: skip
