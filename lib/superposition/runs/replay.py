"""Replays points for `certify` with whatever library comes first on the path, old or new.

It is run as a file of its own, with the path of another tree. It therefore relies only on the name
``superposition.runs.find`` and on the places where the fingerprint has been.
"""

import inspect
import json
import sys
import time
from contextlib import nullcontext, suppress
from importlib import import_module

import threadpoolctl


def serve(threads: int) -> None:
    """Answer requests, one per line: the fingerprint of a run, or the values of the point with a given number.

    Parameters
    ----------
    threads : int
        Threads of the maths libraries.
    """
    answers, sys.stdout = sys.stdout, sys.stderr  # prints of a run must not mix with answers
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = _answer(request["run"], request["point"], threads, request["side"])
        except Exception as error:  # the other side reports it and goes on
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


def _answer(name: str, fields: dict | None, threads: int, side: int = 0) -> dict:
    run = import_module("superposition.runs").find(name)
    if fields is None:
        return {"digest": _fingerprint(run.function), "from": import_module("superposition").__file__}
    module, function = run.function.split(":")
    call = getattr(import_module(module), function)
    threadpoolctl.threadpool_limits(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)
    point = run.point(**fields).model_dump(mode="json")
    where = {"device": "cpu"} if "device" in inspect.signature(call).parameters else {}
    started = time.perf_counter()
    with import_module("superposition.runs.moved").draws(side) if side else nullcontext():
        values = call(**point, **where)
    return {"values": values, "seconds": time.perf_counter() - started}


def _fingerprint(function: str) -> str:
    for module in ("superposition.runs.fingerprint", "superposition.digest"):  # where older libraries had it
        with suppress(ImportError):
            return import_module(module).of(function)
    return import_module("defprint").of(function)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
