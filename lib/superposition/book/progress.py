"""A progress bar for chapters that leaves nothing in the stored outputs, unlike the bar of tqdm.auto."""

import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from tqdm import tqdm

T = TypeVar("T")


@contextmanager
def bar(description: str) -> Iterator[Callable[[int, int], None]]:
    """Yield ``progress(done, total)``, which shows a bar in JupyterLab or in the terminal that runs the notebook."""
    screen = _cell_output() if _someone_looks_at_the_cell() else _terminal()
    with tqdm(desc=description, file=screen, leave=False, mininterval=0.5, dynamic_ncols=True) as shown:

        def progress(done, total):
            shown.total = total
            shown.update(done - shown.n)

        try:
            yield progress
        finally:
            shown.close()
            screen.close()


def each(items: Collection[T], description: str) -> Iterator[T]:
    """Go through items under a bar; their number is its total."""
    with bar(description) as show:
        for done, item in enumerate(items, 1):
            yield item
            show(done, len(items))


def _someone_looks_at_the_cell():
    """JupyterLab names the cell in its request; papermill, nbval and nbclient do not."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    return kernel is not None and "cellId" in kernel.get_parent().get("metadata", {})


def _terminal():
    """The error stream of the process; in a kernel, the error stream of the program that started it."""
    try:
        return os.fdopen(os.dup(sys.stderr.fileno()), "w")
    except (OSError, ValueError):  # no such stream
        return open(os.devnull, "w", encoding="utf-8")


class _cell_output:  # noqa: N801 - a file in all but name
    """A file whose last line is shown under the cell, and taken away when it is closed."""

    def __init__(self):
        from IPython.display import display

        self.handle: Any = display({"text/plain": ""}, raw=True, display_id=True)

    def write(self, text):
        if text.strip():
            self.handle.update({"text/plain": text.strip("\r\n")}, raw=True)

    def flush(self):
        pass

    def close(self):
        from IPython.display import clear_output

        clear_output()
