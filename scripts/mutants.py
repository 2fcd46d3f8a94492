"""Random faults in the library, each against the tests of its own module: ``python scripts/mutants.py [part …]``.

A mutant is a copy of the library with one small change: a comparison, an operator, a number, a condition, a default, a
result. It is killed when the tests at the mirrored path (``tests/rug/test_codes.py`` for ``superposition.codes.fans``),
the module's doctests or the contract on its input fail; one that takes thrice the processor time of the tests is late.
What was tried is kept in ``_build/mutants.jsonl``, so that the same command goes on where it was stopped; a module that
changed is tried anew, and so is every survivor. The seed chooses a module's mutants.
"""

import argparse
import ast
import copy
import csv
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from functools import cache
from pathlib import Path

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")  # before numpy is loaded
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

import numpy  # noqa: E402, F401  loaded once, for the copies of this process
import pytest  # noqa: E402
import scipy.integrate  # noqa: E402, F401
import scipy.optimize.elementwise  # noqa: E402, F401
import scipy.stats  # noqa: E402, F401
import torch  # noqa: E402, F401
from tqdm import tqdm  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "lib" / "superposition"
STORED, EQUIVALENT = ROOT / "tests" / "MUTATIONS.md", ROOT / "tests" / "equivalent-mutants.csv"
HEAD = """# Random faults, and what the tests of each module saw

Made by `make mutants MUTANTS=--write`: one small fault at a time, against the module's own tests and doctests, and the
contract on its input. Late: the tests took thrice their time, or waited for ever. Equivalent: the fault changes nothing
that is promised; the reason stands below. A row stands until its module is tried again.
"""
UNTRIED = "Not tried, most of them because a fault costs the minutes of tests that train: "
KINDS = ("killed", "late", "equivalent", "survived")
KEPT = ROOT / "_build" / "mutants.jsonl"
SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.And: ast.Or, ast.Or: ast.And, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip

INDIRECT = {
    "runs/syntax.py": ["runs/test_fingerprint.py"],
    "runs/bridge.py": ["runs/test_certify.py"],
    "book/reference.py": ["test_reference.py"],
    "receptive/wave_growth.py": ["receptive/test_flat_field.py", "receptive/test_hermite_rates.py"],
    "decoders/dictionary_training.py": ["rug/test_dictionaries.py"],
    "experiments/recipe.py": ["rug/test_protocols.py"],
}
WINGS, CONTRACT = ("toy", "rug", "incidental", "receptive"), 60  # seconds that the contract on one module's input has
LONG = 60  # seconds for tests whose time was not kept
WAITING = 5  # times the limit on processor time, by the clock: what waits for ever uses no processor
LEFT_OUT = "runs/catalogue"  # another number there is another run, not a fault


def other(node):
    """Return a node with one fault, or None where this kind has none."""
    changed = copy.deepcopy(node)
    if isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in SWAPS:
        changed.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        changed.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        changed.value = node.value + 1 if isinstance(node.value, int) else 1.01 * node.value + (node.value == 0)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        changed.value = not node.value
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        return node.operand
    elif isinstance(node, (ast.If, ast.IfExp)):
        changed.test = ast.UnaryOp(ast.Not(), node.test)
    else:
        return None
    return changed


def places(tree):
    """Yield every field of the code that can hold a fault, outside of annotations, errors and texts."""
    for field, value in ast.iter_fields(tree):
        for index, node in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(node, ast.AST) or field in ("annotation", "returns"):
                continue
            if isinstance(node, (ast.Raise, ast.Import, ast.ImportFrom, ast.JoinedStr)):
                continue
            if other(node) is not None:
                yield tree, field, index if isinstance(value, list) else None, node
            yield from places(node)


def put(parent, field, index, node):
    """Put a node into its place."""
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def mutants(path, number, seed, again):
    """Yield the chosen mutants of a file and those to be tried again: node, what it said and says, the whole text."""
    text = path.read_text()
    tree, lines = ast.parse(text), text.splitlines()
    found = list(places(tree))
    name = path.relative_to(LIBRARY).as_posix()
    drawn = random.Random(f"{seed} {name}").sample(found, min(number, len(found)))
    survived = [
        place
        for place in found
        if (lines[place[3].lineno - 1].strip(), brief(place[3]), brief(other(place[3]))) in again
    ]
    for parent, field, index, node in drawn + [place for place in survived if place not in drawn]:
        fault = ast.fix_missing_locations(ast.copy_location(other(node), node))
        put(parent, field, index, fault)
        yield node, brief(node), brief(fault), ast.unparse(tree)
        put(parent, field, index, node)


