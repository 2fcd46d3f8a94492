"""Random faults in the library, each against the tests that import its module: ``python scripts/mutants.py [part …]``.

A fault is one small change: another comparison, operator, number, condition or default; a factor, a term or a keyword
left out. It is killed when the module's doctests, a test file that imports the module, or the contract on its input
fails; where no test file imports it, those that import what imports it stand in. Quick files go first, and none that
brings the time of a fault over LONG seconds. What survives meets the values that are stored, the pages of the book that
import the module, and the files left out. A run that takes thrice its usual processor time is late. Faults are drawn
by the seed, those of modules that were tried least before the others. What was tried is kept in
``_build/mutants.jsonl``: the same command goes on where it was stopped, and tries again what survived or has changed.
That file is not committed. ``--write`` adds the counts by seed and module to ``tests/mutations.csv``, which keeps those
of earlier seeds, and replaces the table of ``tests/MUTATIONS.md``, with the text around it left as it is.
"""

import argparse
import ast
import csv
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from contextlib import suppress
from functools import cache
from itertools import chain, islice, zip_longest
from pathlib import Path

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")  # before numpy is loaded
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

import numpy  # noqa: E402, F401  loaded once, for the copies of this process
import pytest  # noqa: E402
import scipy.integrate  # noqa: E402, F401
import scipy.optimize.elementwise  # noqa: E402, F401
import scipy.stats  # noqa: E402, F401
import torch  # noqa: E402, F401
from faults import code_with, faults  # noqa: E402
from importers import LIBRARY, ROOT, TESTS, files, is_package, pages_of, tests_of  # noqa: E402
from tqdm import tqdm  # noqa: E402

STORED, COUNTS, EQUIVALENT = (TESTS / name for name in ("MUTATIONS.md", "mutations.csv", "equivalent-mutants.csv"))
KEPT, TIMES = ROOT / "_build" / "mutants.jsonl", ROOT / "_build" / "test-seconds.json"
KINDS = ("killed", "late", "killed since", "equivalent", "survived")
LONG, REST = 60, 360  # seconds that the tests of one fault may take together, and for what survives these
TOO_LONG = 300  # seconds for one file: it is left out
STORED_VALUES = (
    "test_ranges", "test_settings", "test_cli_options", "test_requests", "test_call_values",
    "diagnosis/test_given_back", "experiments/test_small_points", "test_inner_values", "runs/test_tables",
)  # fmt: skip
PAGES = 3  # of those that import a module; they cost half a minute each
WAITING = 5  # times the limit on processor time, by the clock: what waits for ever uses no processor
GRIDS = "superposition.experiments"  # outside of functions another number there is another run, not a fault


def run(copied, arguments, limit):
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
    outcomes = {0: "survived", 1: "killed", 2: "killed", 5: "survived"}  # 5: no doctest, or no call in the contract
    outcomes |= dict.fromkeys((-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGALRM), "late")
    return outcomes.get(code, f"pytest ended with {code}"), round(used.ru_utime + used.ru_stime, 1)


