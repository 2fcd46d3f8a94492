"""The fingerprint of every registered run, on a copy of the library that is rewritten: moved, renamed, or computing
something else.
"""

import ast
import random
import sys
from copy import deepcopy
from importlib import import_module
from importlib.util import spec_from_file_location
from pathlib import Path

import pytest
import superposition
from superposition import runs
from superposition.runs import fingerprint

HOME = Path(superposition.__file__).parent
FUNCTIONS = sorted({run.function for run in runs.RUNS.values()})


def dotted(path):
    """The name of the module in a file."""
    parts = ["superposition", *path.relative_to(HOME).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {HOME / "__init__.py"}.union(*map(fingerprint.sources, FUNCTIONS))
SOURCES |= {parent / "__init__.py" for path in SOURCES for parent in path.parents if HOME in parent.parents}
TREES = {dotted(path): ast.parse(path.read_text()) for path in sorted(SOURCES)}
PACKAGES = {dotted(path) for path in SOURCES if path.name == "__init__.py"}
REACHED = {f: {node for node in fingerprint._reached(fingerprint._start(f)) if node[1] != "*"} for f in FUNCTIONS}


def forget():
    for function in vars(fingerprint).values():
        getattr(function, "cache_clear", lambda: None)()


@pytest.fixture
def printed(tmp_path, monkeypatch):
    """Fingerprints of a rewritten library: its modules by name, written where they are looked for."""
    home = tmp_path / "superposition"
    monkeypatch.setattr(fingerprint, "find_spec", lambda top: spec_from_file_location(top, home / "__init__.py"))

    def written(trees, functions=FUNCTIONS, packages=PACKAGES):
        for name, tree in trees.items():
            path = tmp_path.joinpath(*name.split("."), "__init__" if name in packages else "").with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(ast.unparse(ast.fix_missing_locations(tree)))
        forget()
        return [fingerprint.of(function) for function in functions]

    forget()
    yield written
    forget()


@pytest.fixture(scope="module")
def original():
    """The fingerprints of the library as it is."""
    forget()
    return [fingerprint.of(function) for function in FUNCTIONS]


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
    return [name for name, path in fingerprint.syntax._bound(tree.body, None).items() if path is None]


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


@every(ast.AnnAssign)
def fields_annotated_otherwise(node):
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
    private = {name for tree in trees.values() for name in own_names(tree) if name.startswith("_")}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    private -= {node.arg for node in nodes if isinstance(node, (ast.arg, ast.keyword))}
    assert len(private) > 20
    for node in nodes:
        for field in ("id", "attr", "name", "asname"):
            if getattr(node, field, None) in private:
                setattr(node, field, getattr(node, field).strip("_") + "_of_all")


def each_function_in_a_module_of_its_own(trees):
    for module, tree in list(trees.items()):
        names, borrowed_from_others = own_names(tree), imports(tree)
        for node in [node for node in tree.body if isinstance(node, ast.FunctionDef) and names.count(node.name) == 1]:
            if module not in PACKAGES:
                home = f"{module}_{node.name}"
                others = [ast.alias(name) for name in names if name != node.name] or [ast.alias("__name__")]
                borrowed = ast.ImportFrom(module, others, 0)
                trees[home] = ast.Module([*deepcopy(borrowed_from_others), borrowed, node], [])
                tree.body[tree.body.index(node)] = ast.ImportFrom(home, [ast.alias(node.name)], 0)


def imported_where_it_is_used(trees):
    for tree in trees.values():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
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
                shown = f"{module.split('.')[-1]}_{alias.name}"
                line = ast.ImportFrom(module, [ast.alias(alias.name, shown)], 0)
                trees["superposition.face"].body.append(line)
                alias.name, alias.asname = shown, alias.asname or alias.name


SAME = [
    only_laid_out_again, docstrings_reworded, docstrings_removed, docstrings_of_modules_removed, errors_reworded,
    errors_have_a_cause, assertions_say_why, arguments_annotated, results_annotated, constants_annotated,
    fields_annotated_otherwise, annotations_postponed, imports_for_a_type_checker, more_definitions, listed_in_all,
    definitions_in_reverse, libraries_under_other_names, private_names_public, each_function_in_a_module_of_its_own,
    imported_where_it_is_used, imported_relatively, imported_as_whole_modules, imported_through_a_face,
]  # fmt: skip


@pytest.mark.parametrize("rewriting", SAME, ids=lambda rewriting: rewriting.__name__)
def test_rewriting_that_computes_the_same_leaves_every_run_valid(printed, original, rewriting):
    trees = deepcopy(TREES)
    rewriting(trees)
    assert printed(trees) == original


@pytest.mark.parametrize("place", ["superposition.wing", "superposition.wings.one"])
def test_moving_all_modules_leaves_every_run_valid(printed, original, place):
    moved = {name.replace("superposition", place, 1): tree for name, tree in deepcopy(TREES).items()}
    for tree in moved.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "superposition":
                node.module = node.module.replace("superposition", place, 1)
    above = {".".join(place.split(".")[:depth]) for depth in (1, 2)} - set(moved)
    trees = moved | {name: ast.Module([], []) for name in above}
    packages = above | {name.replace("superposition", place, 1) for name in PACKAGES}
    functions = [function.replace("superposition", place, 1) for function in FUNCTIONS]
    assert printed(trees, functions, packages) == original


def test_renaming_all_modules_leaves_every_run_valid(printed, original):
    def renamed(name):
        return name if name in PACKAGES else f"{name}_renamed"

    trees = {renamed(name): tree for name, tree in deepcopy(TREES).items()}
    for node in [node for tree in trees.values() for node in ast.walk(tree)]:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "superposition":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in TREES:
                    alias.name, alias.asname = renamed(inner).split(".")[-1], alias.asname or alias.name
            node.module = renamed(node.module)
    functions = [f"{renamed(function.split(':')[0])}:{function.split(':')[1]}" for function in FUNCTIONS]
    assert printed(trees, functions) == original


# What computes something else: one place that a run reaches

SWAPPED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Add,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.USub: ast.UAdd, ast.Not: ast.UAdd,
}  # fmt: skip