def brief(node):
    """Return code on one short line."""
    return ast.unparse(node).split("\n")[0][:80]


def tests_of(path):
    """Return the tests of a module: the file at its mirrored path, or else those of the folder that import it."""
    inner = path.relative_to(LIBRARY)
    mirrored = ROOT / "tests" / inner.with_name(f"test_{inner.name}")
    if mirrored.exists():
        return [mirrored]
    if inner.as_posix() in INDIRECT:
        return [ROOT / "tests" / name for name in INDIRECT[inner.as_posix()]]
    imports = re.compile(rf"import\b[^#]*?\b{path.stem}\b")
    return [test for test in sorted(mirrored.parent.glob("test_*.py")) if imports.search(test.read_text())]


def run(copied, path, limit):
    """Run a module's tests against a copy of the library: killed, survived or late, and processor seconds."""
    inside = copied / "superposition" / path.relative_to(LIBRARY)
    return pytest_in_a_copy(copied, [*tests_of(path), inside], limit)


def run_the_contract(copied, path):
    """Run the contract on a module's input, which takes longer: only where its own tests saw nothing."""
    if path.relative_to(LIBRARY).parts[0] not in WINGS:
        return "survived", 0.0
    return pytest_in_a_copy(copied, [ROOT / "tests" / "test_contract.py", "-k", f"{path.stem}."], CONTRACT)


def pytest_in_a_copy(copied, arguments, limit):
    """Run tests in a copy of this process, which has numpy, scipy and torch loaded already and the library not."""
    child = os.fork()
    if not child:
        _become_pytest(copied, arguments, limit)
    try:
        _, status, used = os.wait4(child, 0)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what a test had started and did not end
    code = os.waitstatus_to_exitcode(status)
    outcomes = {0: "survived", 1: "killed", 2: "killed", 5: "survived"}  # 5: the contract has no call of this module
    outcomes |= dict.fromkeys((-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGALRM), "late")
    return outcomes.get(code, f"pytest ended with {code}"), round(used.ru_utime + used.ru_stime, 1)


