"""Trainings and runs on a pretended device: the CPU's numbers there, nothing mixed, and hardly a question of the host.

A Python program that torch takes for a device stands in for an accelerator (`pretended_device`); it needs a private
function of torch, and fails with that function's name where a later torch drops it.
"""

import importlib
import inspect
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pretended_runs
import pytest
import superposition
from superposition import rug, runs

pytest.importorskip("torch")
pytestmark = pytest.mark.thorough  # half a minute to import torch with the device, and to train
HERE = Path(__file__).parent
PATHS = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
VALUES = ("drawn by the host", "automatic gradients", "text")  # of these a step moves what is on, places and values
BATCH, ON, PER_ENTRY = 64 * 32, 0.1, 12  # bytes: an int64 place, a float32 value


@cache
def asked(*names):
    """What a process with the pretended device counts for trainings or runs."""
    command = [sys.executable, str(HERE / "pretended_runs.py"), *names]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PATHS})
    assert done.returncode == 0, done.stderr[-2000:]
    return {line.pop("name"): line for line in map(json.loads, done.stdout.splitlines())}


SIZES = [(64, 16, 32), (96, 21, 8), (160, 80, 128)]  # features, dimensions, vectors
STEPS = [f"step {ns} {nd} {batch}" for ns, nd, batch in SIZES]
RUNS = sorted(runs.RUNS)
# What shares a process, as the import of torch takes longer than most points
TOGETHER = [
    list(dict.fromkeys([*pretended_runs.TRAININGS, *STEPS])),
    *(RUNS[start : start + 50] for start in range(0, len(RUNS), 50)),
]


def counts(name):
    """What a training, a step or a run counts, in the process in which it is tried."""
    return asked(*next(names for names in TOGETHER if name in names))[name]


# Settings, the time of a step, and data for `train_fields`: these take a device too.
NO_TRAINING = {"training_settings", "affordable_steps", "nlgp_batches", "gaussian_batches", "fixed_batches"}


def test_every_function_that_trains_on_a_device_is_tried():
    faces = [importlib.import_module(f"superposition.{wing}") for wing in superposition.WINGS]
    public = [getattr(face, name) for face in faces for name in face.__all__]
    takes = {
        one.__name__ for one in filter(inspect.isfunction, public) if "device" in inspect.signature(one).parameters
    }
    assert takes - pretended_runs.trained() == NO_TRAINING


@pytest.mark.parametrize("name", pretended_runs.TRAININGS)
def test_the_host_asks_no_oftener_than_once_in_100_steps(name):
    found = counts(name)
    assert "error" not in found, found
    assert found.get("fetches", 0) <= 1  # each waits for all work before it
    assert found["launches"] > 300  # it did compute there


@pytest.mark.parametrize("name", pretended_runs.PLACED)
def test_what_the_host_draws_for_a_training_gives_the_numbers_of_the_cpu(name):
    found = counts(name)
    # Each operation is that of the CPU here, and what is moved too early or too late is refused or drawn differently.
    assert found["distance"] == 0
    assert found.get("fetches", 0) == 0


@pytest.mark.parametrize("name", VALUES)
def test_what_is_moved_is_the_batch(name):
    assert counts(name)["bytes to the device"] / 100 == pytest.approx(BATCH * ON * PER_ENTRY, rel=0.05)


def test_nothing_is_moved_where_the_device_draws():
    assert counts("on the device")["bytes to the device"] <= 4 * 100  # the learning rates, once


def test_a_step_costs_what_paper_says():
    found = [counts(step) for step in STEPS]
    assert len({one["launches"] for one in found}) == 1  # at any size
    for size, one in zip(SIZES, found, strict=True):
        paper = rug.step_cost(*size)
        assert one["operations"] == 10 * paper.operations
        rest = one["bytes in memory"] / 10 - paper.product_bytes - paper.other_bytes
        assert 0 <= rest < 400  # counters, losses and rates: single numbers
        assert one.get("fetches", 0) == one.get("bytes to the device", 0) == 0


@pytest.mark.parametrize("name", RUNS)
def test_a_run_has_the_numbers_of_the_cpu_and_uses_the_device_that_it_takes(name):
    found = counts(name)
    assert "error" not in found, found
    assert found["differs"] == ""
    assert found["takes_device"] == (found.get("launches", 0) > 0), "says one thing of its device and does another"
