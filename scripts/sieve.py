"""All faults of functions, each against calls near those that the function gets: ``python scripts/sieve.py [part …]``.

A fault is put into one function alone, in a copy of this process, and calls of that function are tried until one gives
something else (`tests/changed_calls.py` says how calls are changed). Those that see faults which no call before them
saw are kept: with ``--write`` they go into `tests/inner_values.json`, whose other calls stay. What no call sees is
printed; most of it is seen by other tests, or changes nothing. `scripts/mutants.py` has the same faults meet all tests.
"""

import argparse
import ast
import functools
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import types
from pathlib import Path

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")  # before numpy is loaded
ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]

import changed_calls  # noqa: E402
import recorded_calls  # noqa: E402
import test_inner_values as stored_calls  # noqa: E402
from faults import faults, put  # noqa: E402
from test_settings import modules  # noqa: E402
from tqdm import tqdm  # noqa: E402

MAKING, TRYING, EACH = 0.5, 2.0, 0.2  # processor seconds for the calls of a function, for its faults, for one of them
DEAR, DEAREST = 0.03, 0.2  # seconds of a call; where there are few others
FAR = ((-1.0, 0.0, 1.0, 1e9, 1e100), (-1, 0, 2**8, 2**20, 2**30, 2**42))  # where limits are looked for
MEMORY, WAITING = 8 << 30, 120  # bytes and seconds of a copy


class Late(BaseException):
    """A call takes longer than it may."""


def limited(seconds, call, *arguments):
    """Return what a call gives; or the type of what ends it."""
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        return call(*arguments)
    except BaseException as error:
        return type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def sides(function, got, n):
    """Yield the changes of a call on both sides of each limit of a number, beyond which the call is refused."""

    def refused(place, number):
        change = functools.partial(changed_calls.changed, way=f"{place} is {json.dumps(number)}", got=got)
        return limited(DEAR, stored_calls.given, function, got[n], change) == "ValueError"

    begun = time.process_time()
    for place, (_, value) in enumerate(changed_calls.leaves(got[n][:2])):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or time.process_time() - begun > MAKING / 4:
            continue
        for far in FAR[type(value) is int]:
            if refused(place, far) and not refused(place, value):
                near = value
                while (middle := between(near, far)) not in (near, far):
                    near, far = (near, middle) if refused(place, middle) else (middle, far)
                yield from (f"{place} is {json.dumps(one)}" for one in (near, far))


def between(near, far):
    """Return a number between two, in the middle of their sizes where one is many times the other."""
    if isinstance(near, int) and isinstance(far, int):
        return (near + far) // 2
    small, large = sorted((near, far))
    return (small * large) ** 0.5 if 0 < 4 * small < large < 1e150 else small / 2 + large / 2


def possible_calls(title, function, got):
    """Return changed calls of a function that end soon, the quick ones first: seconds, name, change, what it gives."""
    there, begun, quick, dear = [n for n, one in enumerate(got) if one is not None], time.process_time(), [], []
    names = [(n, way) for n in there for way in changed_calls.ways(got, n, function)]
    if not hasattr(function, "unchecked"):  # of what has ranges, other tests hold both sides
        names += [(n, way) for n in there for way in sides(function, got, n)]
    random.Random(1).shuffle(names)
    for n, way in sorted(names, key=lambda name: name[1] not in ("given", "near")):
        change = functools.partial(changed_calls.changed, way=way, got=got)
        before = time.process_time()
        if before - begun > MAKING:
            break
        found = limited(3 * DEAREST, stored_calls.given, function, got[n], change)
        call = time.process_time() - before, f"{title} {n} {way}", got[n], change, found
        if (not isinstance(found, str) or found == "ValueError") and call[0] < DEAREST:
            (quick if call[0] < DEAR else dear).append(call)
    return (
        sorted(quick, key=lambda call: call[0] > DEAR / 8)
        + sorted(dear, key=lambda call: call[0])[: 2 * (len(quick) < 4)]
    )


def codes(code):
    """Yield all code within some code."""
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from codes(one)


