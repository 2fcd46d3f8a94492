"""Sweeps that are disturbed: killed, interrupted, shared, and on disks that are full."""

import os
import random
import re
import signal
import subprocess
import time

import pytest
from fast_runs import FAST, collected, count, start, swept
from superposition.runs import store


@pytest.mark.thorough
def test_killed_at_random_moments_the_table_is_the_same(tmp_path, undisturbed):
    rng = random.Random(3)
    counts = [0]
    for _ in range(10):
        process = start(tmp_path / "fast")
        wanted = counts[-1] + rng.randint(0, 3)  # points, since how fast a process starts depends on the machine
        while len(list((tmp_path / "fast").glob("?" * 32 + ".json"))) < wanted and process.poll() is None:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.05))
        process.kill()
        process.communicate(timeout=60)
        counts.append(count(tmp_path / "fast"))
    assert counts == sorted(counts), "a kill lost what was finished"
    assert counts[0] < counts[5] < counts[10] < 100, "the kills came too late to test anything"
    assert start(tmp_path / "fast").communicate(timeout=60)[0].startswith("fast, full grid: 100 of 100 points finished")
    assert collected(tmp_path / "fast", tmp_path) == undisturbed
    assert not list((tmp_path / "fast").glob("*.tmp"))


def test_workers_end_with_the_process_that_is_killed(tmp_path):
    process = start(tmp_path / "fast")
    while not list((tmp_path / "fast").glob("?" * 32 + ".json")):
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=5)  # until the last worker has closed its end of the pipe


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("stop", "number"),
    [
        pytest.param(os.killpg, signal.SIGINT, id="by a terminal: everybody"),
        pytest.param(os.kill, signal.SIGHUP, id="by a terminal that closes: one process", marks=pytest.mark.thorough),
        pytest.param(os.kill, signal.SIGTERM, id="by kill: one process", marks=pytest.mark.thorough),
        pytest.param(os.killpg, signal.SIGTERM, id="by a queue: everybody", marks=pytest.mark.thorough),
    ],
)
def test_interrupt_leaves_a_resumable_state(tmp_path, undisturbed, stop, number):
    process = start(tmp_path / "fast")
    while not list((tmp_path / "fast").glob("?" * 32 + ".json")):
        time.sleep(0.01)
    stop(process.pid, number)
    _, said = process.communicate(timeout=60)  # until the last worker has closed its end of the pipe
    assert process.returncode == 128 + number
    assert "Stopped. What was finished is kept" in said and "Traceback" not in said
    assert 0 < count(tmp_path / "fast") < 100
    assert "100 of 100" in start(tmp_path / "fast").communicate(timeout=60)[0]
    assert collected(tmp_path / "fast", tmp_path) == undisturbed


def test_interrupt_while_workers_start_says_one_sentence(tmp_path):
    process = start(tmp_path / "fast")
    while not list((tmp_path / "fast").glob("*.lock")):
        time.sleep(0.005)
    time.sleep(0.2)  # the workers are importing
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=10)
    assert process.returncode == 130 and "Stopped." in said and "Traceback" not in said


@pytest.mark.thorough
def test_two_processes_share_one_sweep(tmp_path, undisturbed):
    said = [process.communicate(timeout=60)[0] for process in [start(tmp_path / "fast") for _ in range(3)]]
    computed = [int(re.search(r"100 of 100 points finished, (\d+) of them now", text)[1]) for text in said]
    assert sum(computed) == 100, "a point was computed twice"
    assert sum(part > 0 for part in computed) > 1, "nothing was shared"
    assert collected(tmp_path / "fast", tmp_path) == undisturbed


def test_full_disk_is_told_and_keeps_what_was_finished(tmp_path, undisturbed, monkeypatch):
    store.prepare(tmp_path / "fast")
    real, left = os.replace, iter(range(7))

    def full(*names):
        if next(left, None) is None:
            raise OSError(28, "No space left on device")
        real(*names)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(store.StorageError, match="cannot write to .*: the disk is full; what was finished is"):
            swept(FAST, tmp_path / "fast")
    assert count(tmp_path / "fast") == 7
    assert not list((tmp_path / "fast").glob("*.tmp"))
    assert swept(FAST, tmp_path / "fast").computed == 93
    assert collected(tmp_path / "fast", tmp_path) == undisturbed


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 96 KiB, where one can be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("no mount command: the full and the read-only disk are tested by a stand-in only")
    if done.returncode:
        pytest.skip("no right to mount: the full and the read-only disk are tested by a stand-in only")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.thorough
def test_disk_that_is_really_full_and_then_read_only(small_disk):
    process = start(small_disk / "fast")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2 and "the disk is full; what was finished is kept" in said and "Traceback" not in said
    done = count(small_disk / "fast")
    assert 0 < done < 100
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    process = start(small_disk / "fast")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2 and "the disk is read-only" in said and "Traceback" not in said
    assert count(small_disk / "fast") == done
