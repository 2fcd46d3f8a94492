"""Executors for points, processes of this machine or a Dask scheduler, and the function that a worker runs."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from math import isfinite
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from defprint import fingerprint

from superposition import checks
from superposition.runs import provenance
from superposition.runs.point import Point, Run, computed

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 5.0  # seconds that a Dask scheduler has for an answer
GRACE = 30.0  # seconds that a sweep waits for workers, or for a scheduler that is silent
GONE = "is gone"  # a scheduler whose connection is lost
ELASTIC = 64  # points at Dask at least, since its workers come and go


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def local_pool(workers: int, function: str) -> Iterator[ProcessPoolExecutor]:
    """Processes of this machine that share its cores and end when this process does, however it ends."""
    workers = checks.whole("workers", workers, 1, cores())
    context = multiprocessing.get_context("spawn")
    lifeline, end = context.Pipe(duplex=False)
    setup = (function.split(":")[0], max(1, cores() // workers), lifeline)
    executor = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_work, initargs=setup)
    try:
        yield executor
    except BaseException:
        end.close()  # the workers drop what they are at
        raise
    finally:
        executor.shutdown(cancel_futures=True)
        end.close()
        lifeline.close()


@contextmanager
def dask_pool(address: str) -> Iterator[tuple[Executor, int, Callable[[], bool]]]:
    """An executor at a trusted Dask scheduler, the number of points to submit at a time, and the answer of `_watch`."""
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("dask needs another package; to install it: pip install '.[dask]'") from None
    try:
        asyncio.run(_knock(address))
    except (OSError, ValueError, TypeError) as error:  # TypeError: tls:// without certificates in Dask's configuration
        raise ValueError(
            f"dask = {address!r} does not answer: {str(error) or f'no reply within {PATIENCE:g} s'}; "
            "allowed: the address of a running scheduler, as in tcp://127.0.0.1:8786"
        ) from None
    for name in ("distributed", "distributed.client", "tornado.application"):  # a lost connection we tell ourselves
        logging.getLogger(name).setLevel(logging.CRITICAL)
    client = Client(address, set_as_default=False, timeout=GRACE)  # points travel pickled, by default unencrypted
    try:
        in_flight = max(ELASTIC, 2 * sum(client.nthreads(callback_timeout=PATIENCE).values()))
        yield client.get_executor(pure=False), in_flight, _watch(client, address)
    finally:
        with suppress(OSError):
            client.close(timeout=PATIENCE)


def submit(executor: Executor, run: Run, point: Point, device: str) -> Future:
    """Submit a point to an executor: a future of the result of `compute`, with the error if the executor is broken."""
    fields = point.model_dump(mode="json")
    try:
        with _interrupts_kept_back():  # workers may start here
            return executor.submit(compute, run.function, fields, device, fingerprint.of(run.function))
    except BrokenExecutor as error:
        future = Future()
        future.set_exception(error)
        return future


def compute(function: str, fields: dict, device: str, expected: str) -> dict:
    """Compute one point in a worker; return its fields, values, seconds and code, and the machine."""
    if fingerprint.of(function) != expected:
        raise RuntimeError(f"this worker has other library code: {fingerprint.of(function)}, the sweep has {expected}")
    module, name = function.split(":")
    call = getattr(import_module(module), name)
    started = time.perf_counter()
    values = computed(call, fields, device)
    seconds = time.perf_counter() - started
    where = named(call, values, device)
    if "device" in values:
        values["device"] = where
    for column, value in values.items():
        if not isinstance(value, (int, float, str)) or (isinstance(value, float) and not isfinite(value)):
            raise TypeError(f"{column} = {value!r} cannot be stored; allowed: finite numbers and texts")
    made = {"point": fields, "values": values, "seconds": seconds, "digest": expected, "device": where}
    return {**made, **provenance.machine()}


def named(call: Callable[..., dict], values: dict, device: str) -> str:
    """The device on which values were computed: a function that is `superposition.placing.placed` does not know it."""
    if not getattr(call, "placed", False):
        return values.get("device", "cpu")
    from superposition.devices import resolve_device

    return str(resolve_device(device))


def _watch(client: Client, address: str) -> Callable[[], bool]:
    """A function that returns whether a scheduler exists and has workers, and raises an error if they stay away."""
    heard = time.monotonic()

    def works() -> bool:
        nonlocal heard
        lack, now = _lack(client), time.monotonic()
        if not lack:
            heard = now
        elif lack == GONE or now - heard > GRACE:  # after a lost connection no result would come
            kept = "what was finished is kept, the same command goes on from there"
            raise ConnectionError(f"dask = {address!r}: the scheduler {lack}; {kept}")
        return not lack

    return works


def _lack(client: Client) -> str:
    """The reason why a scheduler cannot compute; empty if it has workers."""
    if client.status != "running":
        return GONE
    try:
        return "" if client.nthreads(callback_timeout=PATIENCE) else f"has had no workers for {GRACE:g} s"
    except OSError:  # the connection may be lost at the very question
        return f"has not answered for {GRACE:g} s" if client.status == "running" else GONE


async def _knock(address: str) -> None:
    """Connect to a scheduler once: a client would go on trying in the background."""
    from distributed import Security
    from distributed.comm import connect

    security = Security().get_connection_args("client")
    comm = await asyncio.wait_for(connect(address, timeout=PATIENCE, **security), PATIENCE)
    await comm.close()


@contextmanager
def _interrupts_kept_back() -> Iterator[None]:
    """Processes started within never receive the terminal's Ctrl-C: the parent decides when they end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_work(module: str, threads: int, lifeline: Connection) -> None:
    """Set up a worker: its end, its share of the threads, and the imports, before the first point."""
    threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()
    import_module(module)
    provenance.limit_threads(threads)


def _end_with_parent(lifeline: Connection) -> None:
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
