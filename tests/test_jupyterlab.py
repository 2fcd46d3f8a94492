"""JupyterLab opens a chapter and its text twin quietly: no dialog, nothing marked as changed, nothing written."""

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60  # a cold start on a slow machine; seen: 3

# The mark of the kernel is "idle" for a moment before there is one.
CONNECTED = "() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"
BACKGROUNDS = "them => them.map(one => getComputedStyle(one).backgroundColor)"
# What would mark the document comes with the kernel's answer and is then done at once; its mark is drawn a frame later.
SETTLED = """async () => {
  const {kernel} = window.jupyterapp.shell.currentWidget.sessionContext.session;
  await Promise.all([kernel.info, kernel.spec]);
  await new Promise(done => setTimeout(done, 300));
}"""
# All cells are drawn, but those out of sight are not laid out: nothing here is measured.
UNSEEN = ".jp-Notebook .jp-Cell { content-visibility: auto; contain-intrinsic-size: auto 300px; }"

# What the set-up installs into .venv/etc/jupyter: which view opens a text twin, and that the list leaves twins out.
SET_UP = ROOT / "scripts" / "jupyter"

SETTINGS = {
    # Draw all cells, not only those in sight; a kernel ends with its notebook.
    "notebook-extension/tracker": {"windowingMode": "none", "kernelShutdown": True},
    "apputils-extension/notification": {"fetchNews": "false"},
}


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """Return a copy of the chapters and of jupytext's settings: what is opened must not be the real thing."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "book", folder / "book", ignore=shutil.ignore_patterns(".*"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def free_port():
    """Return a port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(address, server, log):
    """Wait until the server answers; a server that ended or stays silent fails with its log."""
    for _ in range(START_SECONDS * 5):
        try:
            return urllib.request.urlopen(address, timeout=1).close()
        except OSError:
            assert server.poll() is None, log.read_text()[-3000:]
            time.sleep(0.2)
    pytest.fail(f"JupyterLab did not answer within {START_SECONDS} s:\n{log.read_text()[-3000:]}")


def write_settings(folder):
    """Write the few settings the test needs."""
    for name, values in SETTINGS.items():
        file = folder / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(values))


@pytest.fixture(scope="module")
def lab(chromium, work, tmp_path_factory):
    """Start JupyterLab with nobody's personal settings and return its address."""
    home = tmp_path_factory.mktemp("home")
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    own = {name: str(home / name) for name in names}
    write_settings(home / "lab")
    own |= {"JUPYTERLAB_SETTINGS_DIR": str(home / "lab"), "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces")}
    own |= {"JUPYTER_CONFIG_PATH": str(SET_UP)}
    port, log = free_port(), home / "log"
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    options += ["--IdentityProvider.token=", "--expose-app-in-browser", f"--ServerApp.root_dir={work}"]
    with open(log, "w") as sink:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options], cwd=work, env=os.environ | own, stdout=sink, stderr=sink
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/api", server, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()  # it ends its kernels itself
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()


def digests(folder):
    """Return a hash of every file, so that a write of any kind shows."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and ".ipynb_checkpoints" not in p.parts)
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


@pytest.fixture(scope="module")
def untouched(work):
    """Return the hashes before anything is opened."""
    return digests(work)


@pytest.fixture(scope="module")
def desk(lab, browser):
    """JupyterLab in a tab of the browser; one for all notebooks, which are closed again."""
    page = browser.new_page(viewport={"width": 1300, "height": 900})
    page.set_default_timeout(120_000)  # a long page on a busy machine
    page.goto(f"{lab}/lab/tree/book")
    page.add_style_tag(content=UNSEEN)
    return page


@pytest.fixture
def page(desk):
    """The desk, empty afterwards."""
    yield desk
    desk.locator(".lm-DockPanel .lm-TabBar-tab.lm-mod-current .lm-TabBar-tabCloseIcon").click()
    desk.wait_for_selector(".jp-Notebook", state="detached")


def open_file(page, name):
    """Open a file from the file browser, as people do: by a double click; a text twin is not listed, but has a path."""
    if name.endswith(".md"):
        page.evaluate(f"void window.jupyterapp.commands.execute('docmanager:open', {{path: 'book/{name}'}})")
    else:
        page.locator(".jp-DirListing-item", has_text=name).dblclick()
    page.wait_for_selector(".jp-Notebook .jp-MarkdownCell h1")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status='idle']")
    page.wait_for_function(CONNECTED)
    page.evaluate(SETTLED)


def test_the_list_has_each_chapter_once(desk):
    desk.wait_for_selector(".jp-DirListing-item:has-text('ch3.ipynb')")
    names = desk.locator(".jp-DirListing-itemName").all_inner_texts()
    twins = {Path(name).stem for name in NOTEBOOKS} & {Path(name).stem for name in names if name.endswith(".md")}
    assert set(NOTEBOOKS) <= set(names) and not twins


NOTEBOOKS = [path.name for path in sorted((ROOT / "book").glob("*.ipynb"))]


# What JupyterLab does to a page depends on how it was stored, and all are stored by one command: the first page of
# each chapter, and all that are no chapters.
OPENED = [*(name for name in NOTEBOOKS if "-" not in name), "ch3.md"]


@pytest.mark.parametrize("name", OPENED)
def test_chapter_opens_quietly(name, untouched, page, work, keep_picture):
    cells = json.loads((work / "book" / name).with_suffix(".ipynb").read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    open_cells = [cell for cell in code if not cell["metadata"].get("jupyter", {}).get("outputs_hidden")]
    figures = sum(
        any(mime.startswith("image/") for mime in o.get("data", ())) for c in open_cells for o in c["outputs"]
    )

    open_file(page, name)
    keep_picture(page, f"jupyterlab-{name.replace('.', '-')}.png")

    assert page.locator(".jp-Dialog").all_inner_texts() == []
    assert page.locator(".jp-mod-dirty").count() == 0, "marked as changed on opening"
    assert page.locator(".jp-Notebook .jp-Cell").count() == len(cells)
    # A fresh clone is not trusted, and JupyterLab shows no svg there: each figure needs a png beside it.
    drawn = ".jp-OutputArea-output.jp-RenderedImage img, .jp-OutputArea-output.jp-RenderedSVG"
    assert page.locator(drawn).count() == figures
    hidden = [cell["metadata"].get("jupyter", {}) for cell in code]
    assert page.locator(".jp-Notebook .jp-Placeholder").count() == sum(map(len, hidden)), "folded as in the book"
    bars = page.locator(".jp-InputPlaceholder .jp-Placeholder-content").evaluate_all(BACKGROUNDS)
    assert set(bars) <= {"rgba(0, 0, 0, 0)"}, "a grey bar between an answer and its picture"
    labels = page.get_by_text(re.compile(r"^\((ch\d|best)\S*\)$"))
    assert labels.count() == 0, "a label stands as text below its formula"
    assert digests(work) == untouched
