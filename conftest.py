"""What every test shares: the browser, what `pytest --nbval` compares, the order of groups, seconds a page."""

import csv
import gc
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

# Pictures, tables for people, and the ledger's JSON record hold the machine's own digits. Their text form is compared:
# `rug.eq6: holds`, `<Figure size …>`. So is stderr: a warning that nobody stored fails the cell.
NOT_COMPARED = (
    "text/html",
    "text/markdown",
    "image/svg+xml",
    "application/vnd.superposition.claim+json",
)

# What a user's shell may hold and what would break figure cells or the comparison of outputs.
FOREIGN = ("MPLBACKEND", "MATPLOTLIBRC", "PYTHONWARNINGS")

TESTS = Path(__file__).parent / "tests"
PACKAGES = ("superposition.", "defprint.")
# What takes longest starts first, so that groups side by side end together: by the seconds of an earlier run. What it
# did not have may be long, and starts before all others.
SECONDS = TESTS / "seconds.csv"

collect_ignore = ["tests/rewritings.py"]  # no tests, and it reads all that runs reach


def pytest_addoption(parser):
    parser.addoption("--measure", action="store_true", help="write down the seconds of groups of tests side by side")
    parser.addoption("--require-browser", action="store_true", help="fail, rather than skip, without a Chromium")
    parser.addoption("--screenshots", action="store_true", help="keep pictures of the pages in _build/screenshots")
    parser.addoption("--theory", action="store_true", help="skip, and name, what needs more than the theory's packages")
    parser.addoption("--first-cases", action="store_true", help="of each test in a folder of tests, one case")


QUICK = "not look and not thorough"
# Options that choose tests, and options of somebody who watches one process
CHOICES = ("markexpr", "keyword", "lf", "failedfirst", "stepwise")
WATCHED = ("trace", "stepwise")
# In a worker: there the kernels of pages start warm
SIDE_BY_SIDE = "PYTEST_XDIST_WORKER" in os.environ and sys.platform == "linux"


