"""What every test shares: the browser, and what `pytest --nbval` compares in the chapters."""

import os
import shutil

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


def pytest_addoption(parser):
    parser.addoption("--require-browser", action="store_true", help="fail, rather than skip, without a Chromium")


def pytest_configure(config):
    for variable in FOREIGN:
        os.environ.pop(variable, None)
    # Threads that spin while they wait make training 50 times slower as soon as something else wants a core.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def pytest_collectstart(collector):
    if hasattr(collector, "skip_compare"):  # nbval's notebooks
        collector.skip_compare += NOT_COMPARED


@pytest.fixture(scope="session")
def chromium(request):
    """Path of the system's Chromium; without one the tests that need it are skipped, or fail if so asked."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        reason = f"no browser: none of {', '.join(names)} on PATH (Debian: apt-get install chromium)"
        (pytest.fail if request.config.getoption("--require-browser") else pytest.skip)(reason)
    return path


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
