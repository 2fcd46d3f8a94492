"""Runs that cost milliseconds, for the tests: workers import their functions from here.

``python tests/fast_runs.py …`` is the command line with these runs in the registry.
"""

import math
import os
import signal
import time

import numpy as np  # noqa: F401 - a maths library whose threads are counted
from superposition import cli, runs


class FastPoint(runs.Point):
    x: float
    seed: int


def wave(*, x, seed, device):
    time.sleep(0.02)
    return {"value": math.sin(x) + seed / 7}


def no_value_at_two(*, x, seed, device):
    if x == 2:
        raise ArithmeticError("no value at two")
    return wave(x=x, seed=seed, device=device)


def deadly_at_two(*, x, seed, device):
    if x == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return wave(x=x, seed=seed, device=device)


def infinite(*, x, seed, device):
    return {"value": math.inf}


def threads(*, x, seed, device):
    from threadpoolctl import threadpool_info

    return {"threads": max(library["num_threads"] for library in threadpool_info())}


def make(name, function, **grids):
    cost = {"hours": {"small": 0.001, "full": 0.001}, "hardware": "any machine"}
    grids = {"small": (), "full": ({"x": (0.5, 1.0, 2.0), "seed": (0, 1)},), **grids}
    return runs.Run(name=name, feeds="the tests", function=f"fast_runs:{function}", point=FastPoint, **grids, **cost)


FAST = make("fast", "wave", full=({"x": tuple(i / 10 for i in range(50)), "seed": (0, 1)},))
BROKEN = make("broken", "no_value_at_two")

if __name__ == "__main__":
    from superposition import cli

    runs.RUNS.update({run.name: run for run in (FAST, BROKEN)})
    cli.main()
