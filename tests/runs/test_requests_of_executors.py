"""What executors ask of processes and of Dask, with stand-ins for both: nothing is started."""

import asyncio
import logging
import multiprocessing
import signal
import sys
from concurrent.futures import BrokenExecutor
from types import SimpleNamespace as Made

import pytest
from fast_runs import FAST
from superposition import runs
from superposition.runs import executors, provenance


@pytest.fixture
def pools(monkeypatch):
    """Pools that only say what they are asked for, on a machine with five cores."""
    made = []

    class Pool:
        def __init__(self, workers, *, mp_context, initializer, initargs):
            self.asked = workers, mp_context.get_start_method(), initializer, initargs[:2]
            self.lifeline = initargs[2]
            made.append(self)

        def shutdown(self, **how):
            self.end = how, self.lifeline.poll()  # there is something to read once the other end is closed

    monkeypatch.setattr(executors, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(executors, "cores", lambda: 5)
    return made


@pytest.mark.parametrize(("workers", "share"), [(1, 5), (2, 2), (3, 1), (5, 1)])
def test_workers_share_the_cores_and_end_with_the_pool(pools, workers, share):
    with executors.local_pool(workers, "a.module:function") as pool:
        assert pools == [pool] and pool.asked == (workers, "spawn", executors._begin_work, ("a.module", share))
    assert pool.end == ({"cancel_futures": True}, False) and pool.lifeline.closed


def test_the_cores_are_those_of_this_process(monkeypatch):
    monkeypatch.setattr(executors.os, "sched_getaffinity", {0: {1, 4, 5}}.get, raising=False)
    assert executors.cores() == 3


def test_a_pool_that_is_interrupted_drops_what_it_is_at(pools):
    with pytest.raises(KeyboardInterrupt), executors.local_pool(1, "a.module:function"):
        raise KeyboardInterrupt
    assert pools[0].end == ({"cancel_futures": True}, True)


def test_a_worker_begins_with_its_end_its_module_and_its_threads(monkeypatch):
    seen = []
    thread = Made(start=lambda: seen.append("started"))
    monkeypatch.setattr(executors.threading, "Thread", lambda **how: seen.append(how) or thread)
    monkeypatch.setattr(executors, "import_module", seen.append)
    monkeypatch.setattr(provenance, "limit_threads", seen.append)
    executors._begin_work("a.module", 3, "lifeline")
    watch = {"target": executors._end_with_parent, "args": ("lifeline",), "daemon": True}
    assert seen == [watch, "started", "a.module", 3]


def test_a_worker_ends_when_the_pipe_to_its_parent_does(monkeypatch):
    ended = []
    monkeypatch.setattr(executors.os, "_exit", ended.append)
    lifeline, end = multiprocessing.Pipe(duplex=False)
    end.close()
    executors._end_with_parent(lifeline)
    lifeline.close()
    executors._end_with_parent(lifeline)
    assert ended == [1, 1]


def test_a_point_is_handed_over_while_interrupts_are_kept_back():
    point, seen = runs.points(FAST, "full")[0], []
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])

    class Pool:
        def submit(self, *about):
            seen.append(signal.pthread_sigmask(signal.SIG_BLOCK, []))
            return about

    code = executors.fingerprint.of(FAST.function)
    asked = executors.submit(Pool(), FAST, point, "cpu")
    assert asked == (executors.compute, FAST.function, {"x": 0.0, "seed": 0}, "cpu", code)
    assert signal.SIGINT in seen[0] and signal.pthread_sigmask(signal.SIG_BLOCK, []) == before

    class Broken:
        def submit(self, *about):
            raise BrokenExecutor("it is gone")

    assert str(executors.submit(Broken(), FAST, point, "cpu").exception()) == "it is gone"


@pytest.mark.parametrize("given", [{}, {"device": "a card"}])
@pytest.mark.parametrize("placed", [True, False])
def test_a_result_names_the_device_that_computed_it(monkeypatch, given, placed):
    def computes(*, x, seed, device):
        return {"value": x, **given}

    if placed:
        computes.placed = True
    monkeypatch.setattr(executors, "import_module", lambda name: Made(computes=computes))
    monkeypatch.setattr(executors.fingerprint, "of", lambda function: "the code")
    monkeypatch.setattr(executors, "time", Made(perf_counter=iter([5.0, 7.5]).__next__))
    found = executors.compute("a.module:computes", {"x": 0.5, "seed": 1}, "cpu", "the code")
    where = "cpu" if placed else given.get("device", "cpu")
    assert found["device"] == where and found["values"] == {"value": 0.5, **{name: where for name in given}}
    assert found["point"] == {"x": 0.5, "seed": 1} and found["digest"] == "the code" and found["seconds"] == 2.5
    assert set(found) == {"point", "values", "seconds", "digest", "device", "versions", "cpu", "threads"}


