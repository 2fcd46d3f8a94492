"""Kernels that start warm: one process imports the packages of others that pages import, and is forked for each page.

Each page still runs in a process of its own, from its first cell, with an environment, folder and streams of its own,
and imports this library itself. A figure is laid out, and all that it holds is gone through, so that it says what it
would say; no picture is written, as neither the SVG nor the PNG beside it is compared. `conftest.py` starts the process
(`serve`), one for all workers of the whole suite. Jupyter starts `ask`, which asks for a fork and lives as long as that
does. Where nobody answers, it becomes an ordinary kernel.
"""

import os
import select
import signal
import socket
import sys

IMPORTED = ("ipykernel.kernelapp", "matplotlib.pyplot", "matplotlib_inline.backend_inline", "mpl_toolkits.mplot3d",
            "pydantic", "scipy.integrate", "scipy.optimize.elementwise", "scipy.stats", "torch._dynamo")  # fmt: skip
DOOR = "SUPERPOSITION_WARM_KERNELS"


def serve(door):
    """Fork a kernel for each that asks, until whoever started this closes its standard input."""
    import gc
    import importlib

    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # which a kernel sets before its first cell
    for name in IMPORTED:
        importlib.import_module(name)
    read_the_code_of_runs()
    gc.freeze()  # what is never let go of is shared by all forks
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    while 0 not in select.select([door, 0], [], [])[0]:
        asked, _ = door.accept()
        if not os.fork():
            door.close()
            return kernel(asked)
        asked.close()


def read_the_code_of_runs():
    """Take the fingerprints that tables on pages are compared with; what was imported for that is let go."""
    from defprint import fingerprint
    from superposition import runs

    for run in runs.RUNS.values():
        fingerprint.of(run.function)
    for name in [name for name in sys.modules if name.partition(".")[0] == "superposition"]:
        del sys.modules[name]


def laid_out(figure, fmt, **_):
    """In the place of a picture: the layout, and every step of the drawing but the last."""
    if fmt == "svg" and (figure.axes or figure.lines):  # else IPython shows none
        figure.draw_without_rendering()
        return "<svg/>"


def kernel(asked):
    """Become the kernel that a process asks for, with all that it would have had; end when either end does."""
    import json
    import threading

    from ipykernel.kernelapp import IPKernelApp
    from IPython.core import pylabtools

    pylabtools.print_figure = laid_out
    _, streams, _, _ = socket.recv_fds(asked, 1, 3)
    arguments, folder, environment = json.loads(asked.makefile("rb").readline())
    ends = [asked, os.dup(0)]
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    asked.sendall(b"%d\n" % os.getpid())
    threading.Thread(target=lambda: (select.select(ends, [], []), os._exit(1)), daemon=True).start()
    IPKernelApp.launch_instance(arguments)


def ask(arguments):
    """Ask for a kernel, pass interrupts on to it, and end with it."""
    import json

    environment = {name: value for name, value in os.environ.items() if name != "JPY_PARENT_PID"}  # it has another
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(os.environ[DOOR])
        socket.send_fds(asked, [b"\n"], [0, 1, 2])
        asked.sendall(json.dumps([arguments, os.getcwd(), environment]).encode() + b"\n")
        pid = int(asked.makefile("rb").readline())
        signal.signal(signal.SIGINT, lambda *_: os.kill(pid, signal.SIGINT))
        asked.recv(1)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(socket.socket(fileno=int(sys.argv[2])))
    else:
        try:
            ask(sys.argv[1:])
        except (OSError, KeyError, ValueError):
            os.execv(sys.executable, [sys.executable, "-m", "ipykernel_launcher", *sys.argv[1:]])