def code_with(fault, top, clean):
    """Return the code of a function with a fault; none if it does not compile."""
    put(fault, fault.new)
    try:
        made = compile(ast.fix_missing_locations(ast.Module([top], [])), clean.co_filename, "exec")
    except SyntaxError:
        return None
    finally:
        put(fault, fault.old)
    place = clean.co_qualname, clean.co_firstlineno
    return next((code for code in codes(made) if (code.co_qualname, code.co_firstlineno) == place), None)


def sieved(title, function, inside, got, found, top):
    """Return the names of calls that see faults, and how the faults read that none sees."""
    signal.signal(signal.SIGVTALRM, _late)
    calls, useful, unsteady, unseen = possible_calls(title, function, got), [], set(), []
    clean, begun = inside.__code__, time.process_time()
    for fault in found:
        if time.process_time() - begun > TRYING:
            unseen.append(f"line {fault.line}: not tried: {fault.was}")
            continue
        code = code_with(fault, top, clean)
        if code is None or code == clean:
            continue
        for call in [*useful, *(one for one in calls if one not in useful)]:
            if call[1] in unsteady or time.process_time() - begun > TRYING:
                continue
            inside.__code__ = code
            odd = stored_calls.other(limited(20 * DEAR, stored_calls.given, function, *call[2:4]), call[4])
            inside.__code__ = clean
            if odd and call not in useful:
                if stored_calls.steady(function, *call[2:4]) != call[4]:
                    unsteady.add(call[1])
                    continue
                useful.append(call)
            if odd:
                break
        else:
            unseen.append(f"line {fault.line}: {fault.was} -> {fault.now}")
    return [call[1] for call in useful], unseen


def _late(*_):
    raise Late


def in_a_copy(call, *arguments):
    """Return what a call gives in a copy of this process, which a fault may spoil; nothing if it dies."""
    there, here = os.pipe()
    child = os.fork()
    if not child:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            signal.alarm(WAITING)
            silence = os.open(os.devnull, os.O_RDWR)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            with os.fdopen(here, "w") as pipe:
                pipe.write(json.dumps(call(*arguments)))
        finally:
            os._exit(0)
    os.close(here)
    with os.fdopen(there) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else None


def bodies(tree):
    """Return the functions and methods of a module by their names, with what holds them at the top."""
    found = {node.name: (node, node) for node in tree.body if isinstance(node, ast.FunctionDef)}
    for holder in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        found |= {
            f"{holder.name}.{node.name}": (holder, node) for node in holder.body if isinstance(node, ast.FunctionDef)
        }
    return found


def main():
    """Try, show what no call sees, and keep the calls that see something."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "parts", nargs="*", metavar="part", help="superposition.rug, superposition.codes.fans; default: all"
    )
    parser.add_argument("--write", action="store_true", help="add the calls to tests/inner_values.json")
    asked = parser.parse_args()
    before = json.loads(stored_calls.STORED.read_text())
    os.chdir(tempfile.mkdtemp())  # changed calls may write what they are told to write
    calls, _ = stored_calls.arguments(before["drivers"])
    trees = {name: ast.parse(Path(module.__file__).read_text()) for name, module in modules()}
    names, parts = list(before["values"]), tuple(asked.parts) or ("superposition",)
    for title, function, inside in tqdm([one for one in recorded_calls.own_functions() if one[0].startswith(parts)]):
        place, got = bodies(trees[inside.__module__]).get(inside.__qualname__), calls.get(title, [])
        if place and any(one is not None for one in got):
            top, node = place
            found = [one for one in faults(top) if node.body[0].lineno <= one.line <= node.end_lineno]
            useful, unseen = in_a_copy(sieved, title, function, inside, got, found, top) or ([], ["died"])
            names += [name for name in useful if name not in names]
            print("\n".join(f"{title}: {one}" for one in unseen))
    if asked.write:
        added = [name for name in names if name not in before["values"]]
        values = {name: stored_calls.steady(*call) for name, *call in stored_calls.ways(calls, added)}
        values = {name: value for name, value in values.items() if value is not None}
        stored_calls.store(before["drivers"], before["values"] | values)


if __name__ == "__main__":
    main()
