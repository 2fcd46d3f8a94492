"""Computing the points of a run on any executor, so that nothing is lost when something dies.

The process that calls `sweep` writes the results; workers only compute. A point is locked from
its submission until its result is on disk, so several processes can share one sweep.
"""

import asyncio
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from math import isfinite
from pathlib import Path

from superposition import checks, digest, results, runs

PATIENCE = 5.0  # seconds that a Dask scheduler has for its answer
PAUSE = 0.5  # seconds between looks at points that another process works on
ELASTIC = 64  # points at Dask at least, since its workers come and go


@dataclass(frozen=True)
class Outcome:
    """What a sweep did: points computed, points that failed with the reason, and whether the executor broke."""

    computed: int
    failed: dict
    broken: bool


def sweep(run, grid, folder, executor, *, in_flight, device="auto", skip=(), progress=None):
    """Compute the points of a grid that have no valid result yet.

    Parameters
    ----------
    run : superposition.runs.Run
        The run.
    grid : {"small", "full"}
        Which of its grids.
    folder : str or os.PathLike
        The run's results folder; made if missing. Damaged files in it are replaced.
    executor : concurrent.futures.Executor
        Where the points are computed.
    in_flight : int
        Points handed to the executor at a time, at least 1; twice its workers keeps them busy.
    device : str
        See `superposition.autoencoder.resolve_device`.
    skip : collection of superposition.runs.Point
        Points to leave out.
    progress : callable, optional
        Called as ``progress(done, total)``, where the total is what was missing at the start.

    Returns
    -------
    Outcome
        A point that raises is listed as failed and the others go on. If the executor breaks,
        the points it held are listed as failed and the rest is left.

    Raises
    ------
    ValueError
        If the grid is empty or an argument is outside its range.
    superposition.results.ResultError
        If the folder was written by another version, or holds something else.
    superposition.results.StorageError
        If the disk takes no more; what was finished is kept.
    """
    in_flight = checks.whole("in_flight", in_flight, 1)
    folder = results.prepare(folder)
    found = runs.status(run, grid, folder)
    queue = _mixed({*found.missing, *found.damaged} - set(skip))
    total, computed, failed, broken, commit = len(queue), 0, {}, False, _commit(run.function)
    if progress is not None:
        progress(0, total)
    with closing(_landings(queue, run, folder, executor, in_flight, device)) as landings:
        for future, point, left in landings:
            error = _error(future)
            if error is None:
                results.write(folder, runs.key(run, point), {**future.result(), "commit": commit})
                computed += 1
            else:
                failed[point] = f"{type(error).__name__}: {error}"
            if isinstance(error, BrokenExecutor):
                broken = True
                queue.clear()
            if progress is not None:
                progress(total - left, total)
    return Outcome(computed, failed, broken)


def sweep_locally(run, grid, folder, *, workers, device="auto", progress=None):
    """Compute the points of a grid in processes of this machine.

    A worker that is killed takes the points of that moment with it; the others are computed by
    new workers.

    Parameters
    ----------
    run : superposition.runs.Run
        The run.
    grid : {"small", "full"}
        Which of its grids.
    folder : str or os.PathLike
        The run's results folder.
    workers : int
        Processes, from 1 to the number of cores.
    device : str
        See `superposition.autoencoder.resolve_device`.
    progress : callable, optional
        Called as ``progress(done, total)``.

    Returns
    -------
    Outcome

    Raises
    ------
    ValueError
        If there are more workers than cores, or the grid is empty.
    superposition.results.ResultError
        If the folder was written by another version, or holds something else.
    superposition.results.StorageError
        If the disk takes no more; what was finished is kept.
    """
    computed, failed, broken = 0, {}, True
    while broken:
        with local_pool(workers, run.function) as executor:
            part = sweep(run, grid, folder, executor, in_flight=workers, device=device, skip=failed, progress=progress)
        computed, failed, broken = computed + part.computed, failed | part.failed, part.broken
    return Outcome(computed, failed, broken)


def cores():
    """Cores that this process may use.

    Returns
    -------
    int
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def local_pool(workers, function):
    """Processes of this machine that share its cores and end when this process does, however it ends.

    Parameters
    ----------
    workers : int
        From 1 to the number of cores; each gets its part of the threads of the maths libraries.
    function : str
        What they will call, as "module:name"; its module is imported at once.

    Yields
    ------
    concurrent.futures.ProcessPoolExecutor

    Raises
    ------
    ValueError
        If there are more workers than cores.
    """
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
def dask_pool(address):
    """An executor at a Dask scheduler, and how many points to hand it at a time.

    Parameters
    ----------
    address : str
        As in "tcp://127.0.0.1:8786".

    Yields
    ------
    executor : concurrent.futures.Executor
        The client's own.
    in_flight : int
        Twice the threads of its workers at this moment, and not few, since workers come and go.

    Raises
    ------
    ValueError
        If Dask is not installed, the address is none, or nobody answers within `PATIENCE`.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("dask needs another package; to install it: pip install 'superposition[dask]'") from None
    try:
        asyncio.run(_knock(address))
    except (OSError, ValueError) as error:
        raise ValueError(
            f"dask = {address!r} does not answer: {error or f'nothing heard for {PATIENCE:g} s'}; "
            "allowed: the address of a running scheduler, as in tcp://127.0.0.1:8786"
        ) from None
    with Client(address, set_as_default=False) as client:
        yield client.get_executor(pure=False), max(ELASTIC, 2 * sum(client.nthreads().values()))


