"""A sweep on Dask: a scheduler and two worker processes on loopback, one of which is killed in mid-run."""

import re
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from click.testing import CliRunner
from fast_runs import BROKEN, COMMAND, FAST, ROOT, count, process_number, swept
from superposition import cli, runs
from superposition.runs import executors, sweep, tables

START = [*COMMAND, "start", "fast", "--grid", "full"]


def started(*arguments):
    """Start a part of Dask; workers find the tests' functions beside this file."""
    command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
    return subprocess.Popen(command, cwd=ROOT / "tests", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.fixture
def scheduler():
    """Its address, and a list with its process; what a test adds to the list is ended too."""
    parts = [started("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-jupyter")]
    try:
        lines = parts[0].stdout
        yield next(found[0] for line in lines if (found := re.search(r"tcp://127\.0\.0\.1:\d+", line))), parts
    finally:
        for part in parts:
            part.kill()
            part.communicate()


@pytest.fixture
def cluster(scheduler, tmp_path):
    """Address of a scheduler with two workers; the processes of all three."""
    address, parts = scheduler
    for _ in range(2):
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path / "dask")]
        parts.append(started("dask_worker", address, "--host", "127.0.0.1", *options))
    return address, parts


@pytest.mark.thorough
def test_sweep_survives_the_death_of_a_worker(cluster, tmp_path):
    address, (_, *workers) = cluster
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


def kill_after_eight_results(parts, folder):
    while len(list(folder.glob("?" * 32 + ".json"))) < 8:
        time.sleep(0.01)
    for part in parts:
        part.kill()
    executors.GRACE = 2.0


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("lost", "said"),
    [
        pytest.param(slice(1), "is gone", id="scheduler"),
        pytest.param(slice(1, None), "has had no workers for 2 s", id="workers"),
    ],
)
def test_scheduler_or_workers_that_die_end_the_sweep_in_a_sentence(cluster, tmp_path, monkeypatch, lost, said):
    address, parts = cluster
    folder = tmp_path / "fast"
    monkeypatch.setattr(executors, "GRACE", 60.0)  # until something is killed
    monkeypatch.setitem(runs.RUNS, "fast", FAST)
    killing = threading.Thread(target=kill_after_eight_results, args=(parts[lost], folder), daemon=True)
    killing.start()
    done = CliRunner().invoke(cli.main, ["runs", "start", "fast", "--dask", address, "--results", str(tmp_path)])
    killing.join(60)
    kept = "what was finished is kept, the same command goes on from there"
    assert done.stderr.splitlines()[-1] == f"Error: dask = '{address}': the scheduler {said}; {kept}"
    assert done.exit_code == 2
    assert "Traceback" not in done.stderr and "failed" not in done.stderr
    assert 8 <= count(folder) < 100
    assert re.findall(r"(\d+)/100", done.stderr)[-1] == str(count(folder)), "the bar counts what is not on disk"
    assert swept(FAST, folder).computed + int(re.findall(r"(\d+)/100", done.stderr)[-1]) == 100


@pytest.mark.thorough
def test_scheduler_without_workers_is_told(scheduler, monkeypatch, tmp_path):
    monkeypatch.setattr(executors, "GRACE", 1.0)
    with executors.dask_pool(scheduler[0]) as (executor, in_flight, works):
        assert not works()
        with pytest.raises(ConnectionError, match="the scheduler has had no workers for 1 s; what was finished is"):
            sweep.on_executor(FAST, "full", tmp_path, executor, in_flight=in_flight, works=works)
    assert count(tmp_path) == 0


def test_a_sweep_waits_for_dask_less_than_a_minute():
    # the silence, two unanswered questions in a row, and an end that is not answered either
    assert executors.GRACE + 3 * executors.PATIENCE < 60


def test_the_page_says_whom_to_trust_and_how_long_the_wait_is():
    page = (ROOT / "book" / "reproduce.md").read_text()
    assert (
        "only schedulers that you trust, because points and results are sent pickled and, by default, unencrypted"
        in page
    )
    assert "no workers for half a minute" in page and executors.GRACE == 30


def test_point_that_an_executor_loses_is_handed_over_again(tmp_path):
    class Forgetful(ThreadPoolExecutor):
        lost = 0

        def submit(self, *arguments, **keywords):
            if self.lost < 5:
                self.lost += 1
                forgotten = Future()
                forgotten.cancel()
                forgotten.set_running_or_notify_cancel()
                return forgotten
            return super().submit(*arguments, **keywords)

    seen = []
    with Forgetful(2) as executor:
        options = {"in_flight": 3, "progress": lambda done, total: seen.append(done == count(tmp_path))}
        assert sweep.on_executor(FAST, "full", tmp_path, executor, **options) == sweep.Outcome(100, {}, False)
    assert all(seen) and len(seen) == 101


def test_bar_counts_no_point_that_failed(tmp_path):
    seen = []
    swept(BROKEN, tmp_path, progress=lambda *pair: seen.append(pair))
    assert seen[-1] == (4, 6)


def test_both_workers_compute(cluster):
    address, _ = cluster
    with executors.dask_pool(address) as (executor, in_flight, _):
        assert in_flight >= 2
        deadline = time.monotonic() + 30
        seen = set()
        while len(seen) < 2:
            assert time.monotonic() < deadline
            seen |= set(executor.map(process_number, range(20)))


@pytest.mark.thorough
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
    with pytest.raises(ValueError, match=r"pip install '.\[dask\]'"), executors.dask_pool("tcp://127.0.0.1:1"):
        pass


def test_dask_is_loaded_only_where_it_is_asked_for():
    script = "import sys; from superposition.runs import executors; print({'dask', 'distributed'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(("counted", "cores"), [(6, 6), (None, 1)])
def test_cores_where_the_system_does_not_say_which_are_ours(monkeypatch, counted, cores):
    monkeypatch.delattr(executors.os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(executors.os, "cpu_count", lambda: counted)
    assert executors.cores() == cores


@pytest.mark.thorough
def test_what_no_worker_has_begun_is_not_computed_when_a_pool_ends():
    with executors.local_pool(1, "time:sleep") as pool:
        waiting = [pool.submit(time.sleep, 0.05) for _ in range(40)]
        waiting[0].result()
    assert waiting[-1].cancelled()