def _become_pytest(copied, files, limit):
    """Never returns."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    signal.alarm(WAITING * limit)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    os.environ |= {"PYTHONPATH": str(copied), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.path[:] = [str(copied), *(part for part in sys.path if part != str(LIBRARY.parent))]
    sys.dont_write_bytecode = True
    options = ["-x", "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml")]
    try:
        code = pytest.main([*options, *map(str, files)])
    except BaseException:  # whatever it is, it comes from the fault
        code = 2
    os._exit(int(code))


def try_module(path, number, seed, known, keep):
    """Try the mutants of one module that were not tried before; the limit is thrice what its tests take."""
    lines = path.read_text().splitlines()
    text = path.read_text() + "".join(test.read_text() for test in tests_of(path))
    version = hashlib.sha256(text.encode()).hexdigest()[:12]
    name, known = path.relative_to(LIBRARY).as_posix(), [r for r in known if (LIBRARY / r["module"]) == path]
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder)
        shutil.copytree(LIBRARY, copied / "superposition", ignore=shutil.ignore_patterns("__pycache__"))
        limit = max((r.get("limit", LONG) for r in known if r["version"] == version), default=0)
        for node, was, now, code in tqdm(undecided(path, number, seed, version, known), desc=name, unit="mutant"):
            if not limit:  # these tests were not yet seen to pass without a fault
                outcome, seconds = run(copied, path, 600)
                if outcome != "survived":
                    raise SystemExit(f"{name}: its tests fail without a fault: {outcome}")
                limit = int(3 * seconds) + 10
            (copied / "superposition" / name).write_text(code)
            outcome, seconds = run(copied, path, limit)
            if outcome == "survived":
                outcome, seconds = run_the_contract(copied, path)
            keep(
                {
                    "module": name,
                    "version": version,
                    "line": node.lineno,
                    "column": node.col_offset,
                    "code": lines[node.lineno - 1].strip(),
                    "was": was,
                    "now": now,
                    "limit": limit,
                    "outcome": outcome,
                    "seconds": seconds,
                }
            )
    return version


def undecided(path, number, seed, version, known):
    """Return the chosen mutants of a module that are not decided, and those that survived before."""
    again = {(r["code"], r["was"], r["now"]) for r in latest(known) if lives(r)}
    decided = {place(r) for r in known if r["version"] == version and not lives(r)}
    found = mutants(path, number, seed, again)
    return [(node, *rest) for node, *rest in found if (node.lineno, node.col_offset, *rest[:2]) not in decided]


def latest(records):
    """Return of each mutant what was found last, where its module still has its line."""
    found = {(*key(r), r["column"]): r for r in records}
    texts = {name: (LIBRARY / name).read_text() for name, *_ in found if (LIBRARY / name).exists()}
    return [r for r in found.values() if r["code"] in texts.get(r["module"], "")]


def place(record):
    """Return where a mutant is in its file, and what it is."""
    return tuple(record[part] for part in ("line", "column", "was", "now"))


def key(record):
    """Return by what a reason names a mutant."""
    return tuple(record[part] for part in ("module", "code", "was", "now"))


def lives(record):
    """Whether a mutant survived and nobody said why it changes nothing."""
    return record["outcome"] not in ("killed", "late") and key(record) not in reasons()


@cache
def reasons():
    """Return why mutants that survive change nothing."""
    with open(EQUIVALENT, newline="") as file:
        return {key(r): r["reason"] for r in csv.DictReader(file)}


def table(records, counts=(), left=()):
    """Return killed, late, equivalent and surviving mutants by module, and what survived, as Markdown."""
    lines = ["| module | mutants | killed | late | equivalent | survivors |", "|---|---|---|---|---|---|"]
    counts, left = dict(counts), list(left)
    for r in latest(records):
        reason = reasons().get(key(r))
        kind = r["outcome"] if r["outcome"] in ("killed", "late") else "equivalent" if reason else "survived"
        counts.setdefault(r["module"], Counter())[kind] += 1
        if kind in ("equivalent", "survived"):
            what = f"`{r['module']}`, `{r['code']}`: `{r['was']}` became `{r['now']}`"
            left.append(f"* {what}: {reason or '**survived**'}")
    for name, count in [*sorted(counts.items()), (None, sum(counts.values(), Counter()))]:
        numbers = [count.total(), *(count[kind] for kind in KINDS)]
        lines.append(f"| {f'`{name}`' if name else 'together'} | {' | '.join(map(str, numbers))} |")
    return "\n".join([*lines, "", *sorted(left)])


def stored(tried):
    """Return what the stored table has of modules that are not among those tried: counts, and what survived."""
    text = STORED.read_text()
    rows = re.findall(r"^\| `(\S+)` \| \d+ \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", text, re.M)
    others = [(name, Counter(dict(zip(KINDS, map(int, numbers), strict=True)))) for name, *numbers in rows]
    counts = {name: count for name, count in others if name not in tried and (LIBRARY / name).exists()}
    return counts, [line for line in text.splitlines() if line.startswith("* `") and line.split("`")[1] in counts]


def without_a_row(text):
    """Return the modules that a table does not name."""
    names = (path.relative_to(LIBRARY).as_posix() for path in chosen([]))
    return ", ".join(f"`{name}`" for name in names if f"| `{name}` |" not in text)


def chosen(parts):
    """Return the modules that begin with one of the named parts, by default all."""
    paths = [
        path
        for path in sorted(LIBRARY.rglob("*.py"))
        if path.name != "__init__.py" and path.parent != LIBRARY / LEFT_OUT
    ]
    names = {path: "superposition." + ".".join(path.relative_to(LIBRARY).with_suffix("").parts) for path in paths}
    found = [path for path in paths if not parts or any(f"{names[path]}.".startswith(f"{part}.") for part in parts)]
    if not found:
        raise SystemExit(f"no module in {', '.join(parts)}; allowed: superposition.rug, superposition.codes.fans, …")
    return found


def main():
    """Try, keep, and show what survived."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "parts", nargs="*", metavar="part", help="superposition.rug, superposition.codes.fans; default: all"
    )
    parser.add_argument("--number", type=int, default=6, help="mutants a module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--write", action="store_true", help="put all that was kept into tests/MUTATIONS.md; other rows there stay"
    )
    asked = parser.parse_args()
    os.chdir(ROOT)
    KEPT.parent.mkdir(exist_ok=True)
    records = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    versions = {}
    with open(KEPT, "a") as file:

        def keep(record):
            records.append(record)
            file.write(json.dumps(record) + "\n")
            file.flush()

        for path in chosen(asked.parts):
            name = path.relative_to(LIBRARY).as_posix()
            versions[name] = try_module(path, asked.number, asked.seed, list(records), keep)
    tried = [r for r in records if r["module"] in versions] if asked.parts else records
    print(table(tried))
    if asked.write:
        shown = table(records, *stored({r["module"] for r in records}))
        STORED.write_text(f"{HEAD}\n{shown}\n\n{UNTRIED}{without_a_row(shown)}\n")


if __name__ == "__main__":
    main()