def compute(function, fields, device, expected):
    """Compute one point: this is what a worker runs.

    Parameters
    ----------
    function : str
        What to call, as "module:name".
    fields : dict
        The point.
    device : str
        See `superposition.autoencoder.resolve_device`.
    expected : str
        Digest of the library code that the sweep was started with.

    Returns
    -------
    dict
        ``point``, ``values``, ``seconds``, ``digest`` and ``versions``.

    Raises
    ------
    RuntimeError
        If this worker has other library code.
    TypeError
        If the function returns something else than a dict of finite numbers and texts.
    """
    if digest.of(function) != expected:
        raise RuntimeError(f"this worker has other library code: {digest.of(function)}, the sweep has {expected}")
    module, name = function.split(":")
    call = getattr(import_module(module), name)
    started = time.perf_counter()
    values = call(**fields, device=device)
    seconds = time.perf_counter() - started
    for column, value in values.items():
        if not isinstance(value, (int, float, str)) or (isinstance(value, float) and not isfinite(value)):
            raise TypeError(f"{column} = {value!r} cannot be stored; allowed: finite numbers and texts")
    return {"point": fields, "values": values, "seconds": seconds, "digest": expected, "versions": versions()}


@cache
def versions():
    """Versions of Python, this library and what its numbers depend on.

    Returns
    -------
    dict of str to str
    """
    found = {name: metadata.version(name) for name in ("superposition", "numpy", "scipy", "torch")}
    return {"python": ".".join(map(str, sys.version_info[:3])), **found}


async def _knock(address):
    """Talk to a scheduler once: a client of its own would go on trying in the background."""
    from distributed import Security
    from distributed.comm import connect

    security = Security().get_connection_args("client")
    comm = await asyncio.wait_for(connect(address, timeout=PATIENCE, **security), PATIENCE)
    await comm.close()


def _mixed(points):
    """In an order that has nothing to do with their cost, the same every time: so the time left can be told."""
    ordered = sorted(points, key=str)
    random.Random(0).shuffle(ordered)
    return deque(ordered)


def _landings(queue, run, folder, executor, in_flight, device):
    """Yield (future, point, points left) for each point as it ends, and hold its lock until the next is asked for."""
    flying = {}
    try:
        while queue or flying:
            while len(flying) < in_flight and (taken := _take(queue, run, folder)):
                flying[_submit(executor, run, taken[0], device)] = taken
            if not flying:
                time.sleep(PAUSE if queue else 0)
                continue
            for future in wait(flying, timeout=PAUSE if queue else None, return_when=FIRST_COMPLETED).done:
                with flying[future][1]:
                    yield future, flying[future][0], len(queue) + len(flying) - 1
                del flying[future]
    finally:
        for future, (_, held) in flying.items():
            future.cancel()
            held.close()


def _take(queue, run, folder):
    """Take the next point that is neither finished nor in other hands, with its lock; None if there is none now."""
    for _ in range(len(queue)):
        point, held = queue.popleft(), ExitStack()
        name = runs.key(run, point)
        if not held.enter_context(results.claim(folder, name)):
            queue.append(point)
        elif _finished(folder, name):
            held.close()
        else:
            return point, held
    return None


def _finished(folder, name):
    try:
        return results.read(folder, name) is not None
    except results.ResultError:
        return False


def _submit(executor, run, point, device):
    fields = point.model_dump(mode="json")
    try:
        with _interrupts_kept_back():  # workers may start here
            return executor.submit(compute, run.function, fields, device, digest.of(run.function))
    except BrokenExecutor as error:
        future = Future()
        future.set_exception(error)
        return future


def _error(future):
    try:
        return future.exception()
    except CancelledError as error:
        return error


@contextmanager
def _interrupts_kept_back():
    """Processes started in here never see the terminal's Ctrl-C: the parent decides when they end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_work(module, threads, lifeline):
    """Set up a worker: its end, its share of the threads, and the imports, before the first point."""
    from threadpoolctl import threadpool_limits

    threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()
    import_module(module)
    threadpool_limits(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


def _end_with_parent(lifeline):
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


def _commit(function):
    """The commit of the library, marked if code that the function depends on differs; None outside of git."""
    here = Path(__file__).parent
    files = [f"{module.split('.')[-1]}.py" for module in digest.modules(function)]
    if not _git(here, "ls-files", Path(__file__).name):
        return None
    return _git(here, "rev-parse", "HEAD") + ("+changes" if _git(here, "status", "--porcelain", "--", *files) else "")


def _git(folder, *arguments):
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