def _become_pytest(copied, arguments, limit):
    """Never returns."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    signal.alarm(WAITING * limit)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    os.environ |= {"PYTHONPATH": str(copied), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.path[:] = [str(copied), *(part for part in sys.path if part != str(LIBRARY))]
    sys.dont_write_bytecode = True
    options = ["-x", "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml")]
    options += ["-p", "xdist.plugin", "-n0"]  # the configuration asks for workers; here is one process
    try:
        code = pytest.main([*options, *map(str, arguments)])
    except BaseException:  # whatever it is, it comes from the fault
        code = 2
    os._exit(int(code))


def library_at(folder):
    """Return a copy of the library whose history git finds, as some tests read it."""
    history = subprocess.run(["git", "rev-parse", "--absolute-git-dir"], cwd=ROOT, capture_output=True, text=True)
    (folder / ".git").write_text(f"gitdir: {history.stdout}")
    os.environ["GIT_OPTIONAL_LOCKS"] = "0"  # the index stays that of the library itself
    return Path(shutil.copytree(LIBRARY, folder / LIBRARY.name, ignore=shutil.ignore_patterns("__pycache__")))


def outcome(copied, name, code):
    """Run the tests of a module with a fault until one fails: the outcome, the tests that saw it, processor seconds."""
    place, taken = copied / files()[name].relative_to(LIBRARY), 0.0
    for arguments, limit in runs(copied, name):
        place.write_text(code)
        result, seconds = run(copied, arguments, limit)
        shutil.copyfile(files()[name], place)
        taken += seconds
        if result != "survived":
            return result, label(copied, arguments), round(taken, 1)
    return "survived", "", round(taken, 1)


def runs(copied, name):
    """Yield what pytest is told and its limit: doctests, a file of the same name, then the quick ones, and the rest."""
    stem, known, asked = files()[name].stem, seconds_kept(), []
    tests = sorted(
        tests_of(name), key=lambda test: (test.stem != f"test_{stem}", known.get(label(copied, [test]), LONG))
    )
    first = [[copied / files()[name].relative_to(LIBRARY)], *([test] for test in tests)]
    for arguments in within(copied, first, LONG):
        asked.append(arguments)
        yield arguments, limit(copied, arguments)
    pages = [[page, "-p", "nbval.plugin", "--nbval"] for page in pages_of(name)[:PAGES]]
    rest = [[TESTS / "test_contract.py", "-k", f"{stem}."], *([TESTS / f"{stored}.py"] for stored in STORED_VALUES)]
    rest += [*pages, *first]
    for arguments in within(copied, [one for one in rest if one not in asked], REST):
        yield arguments, limit(copied, arguments)


def within(copied, runs, seconds):
    """Yield what of some tests fits into some seconds together."""
    for arguments in runs:
        usual = without_a_fault(copied, arguments)
        if usual < seconds:
            seconds -= usual
            yield arguments


def limit(copied, arguments):
    """Return the processor seconds that tests may take with a fault."""
    return int(3 * without_a_fault(copied, arguments)) + 10


def without_a_fault(copied, arguments):
    """Return the processor seconds that tests take without a fault; they have to pass."""
    known, name = seconds_kept(), label(copied, arguments)
    if name not in known:
        result, known[name] = run(copied, arguments, TOO_LONG)
        if result not in ("survived", "late"):
            raise SystemExit(f"{name}: fails without a fault: {result}")
        TIMES.write_text(json.dumps(known, indent=1))
    return known[name]


def seconds_kept():
    """Return what tests took without a fault."""
    return json.loads(TIMES.read_text()) if TIMES.exists() else {}


def label(copied, arguments):
    """Return the name of some tests."""
    base = copied if arguments[0].is_relative_to(copied) else ROOT
    return " ".join([arguments[0].relative_to(base).as_posix(), *arguments[1:]])


def drawn(names, number, seed, records):
    """Return so many faults, one a module, of those tried least first; and those that survived before."""
    tried = Counter()
    for (of, name), count in counts(records).items():
        tried[name] += count.total() * (of != seed)
    order = sorted(random.Random(seed).sample(names, len(names)), key=lambda name: tried[name])
    trees = {name: ast.parse(files()[name].read_text()) for name in names}
    found = {name: [one for one in faults(tree) if computes(name, tree, one)] for name, tree in trees.items()}
    for name, ones in found.items():
        random.Random(f"{seed} {name}").shuffle(ones)
    rounds = zip_longest(*([(name, fault) for fault in found[name]] for name in order))
    first = list(islice(filter(None, chain.from_iterable(rounds)), number))
    again = {key(r) for r in records if lives(r)}
    survived = [(name, fault) for name in {module for module, *_ in again} & set(names) for fault in found[name]]
    left = [one for one in survived if key(described(*one)) in again and one not in first]
    return [(name, fault, trees[name]) for name, fault in first + left]


def computes(name, tree, fault):
    """Whether a fault is one of a computation, and not of a grid."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return not name.startswith(f"{GRIDS}.") or any(node.lineno <= fault.line <= node.end_lineno for node in functions)


def described(name, fault):
    """Return what a fault is called."""
    line = files()[name].read_text().splitlines()[fault.line - 1].strip()
    return {"module": name, "line": fault.line, "code": line, "was": fault.was, "now": fault.now}


@cache
def version(name):
    """Return a short digest of a module and its tests."""
    text = "".join(path.read_text() for path in [files()[name], *tests_of(name)])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def key(record):
    """Return by what a reason names a fault."""
    return tuple(record[part] for part in ("module", "code", "was", "now"))