@pytest.mark.parametrize("value", [float("inf"), float("nan"), [1.0], None])
def test_a_value_that_is_no_finite_number_or_text_is_refused(monkeypatch, value):
    monkeypatch.setattr(executors, "import_module", lambda name: Made(computes=lambda: {"a": 1, "b": value}))
    monkeypatch.setattr(executors.fingerprint, "of", lambda function: "the code")
    with pytest.raises(TypeError, match="^b = .* cannot be stored; allowed: finite numbers and texts$"):
        executors.compute("a.module:computes", {}, "cpu", "the code")


@pytest.fixture
def dask(monkeypatch):
    """Dask as far as it is asked for something: a client with some threads, and what was asked."""
    asked, threads = [], {}

    class Client:
        status = "running"

        def __init__(self, *about, **how):
            asked.append((*about, how))

        def nthreads(self, **how):
            asked.append(("nthreads", how))
            if "error" in threads:
                self.status = threads["error"]
                raise OSError
            return threads

        def get_executor(self, **how):
            return how

        def close(self, **how):
            asked.append(("close", how))
            raise OSError("it does not answer")

    async def connect(address, **how):
        asked.append(("connect", address, how))
        if address == "mute":
            await asyncio.Event().wait()
        return Made(close=lambda: asyncio.sleep(0))

    security = Made(get_connection_args=lambda role: {"role": role})
    monkeypatch.setitem(sys.modules, "distributed", Made(Client=Client, Security=lambda: security))
    monkeypatch.setitem(sys.modules, "distributed.comm", Made(connect=connect))
    kept = {
        name: logging.getLogger(name).level for name in ("distributed", "distributed.client", "tornado.application")
    }
    yield Made(asked=asked, threads=threads, Client=Client, loggers=list(map(logging.getLogger, kept)))
    for name, level in kept.items():
        logging.getLogger(name).setLevel(level)


@pytest.mark.parametrize(("threads", "points"), [({"a": 31}, 64), ({"a": 32}, 64), ({"a": 32, "b": 1}, 66), ({}, 64)])
def test_dask_is_asked_for_twice_its_threads_and_for_few_seconds(dask, threads, points):
    dask.threads |= threads
    with executors.dask_pool("tcp://it") as (pool, in_flight, works):
        assert (pool, in_flight, works()) == ({"pure": False}, points, bool(threads))
        assert [logger.level for logger in dask.loggers] == [logging.CRITICAL] * 3
    patient = ("nthreads", {"callback_timeout": 5})
    assert dask.asked == [
        ("connect", "tcp://it", {"timeout": 5, "role": "client"}),
        ("tcp://it", {"set_as_default": False, "timeout": 30}),
        patient,
        patient,
        ("close", {"timeout": 5}),
    ]


def test_a_scheduler_may_be_silent_for_half_a_minute_and_not_be_gone(dask, monkeypatch):
    clock = iter((0.0, 10.0, 30.0, 60.0, 90.0, 90.1, 100.0, 100.0, 100.0, 100.0))  # the first when the watch begins
    monkeypatch.setattr(executors.time, "monotonic", lambda: next(clock))
    client = dask.Client()
    works = executors._watch(client, "tcp://it")
    assert works() is False
    dask.threads["a"] = 1
    assert works() is True  # at 30 s
    dask.threads["error"] = "running"
    assert works() is False  # 30 s later
    del dask.threads["error"], dask.threads["a"]
    with pytest.raises(
        ConnectionError, match="^dask = 'tcp://it': the scheduler has had no workers for 30 s; what was"
    ):
        works()  # 60 s later
    dask.threads["error"] = "running"
    with pytest.raises(ConnectionError, match="the scheduler has not answered for 30 s; "):
        works()
    dask.threads["error"] = "closed"
    for _ in range(2):  # lost at the question, and before it: there is nothing to wait for
        works = executors._watch(client, "tcp://it")
        with pytest.raises(ConnectionError, match="the scheduler is gone; what was finished is kept, the same command"):
            works()


def test_an_address_that_says_nothing_is_given_up(dask, monkeypatch):
    monkeypatch.setattr(executors, "PATIENCE", 0.01)
    said = "^dask = 'mute' does not answer: no reply within 0.01 s; allowed: the address of a running scheduler"
    with pytest.raises(ValueError, match=said), executors.dask_pool("mute"):
        pass
    assert len(dask.asked) == 1
