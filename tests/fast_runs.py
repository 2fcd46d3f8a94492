"""Runs that cost milliseconds, for the tests: workers import their functions from here; and what those tests share.

``python tests/fast_runs.py …`` is the command line with these runs in the registry.
"""

import math
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import numpy as np  # noqa: F401 - a maths library whose threads are counted
from superposition import runs
from superposition.runs import sweep, tables

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, str(ROOT / "tests" / "fast_runs.py"), "runs"]


def wave(*, x: float, seed: int, device: str):
    time.sleep(0.02)
    return {"value": math.sin(x) + seed / 7}


def no_value_at_two(*, x: float, seed: int, device: str):
    if x == 2:
        raise ArithmeticError("no value at two")
    return wave(x=x, seed=seed, device=device)


def deadly_at_two(*, x: float, seed: int, device: str):
    if x == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return wave(x=x, seed=seed, device=device)


def infinite(*, x: float, seed: int, device: str):
    return {"value": math.inf}


def threads(*, x: float, seed: int, device: str):
    from threadpoolctl import threadpool_info

    return {"threads": max(library["num_threads"] for library in threadpool_info())}


def make(name, function, **grids):
    cost = {"hours": {"small": 0.001, "full": 0.001}, "hardware": "any machine"}
    grids = {"small": (), "full": ({"x": (0.5, 1.0, 2.0), "seed": (0, 1)},), **grids}
    here = import_module("fast_runs")  # not __main__, from which workers import nothing
    return runs.Run(name=name, feeds="the tests", computes=getattr(here, function), **grids, **cost)


FAST = make("fast", "wave", full=({"x": tuple(i / 10 for i in range(50)), "seed": (0, 1)},))
BROKEN = make("broken", "no_value_at_two")


def swept(run, folder, **options):
    """Sweep a run in four threads."""
    with ThreadPoolExecutor(4) as executor:
        return sweep.on_executor(run, "full", folder, executor, in_flight=8, **options)


def start(folder):
    """Start the command line in a process of its own; the folder is called after the run."""
    command = [*COMMAND, "start", folder.name, "--grid", "full", "--results", str(folder.parent)]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    return subprocess.Popen(command, preexec_fn=_listen_to_signals, **options)


def _listen_to_signals():
    """Undo what a shell does to the programs that it starts in the background, and `nohup` to those that it starts."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def collected(folder, target):
    """Return the bytes of the collected table."""
    target.mkdir(exist_ok=True)
    return tables.collect(FAST, "full", folder, target).read_bytes()


def count(folder):
    """Return how many valid results there are."""
    return len(runs.status(FAST, "full", folder).done)


def process_number(number):
    time.sleep(0.02)
    return os.getpid()


if __name__ == "__main__":
    from superposition import cli

    runs.RUNS.update({run.name: run for run in (FAST, BROKEN)})
    cli.main()
