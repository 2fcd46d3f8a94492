"""Computing the points of a run on any executor, so that no result is lost when a process dies.

The process that calls `on_executor` writes the results; workers only compute. A point is locked
from its submission until its result is on disk, so several processes can share one sweep.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Collection, Generator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from defprint import fingerprint

from superposition import checks
from superposition.runs import executors, provenance, registry, store
from superposition.runs.point import Point, Run

Columns = frozenset[tuple[str, str]]  # see `registry.columns`

PAUSE = 0.5  # seconds between looks at points that another process works on


@dataclass(frozen=True)
class Outcome:
    """What a sweep did: points computed, points that failed with the reason, and whether the executor broke."""

    computed: int
    failed: dict[Point, str]
    broken: bool


def on_executor(
    run: Run,
    grid: str,
    folder: str | Path,
    executor: Executor,
    *,
    in_flight: int,  # twice the workers keeps them busy
    device: str = "auto",
    skip: Collection[Point] = (),
    works: Callable[[], bool] = lambda: True,  # asked again and again; raises to end the sweep
    progress: Callable[[int, int], object] | None = None,
) -> Outcome:
    """Compute the points of a grid that have no valid result yet; a point that raises does not stop the others."""
    in_flight = checks.whole("in_flight", in_flight, 1)
    folder = store.prepare(folder)
    found = registry.status(run, grid, folder)
    queue = _mixed({*found.missing, *found.damaged} - set(skip))
    total, computed, failed, broken = len(queue), 0, {}, False
    commit = provenance.commit(fingerprint.sources(run.function))
    if progress is not None:
        progress(0, total)
    hand_over = partial(executors.submit, executor, run, device=device)
    with closing(_landings(queue, run, folder, found.columns, hand_over, in_flight, works)) as landings:
        for future, point, left in landings:
            error = future.exception()
            if error is None:
                store.write(folder, registry.key(run, point), {**future.result(), "commit": commit})
                computed += 1
            else:
                failed[point] = f"{type(error).__name__}: {error}"
            if isinstance(error, BrokenExecutor):
                broken = True
                queue.clear()
            if progress is not None:
                progress(total - left - len(failed), total)
    return Outcome(computed, failed, broken)


def locally(
    run: Run, grid: str, folder: str | Path, *, workers: int, device: str = "auto",
    progress: Callable[[int, int], object] | None = None,
) -> Outcome:  # fmt: skip
    """The same in processes of this machine; a worker that is killed loses its points, and new workers do the rest."""
    computed, failed, broken = 0, {}, True
    while broken:
        with executors.local_pool(workers, run.function) as executor:
            options = {"device": device, "skip": failed, "progress": progress}
            part = on_executor(run, grid, folder, executor, in_flight=workers, **options)
        computed, failed, broken = computed + part.computed, failed | part.failed, part.broken
    return Outcome(computed, failed, broken)


def _mixed(points: Collection[Point]) -> deque[Point]:
    """The points in an order unrelated to their cost, always the same, so that the time left can be estimated."""
    ordered = sorted(points, key=str)
    random.Random(0).shuffle(ordered)
    return deque(ordered)


def _landings(
    queue: deque[Point], run: Run, folder: Path, columns: Columns, hand_over: Callable[[Point], Future], in_flight: int,
    works: Callable[[], bool],
) -> Generator[tuple[Future, Point, int]]:  # fmt: skip
    """Yield (future, point, points left) for each point as it ends, and hold its lock until the next is asked for."""
    flying: dict[Future, tuple[Point, ExitStack]] = {}
    try:
        while queue or flying:
            while works() and len(flying) < in_flight and (taken := _take(queue, run, folder, columns)):
                flying[hand_over(taken[0])] = taken
            if not flying:
                time.sleep(PAUSE if queue else 0)
                continue
            for future in wait(flying, timeout=PAUSE, return_when=FIRST_COMPLETED).done:
                point, held = flying[future]
                with held:
                    if future.cancelled():  # by an executor that lost it
                        queue.append(point)
                    else:
                        yield future, point, len(queue) + len(flying) - 1
                del flying[future]
    finally:
        for future, (_, held) in flying.items():
            future.cancel()
            held.close()


def _take(queue: deque[Point], run: Run, folder: Path, columns: Columns) -> tuple[Point, ExitStack] | None:
    """Take the next point that is neither finished nor locked by others, with its lock; None if there is none now."""
    for _ in range(len(queue)):
        point, held = queue.popleft(), ExitStack()
        if not held.enter_context(store.claim(folder, registry.key(run, point))):
            queue.append(point)
        elif _finished(run, point, folder, columns):
            held.close()
        else:
            return point, held
    return None


def _finished(run: Run, point: Point, folder: Path, columns: Columns) -> bool:
    try:
        record = registry.read(run, point, folder)
        return record is not None and (not columns or registry.columns(record) == columns)
    except store.ResultError:
        return False