def pytest_cmdline_main(config):
    """Leave out of the whole suite what `make test-more` runs, where nothing else is asked for; in each worker too."""
    if whole_suite(config) and not any(getattr(config.option, name, None) for name in CHOICES):
        config.option.markexpr = QUICK


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Run the whole suite side by side (-n auto in pyproject.toml), and what is named or watched in one process."""
    watched = any(getattr(config.option, name, None) for name in WATCHED) or config.option.capture == "no"
    return 0 if watched or not whole_suite(config) else workers()


def whole_suite(config):
    """Whether no file, folder or test is named."""
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS


def workers():
    """One more than there are cores, as some tests wait for a server; at most eight."""
    return 1 + min(7, os.cpu_count() or 1)


def pytest_configure(config):
    for variable in FOREIGN:
        os.environ.pop(variable, None)
    # Threads that spin while they wait make training 50 times slower as soon as something else wants a core.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if getattr(config.option, "tx", None) and "PYTEST_XDIST_WORKER" not in os.environ:
        # Files side by side: one thread each, the kernels they start included. Said before there are workers, where a
        # plugin loads numpy before this file is read, and numpy then starts as many threads as it may.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        if config.getoption("nbval", False) and sys.platform == "linux" and whole_suite(config):
            os.environ["SUPERPOSITION_WARM_KERNELS"] = started_kernels(config)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # around nbval, which starts a kernel before the first cell of a page
def pytest_runtest_setup(item):
    """Let the kernels of pages side by side be forked from a process that has imported what pages import."""
    option = item.config.option
    if not (SIDE_BY_SIDE and hasattr(item.parent, "skip_compare")) or option.current_env:
        return (yield)
    if option.nbval_kernel_name not in (None, "warm"):
        return (yield)
    option.nbval_kernel_name = "warm"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in warm_kernels(item.config).items():
            patch.setenv(name, value)
        return (yield)


@pytest.fixture
def page_kernel(request, monkeypatch):
    """The name of the kernel that a test runs a page in."""
    if not SIDE_BY_SIDE:
        return "python3"
    for name, value in warm_kernels(request.config).items():
        monkeypatch.setenv(name, value)
    return "warm"


def warm_kernels(config):
    """The variables by which the kernels of tests/warm_kernels.py are found."""
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("JUPYTER_PATH")]))
    door = os.environ.get("SUPERPOSITION_WARM_KERNELS") or started_kernels(config)
    return {"SUPERPOSITION_WARM_KERNELS": door, "JUPYTER_PATH": path}


@cache
def started_kernels(config):
    """Start the process that kernels are forked from, until pytest ends; return where it is asked."""
    folder = tempfile.TemporaryDirectory()
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(f"{folder.name}/door")
        door.listen()
        command = [sys.executable, "-P", str(TESTS / "warm_kernels.py"), "serve", str(door.fileno())]
        one_thread = os.environ | {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
        how = {"stdin": subprocess.PIPE, "pass_fds": [door.fileno()], "start_new_session": True, "env": one_thread}
        server = subprocess.Popen(command, **how)
    config.add_cleanup(folder.cleanup)
    config.add_cleanup(server.wait)
    config.add_cleanup(server.stdin.close)  # the last added is the first called
    return f"{folder.name}/door"


def pytest_collect_file(file_path):
    """Import a module of the library by its name, before pytest imports its file for the examples.

    Where nothing has imported it yet, pytest would make a second module of it, whose classes others do not know.
    """
    name = ".".join(file_path.with_suffix("").parts).rpartition(".lib.")[2].removesuffix(".__init__")
    if file_path.suffix == ".py" and name.startswith(PACKAGES) and not name.endswith(".__main__"):
        with suppress(Exception):  # pytest imports it again, and says what is wrong
            import_module(name)


def pytest_ignore_collect(collection_path, config):
    """Leave out, without importing it, a file whose tests are all deselected: what runs reach takes seconds."""
    if collection_path.suffix == ".py" and config.getoption("--theory") and "lib" in collection_path.parts:
        # pytest would leave half a module behind, which a function that imports torch when it is called then finds
        return (
            bool(re.search("^(from superposition.devices import|    import torch)", collection_path.read_text(), re.M))
            or None
        )
    if collection_path.suffix == ".py" and "not thorough" in config.option.markexpr:
        return "\npytestmark = pytest.mark.thorough" in collection_path.read_text() or None
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Search for no garbage: what is collected stays, and to go through it again and again takes a sixth longer."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collectstart(collector):
    if hasattr(collector, "skip_compare"):  # nbval's notebooks
        collector.skip_compare += NOT_COMPARED


@pytest.hookimpl(tryfirst=True)  # before the workers learn the groups
def pytest_collection_modifyitems(config, items):
    if config.getoption("--first-cases"):
        items[:] = first_cases(items)
    taken = known_seconds()
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group(item)))
        if {"chromium", "site"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("look")
    # Opened pages one after another at the end: the site is built then, a browser stays open, and none takes long.
    items.sort(key=lambda item: (":" in group(item), -taken.get(group(item), math.inf)))


def first_cases(items):
    """One case of each test of a wing, and all of the tests that go through all functions, beside `contract.py`."""
    ground, first = TESTS, {}
    for item in items:
        if not item.get_closest_marker("thorough"):
            first.setdefault(item.nodeid if item.path.parent == ground else item.nodeid.split("[")[0], item)
    return list(first.values())


def known_seconds():
    """Return the seconds of groups in earlier runs."""
    rows = csv.reader(SECONDS.read_text().splitlines()) if SECONDS.exists() else ()
    return {name: float(seconds) for name, seconds in rows}


@pytest.fixture(autouse=True)
def empty_folder_for_recipes(request, tmp_path_factory, monkeypatch):
    """They write files, as a reader would who tries them somewhere."""
    if request.node.path.name == "recipes.md":
        monkeypatch.chdir(tmp_path_factory.mktemp("recipes"))


def group(item):
    """What one worker does in one go: a file, or one page of those that a test opens."""
    file = item.nodeid.split("::")[0]
    page = item.callspec.params.get("opened") if hasattr(item, "callspec") else None
    return f"{file}:{page}" if page else file


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    return without_failure(report, collector.config, str(collector.path))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    return without_failure(report, item.config, str(item.path))


def without_failure(report, config, path):
    """Where only the theory is installed, what a missing package stopped is skipped, and the package named."""
    if config.getoption("--theory") and report.failed:
        missing = re.search(r"ModuleNotFoundError: (?!.*named 'superposition)(.*)", str(report.longrepr))
        if missing:
            report.outcome, report.longrepr = "skipped", (path, 0, missing[1])
    return report


def pytest_terminal_summary(terminalreporter, config):
    """Say how many seconds each page took, and keep those of all groups if asked to."""
    seconds, groups = Counter(), Counter()
    for reports in terminalreporter.stats.values():
        for report in (report for report in reports if hasattr(report, "duration")):  # deselected tests have none
            node = report.nodeid
            if node.split("::")[0].endswith(".ipynb"):
                seconds[node.split("::")[0]] += report.duration
            if "@" in node:
                groups[node.rpartition("@")[2]] += report.duration
    if config.getoption("--measure") and groups:
        both = Counter(known_seconds()) | groups  # the larger: `make test` runs a part of what `make test-more` does
        with SECONDS.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows((name, f"{s:.1f}") for name, s in both.most_common())
    if seconds:
        terminalreporter.section("seconds a page")
    for file, total in seconds.most_common():
        terminalreporter.write_line(f"{total:6.1f}  {file}")


@pytest.fixture(scope="session")
def chromium(request):
    """Path of the system's Chromium; without one the tests that need it are skipped, or fail if so asked."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        reason = f"no browser: none of {', '.join(names)} on PATH (Debian: apt-get install chromium)"
        (pytest.fail if request.config.getoption("--require-browser") else pytest.skip)(reason)
    return path


@pytest.fixture(scope="session")
def keep_picture(request):
    """Keep what an open page looks like for people, if so asked."""

    def keep(page, name, **how):
        if request.config.getoption("--screenshots"):
            page.screenshot(path=Path(__file__).parent / "_build" / "screenshots" / name, **how)

    return keep


@pytest.fixture(scope="module")
def browser(chromium):
    """A headless browser. Per module, since it holds an event loop that nbval's kernels must not meet."""
    from playwright.sync_api import sync_playwright

    offline = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--disable-background-networking"]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", *offline]
        )
        yield running
        running.close()