def number(node):
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        node.value += 1
        return True


def operator(node):
    if isinstance(getattr(node, "op", None), tuple(SWAPPED)):
        node.op = SWAPPED[type(node.op)]()
        return True


def comparison(node):
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPPED[type(node.ops[0])]()
        return True


def default(node):
    if isinstance(node, ast.arguments):
        for defaults in (node.defaults, node.kw_defaults):
            for place, value in enumerate(defaults):
                if value:
                    defaults[place] = ast.Constant(99)
                    return True


def arguments(node):
    if isinstance(node, ast.Call) and len(node.args) > 1:
        if ast.dump(node.args[0]) != ast.dump(node.args[1]):
            node.args[:2] = node.args[1::-1]
            return True


def function(node):
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("np", "torch", "math"):
        node.attr += "2"
        return True


def result(node):
    if isinstance(node, ast.Return) and node.value:
        node.value = ast.UnaryOp(ast.USub(), node.value)
        return True


def statement(node):
    body = getattr(node, "body", None)
    if isinstance(body, list) and len(body) > 1 and isinstance(body[-2], (ast.Assign, ast.For, ast.With)):
        del body[-2]
        return True


CHANGES = [number, operator, comparison, default, arguments, function, result, statement]


def changed(run_function, change):
    """A module with one change in a definition that a run reaches, and the two names; seeded by run and kind."""
    rng = random.Random(f"{run_function} {change.__name__}")
    for module, name in rng.sample(sorted(REACHED[run_function]), len(REACHED[run_function])):
        tree = deepcopy(TREES[module])
        for node in tree.body:
            # what only an error says does not count
            says = any(isinstance(part, (ast.Raise, ast.JoinedStr, ast.AnnAssign)) for part in ast.walk(node))
            if name in fingerprint.syntax._bound([node], None) and not says:
                parts = [part for part in ast.walk(node) if not isinstance(part, ast.expr_context)]
                rng.shuffle(parts)
                if any(change(part) for part in parts):
                    return module, name, tree
    raise LookupError("there is no place for this change")


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_change_that_a_run_reaches_makes_its_tables_stale(printed, original, change):
    printed(TREES, [])
    for place, run_function in enumerate(FUNCTIONS):
        module, name, tree = changed(run_function, change)
        assert printed({module: tree}, [run_function]) != [original[place]], (module, name)
        printed({module: TREES[module]}, [])


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_change_makes_the_tables_of_no_other_run_stale(printed, original, change):
    module, name, tree = changed(random.Random(change.__name__).choice(FUNCTIONS), change)
    now = printed(TREES | {module: tree})
    stale = [old != new for old, new in zip(original, now, strict=True)]
    assert stale == [(module, name) in REACHED[function] for function in FUNCTIONS], (module, name)


# What a run calls is reached


@pytest.mark.parametrize("run_function", FUNCTIONS)
def test_all_that_a_run_calls_is_reached(run_function):
    run = next(run for run in runs.RUNS.values() if run.function == run_function)
    point = runs.points(run, "small")[0].model_dump(mode="json")
    module, name = run_function.split(":")
    call, called = getattr(import_module(module), name), set()

    def note(frame, event, argument):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(HOME)) and not code.co_qualname.startswith("<"):
            called.add((dotted(Path(code.co_filename)), code.co_qualname.split(".")[0]))

    sys.setprofile(note)
    try:
        call(**point, device="cpu")
    finally:
        sys.setprofile(None)
    assert len(called) > 1 and called <= REACHED[run_function]
