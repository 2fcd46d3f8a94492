"""A sweep on Dask: a scheduler and two worker processes on loopback, one of which is killed in mid-run."""

import re
import socket
import subprocess
import sys
import time

import pytest
from fast_runs import COMMAND, FAST, ROOT, process_number
from superposition import runs
from superposition.runs import executors, sweep, tables

START = [*COMMAND, "start", "fast", "--grid", "full"]


def started(*arguments):
    """Start a part of Dask; workers find the tests' functions beside this file."""
    command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
    return subprocess.Popen(command, cwd=ROOT / "tests", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.fixture
def cluster(tmp_path):
    """Address of a scheduler with two workers, and the workers."""
    scheduler = started("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-jupyter")
    parts = [scheduler]
    try:
        address = next(found[0] for line in scheduler.stdout if (found := re.search(r"tcp://127\.0\.0\.1:\d+", line)))
        for _ in range(2):
            options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path / "dask")]
            parts.append(started("dask_worker", address, "--host", "127.0.0.1", *options))
        yield address, parts[1:]
    finally:
        for part in parts:
            part.kill()
            part.communicate()


def test_sweep_survives_the_death_of_a_worker(cluster, tmp_path):
    address, workers = cluster
    folder = tmp_path / "results" / "fast"
    process = subprocess.Popen(
        [*START, "--dask", address, "--results", str(folder.parent)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while len(list(folder.glob("*.json"))) < 8 and process.poll() is None:
        time.sleep(0.01)
    workers[0].kill()
    said, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "fast, full grid: 100 of 100 points finished, 100 of them now" in said
    assert workers[1].poll() is None

    sweep.locally(FAST, "full", tmp_path / "alone", workers=1)
    tables_found = []
    for source in (folder, tmp_path / "alone"):
        tables_found.append(tables.collect(FAST, "full", source, tmp_path).read_bytes())
    assert tables_found[0] == tables_found[1]
    assert len(runs.status(FAST, "full", folder).done) == 100


def test_both_workers_compute(cluster):
    address, _ = cluster
    with executors.dask_pool(address) as (executor, in_flight):
        assert in_flight >= 2
        deadline = time.monotonic() + 30
        seen = set()
        while len(seen) < 2:
            assert time.monotonic() < deadline
            seen |= set(executor.map(process_number, range(20)))


@pytest.mark.parametrize("listens", [False, True])
def test_address_that_does_not_answer_is_told_within_ten_seconds(tmp_path, listens):
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        if listens:
            mute.listen()
        address = f"tcp://127.0.0.1:{mute.getsockname()[1]}"
        begun = time.monotonic()
        done = subprocess.run(
            [*START, "--dask", address, "--results", str(tmp_path)], capture_output=True, text=True, timeout=30
        )
        assert time.monotonic() - begun < 10
    assert done.returncode == 2
    assert done.stderr.startswith(f"Error: dask = '{address}' does not answer: ") and done.stderr.count("\n") == 1


def test_without_dask_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ValueError, match=r"pip install 'superposition\[dask\]'"),
        executors.dask_pool("tcp://127.0.0.1:1"),
    ):
        pass