def lives(record):
    """Whether a fault survived and nobody said why it changes nothing."""
    return record["outcome"] not in ("killed", "late") and key(record) not in reasons()


@cache
def reasons():
    """Return why faults that survive change nothing."""
    with open(EQUIVALENT, newline="") as file:
        return {key(r): r["reason"] for r in csv.DictReader(file)}


def kind(record):
    """Return how a fault is counted."""
    if record["outcome"] in ("killed", "late"):
        return "killed since" if record["lived"] else record["outcome"]
    return "survived" if lives(record) else "equivalent"


def counts(records):
    """Return how many faults of each seed and module had which end: those of the records, and those counted before."""
    found = {}
    if COUNTS.exists():
        with open(COUNTS, newline="") as file:
            for r in csv.DictReader(file):
                found[int(r["seed"]), r["module"]] = Counter({kind: int(r[kind]) for kind in KINDS})
    new = defaultdict(Counter)
    for r in records:
        new[r["seed"], r["module"]][kind(r)] += 1
    return {place: count for place, count in sorted((found | new).items())}


def keep(found):
    """Store the counts."""
    with open(COUNTS, "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["seed", "module", *KINDS])
        rows.writerows([seed, module, *map(count.__getitem__, KINDS)] for (seed, module), count in found.items())


def table(found):
    """Return the counts by seed and part of the library, as Markdown."""
    parts = defaultdict(Counter)
    for (seed, module), count in found.items():
        parts[seed, f"`{module.rpartition('.')[0]}`"] += count
        parts[seed, "together"] += count
    lines = [f"| seed | part | faults | {' | '.join(KINDS)} |", "|---" * (3 + len(KINDS)) + "|"]
    for (seed, part), count in sorted(parts.items()):
        lines.append(f"| {seed} | {part} | {count.total()} | {' | '.join(str(count[kind]) for kind in KINDS)} |")
    return "\n".join(lines)


def latest(records):
    """Return what was found last of each fault, and whether it had survived before."""
    found = {}
    for r in records:
        place = (r["line"], *key(r))
        before = found.get(place, r | {"lived": False})
        found[place] = r | {"seed": before["seed"], "lived": before["lived"] or before["outcome"] == "survived"}
    return list(found.values())


def chosen(parts):
    """Return the modules that begin with one of the named parts, by default all."""
    modules = [name for name in files() if files()[name].is_relative_to(LIBRARY) and not is_package(name)]
    found = [name for name in modules if not parts or any(f"{name}.".startswith(f"{part}.") for part in parts)]
    if not found:
        raise SystemExit(f"no module in {', '.join(parts)}; allowed: superposition.rug, superposition.codes.fans, …")
    return found


def main():
    """Try, keep, and show what survived."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "parts", nargs="*", metavar="part", help="superposition.rug, superposition.codes.fans; default: all"
    )
    parser.add_argument("--number", type=int, default=60, help="faults in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="add what was kept to tests/mutations.csv")
    asked = parser.parse_args()
    os.chdir(ROOT)
    KEPT.parent.mkdir(exist_ok=True)
    records = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    decided = {(*key(r), r["line"], r["version"]) for r in records if not lives(r)}
    with tempfile.TemporaryDirectory() as folder, open(KEPT, "a") as kept:
        copied = library_at(Path(folder))
        for name, fault, tree in tqdm(
            drawn(chosen(asked.parts), asked.number, asked.seed, latest(records)), unit="fault"
        ):
            record = described(name, fault) | {"seed": asked.seed, "version": version(name)}
            if (*key(record), record["line"], record["version"]) in decided:
                continue
            result, seen_by, seconds = outcome(copied, name, code_with(tree, fault))
            records.append(record | {"outcome": result, "by": seen_by, "seconds": seconds})
            print(json.dumps(records[-1]), file=kept, flush=True)
    found = counts(latest(records))
    print(table({place: count for place, count in found.items() if place[0] == asked.seed}))
    print("\n".join(f"survived: {r['module']}, {r['code']}: {r['was']} became {r['now']}" for r in records if lives(r)))
    if asked.write:
        keep(found)
        before, _, after = STORED.read_text().partition("| seed |")
        rest = after.split("\n\n", 1)[1] if "\n\n" in after else ""
        STORED.write_text(f"{before}{table(found)}\n\n{rest}")


if __name__ == "__main__":
    main()
