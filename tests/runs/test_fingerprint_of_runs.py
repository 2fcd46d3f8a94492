"""The fingerprint of every registered run, on a copy of the library that is rewritten: moved, renamed, or computing
something else.
"""

import ast
import cProfile
import gc
import inspect
import random
import sys
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from defprint import fingerprint, scopes
from rewritings import FUNCTIONS, HOME, PACKAGES, SAME, TEXTS, dotted, parsed
from superposition import runs
from superposition.runs import tables

pytestmark = pytest.mark.thorough  # on a little package: test_fingerprint
SAID = fingerprint._definition.__wrapped__
REACHED = {f: {node for node in fingerprint._reached(fingerprint._start(f)) if node[0]} for f in FUNCTIONS}


@pytest.fixture(autouse=True)
def no_search_for_garbage():
    """Syntax trees are many objects, none of them garbage before the test ends."""
    gc.disable()
    yield
    gc.enable()


def forget():
    for function in (*vars(fingerprint).values(), text_of):
        getattr(function, "cache_clear", lambda: None)()


@cache
def text_of(module):
    return fingerprint._known_source(module).read_text()


@cache
def module_of(name, text):
    return scopes.module(name, ast.parse(text), name in PACKAGES)


@cache
def said_of(module, name, text):
    return SAID(module, name)


@pytest.fixture
def read_once(monkeypatch):
    """What a text says is worked out once: a change inside of a definition changes what no other says, or refuses."""
    monkeypatch.setattr(fingerprint, "_module", lambda name: module_of(name, text_of(name)))
    monkeypatch.setattr(fingerprint, "_definition", lambda *node: said_of(*node, node[0] and text_of(node[0])))
    monkeypatch.setattr(fingerprint, "_imported", lambda modules: ())


@pytest.fixture
def printed(tmp_path, monkeypatch):
    """Fingerprints of a rewritten library: its modules by name, written where they are looked for."""
    home = tmp_path / "superposition"
    home.mkdir()
    (home / "data").symlink_to(HOME / "data")
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


@pytest.mark.parametrize("kind", SAME)
def test_rewriting_that_computes_the_same_leaves_every_run_valid(printed, original, kind):
    trees = parsed()
    for rewriting in SAME[kind]:
        rewriting(trees)
    assert printed(trees) == original


@pytest.mark.parametrize("place", ["superposition.wing", "superposition.wings.one"])
def test_moving_all_modules_leaves_every_run_valid(printed, original, place):
    moved = {name.replace("superposition", place, 1): tree for name, tree in parsed().items()}
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

    trees = {renamed(name): tree for name, tree in parsed().items()}
    for node in [node for tree in trees.values() for node in ast.walk(tree)]:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "superposition":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in TEXTS:
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
        node.value = 2 * node.value + 1  # not 1 more, which 1e100 would not notice
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


# Decorators that choose a device, or when the host asks for a value, and the functions by which they replace others
PLACES = {
    "_other_accelerators": "_other_accelerators.<locals>.resolved",
    "_asks_once": "_asks_once.<locals>.asking",
    "_as_asked": "_as_asked.<locals>.answered",
    "_looks_seldom": "_looks_seldom.<locals>.descended",
    "placed": "placed.<locals>.there",
}
# All decorators that change no value, which a fingerprint leaves out
TRANSPARENT = ("checked(", "_refuses_missed_minima", *PLACES)


def without_annotations(node):
    """All nodes of a definition but those that only a type checker, or a check of arguments, reads."""
    yield node
    for field, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            checks = field == "decorator_list" and ast.unparse(part).startswith(TRANSPARENT)
            if isinstance(part, ast.AST) and field not in ("annotation", "returns") and not checks:
                yield from without_annotations(part)


def says_an_error(node):
    """Whether a part may be what only an error says, which does not count."""
    return any(isinstance(part, (ast.Raise, ast.JoinedStr, ast.AnnAssign)) for part in ast.walk(node))


