"""What every command prints, and how it ends: progress, refusals in one sentence, and nothing that a terminal obeys."""

import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress

import click


class _Plain(click.ParamType):
    """A number in the digits 0 to 9 without separators; Python alone would take others as well."""

    def __init__(self, kind):
        self.kind, self.name = kind, kind.name

    def convert(self, value, param, ctx):
        if isinstance(value, str):
            from superposition import checks

            if not checks.plainly_written(value):
                self.fail(f"{value!r} is not written with the digits 0 to 9, without separators.", param, ctx)
        return self.kind.convert(value, param, ctx)


WHOLE, REAL = _Plain(click.INT), _Plain(click.FLOAT)


@contextmanager
def bar(name, unit="point", delay=0):
    """A progress bar, shown from the first call of the function that is yielded on; ``delay`` in seconds."""
    from tqdm import tqdm

    shown = []

    def progress(done, total):
        if not shown:  # only now is it clear that there is something to do
            shown.append(tqdm(desc=name, unit=unit, smoothing=0, mininterval=1, delay=delay, dynamic_ncols=True))
        shown[0].total = total
        shown[0].update(done - shown[0].n)

    try:
        yield progress
    finally:
        for one in shown:
            one.close()


def drawable(path):
    """The path of a picture, or a refusal before anything has been computed."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.use("Agg")
    allowed = sorted(Figure().canvas.get_supported_filetypes())
    if path.rpartition(".")[2] not in allowed:
        raise ValueError(f"figure = {path} has an unknown ending; allowed: {', '.join(allowed)}")
    return writable("figure", path)


def writable(name, path):
    """A path that can be written, or a refusal before anything has been computed."""
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path) or not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"{name} = {path} cannot be written; allowed: a file in a folder that can be written")
    return path


def say(text, err=False):
    """Print text that may hold words of a stranger's file, without anything that a terminal would obey."""
    from superposition.checks import printable

    click.echo("\n".join(map(printable, str(text).split("\n"))), err=err)


@contextmanager
def refusals():
    """Print in one sentence what went wrong, and end with an exit code that is not zero."""
    try:
        with _terminated_as_interrupted():
            yield
    except BrokenPipeError:  # whoever read our output has enough: click knows what to do
        raise
    except (ValueError, OSError) as error:
        say(f"Error: {error}", err=True)
        sys.exit(2)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("superposition"):
            raise
        wanted = "matplotlib" if error.name == "matplotlib" else "'.[train]' in the book's folder"
        say(f"Error: this needs {error.name}; pip install {wanted} brings it", err=True)
        sys.exit(2)
    except KeyboardInterrupt as stop:
        with suppress(OSError):  # a terminal that was closed
            say("\nStopped. What was finished is kept; the same command goes on from there.", err=True)
        sys.exit(128 + (stop.args[0] if stop.args else signal.SIGINT))


@contextmanager
def _terminated_as_interrupted():
    def interrupt(number, frame):
        raise KeyboardInterrupt(number)

    if threading.current_thread() is not threading.main_thread():  # only the main thread hears signals
        yield
        return
    numbers = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None))]
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:  # nohup
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