def changed(run_function, change):
    """A module with one change in a definition that a run reaches, and the two names; seeded by run and kind."""
    rng = random.Random(f"{run_function} {change.__name__}")
    for module, name in rng.sample(sorted(REACHED[run_function]), len(REACHED[run_function])):
        tree = ast.parse(TEXTS[module])
        for node in tree.body:
            if name in scopes.bound([node], None) and not says_an_error(node):
                parts = [part for part in without_annotations(node) if not isinstance(part, ast.expr_context)]
                rng.shuffle(parts)
                if any(change(part) for part in parts):
                    return module, name, tree
    raise LookupError("there is no place for this change")


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_change_that_a_run_reaches_makes_its_tables_stale(printed, original, read_once, change):
    printed(parsed(), [])
    for place, run_function in enumerate(FUNCTIONS):
        try:
            module, name, tree = changed(run_function, change)
        except LookupError:
            assert change is default  # a run may reach no parameter that has one
            continue
        assert printed({module: tree}, [run_function]) != [original[place]], (module, name)
        printed({module: ast.parse(TEXTS[module])}, [])


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_change_makes_the_tables_of_no_other_run_stale(printed, original, read_once, change):
    module, name, tree = changed(random.Random(change.__name__).choice(FUNCTIONS), change)
    now = printed(parsed() | {module: tree})
    stale = [old != new for old, new in zip(original, now, strict=True)]
    assert stale == [(module, name) in REACHED[function] for function in FUNCTIONS], (module, name)


# What a run calls is reached, and what it reads is said

EARS = []  # a list for each that listens; a hook cannot be taken away again
sys.addaudithook(lambda event, said: [ear.append(said[0]) for ear in EARS] if event == "open" else None)
PYTHONS = (sys.prefix, sys.base_prefix, "/proc", "/sys", "/dev")


@contextmanager
def opened():
    """The files that are opened meanwhile, but Python's, its libraries' and the system's, and our modules."""
    heard, found = [], set()
    EARS.append(heard)
    try:
        yield found
    finally:
        EARS.remove(heard)
        paths = {Path(path).resolve() for path in heard if isinstance(path, str)}
        found |= {path for path in paths if path.suffix not in (".py", ".pyc") and not str(path).startswith(PYTHONS)}


def test_a_file_that_is_opened_is_heard(tmp_path):
    (tmp_path / "a.npy").touch()
    with opened() as files:
        (tmp_path / "a.npy").read_bytes()
    assert files == {tmp_path / "a.npy"}


@pytest.mark.parametrize("run_function", FUNCTIONS)
def test_all_that_a_run_calls_is_reached(run_function):
    run = next(run for run in runs.RUNS.values() if run.function == run_function)
    point = runs.points(run, "small")[0].model_dump(mode="json")
    if "steps" in point:  # the first two hundred call all that later ones do
        point["steps"] = min(point["steps"], 200)
    module, name = run_function.split(":")
    call, profile = getattr(import_module(module), name), cProfile.Profile(builtins=False)
    where = {"device": "cpu"} if "device" in inspect.signature(call).parameters else {}
    for reached, _ in REACHED[run_function]:  # what a module does when it is imported is no call of the run
        import_module(reached)
    with opened() as files:
        found = profile.runcall(call, **point, **where)
    data = {path for path in fingerprint.sources(run_function) if path.suffix != ".py"}
    assert files <= data and bool(files) == bool(data)
    assert found.keys() <= run.columns.keys(), "a column without a meaning"
    read = {column: np.array([value]) for column, value in {**point, **found}.items()}
    joined = tables.with_predictions(run, read)
    assert all(joined[column] is read[column] for column in read), "a prediction that is stored"
    stats = [entry for entry in profile.getstats() if not isinstance(entry.code, str)]
    aside = beside_the_run(stats)
    ours = [
        entry.code for entry in stats if str(entry.code.co_filename).startswith(str(HOME)) and entry.code not in aside
    ]
    named = [code for code in ours if not code.co_qualname.startswith(("<", "__getattr__"))]
    called = {(dotted(Path(code.co_filename)), code.co_qualname.split(".")[0]) for code in named}
    assert len(called) > 1 and called - REACHED[run_function] == set()


def beside_the_run(stats):
    """Code that checks of arguments alone call, or the import of a module: neither changes what a run computes."""
    calls = {entry.code: [one.code for one in entry.calls or ()] for entry in stats}
    apart = ("checked.py", "checks.py", "placing.py", "minima.py")
    found = {code for code in calls if code.co_qualname == "<module>" or code.co_filename.endswith(apart[:3])}
    found |= {code for code in calls if code.co_filename.endswith(apart[3]) and "guarded" in code.co_qualname}
    places = {code for code in calls if code.co_qualname in PLACES.values()}
    found |= places
    guards = places | {code for code in found if code.co_qualname.endswith("guarded")}  # what they guard is of the run
    todo = list(found - guards)
    while todo:
        more = set(calls.get(todo.pop(), ())) - found
        found |= {code for code in more if not isinstance(code, str)}
        todo += [code for code in more if not isinstance(code, str)]
    return found
