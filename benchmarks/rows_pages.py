"""What a reader waits for in a browser: a drag of a slider to be drawn, and formulas to be set, as times that pass."""

import runpy
import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from timing import Row

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
MARKS = SITE / "_static" / "maths.js"  # says when formulas are set; books built earlier have none
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FRAME = 0.06  # seconds
SLOWEST = {"loss": 0, "push": 1, "field": 0, "fan": 0}  # sliders, and which of their inputs asks for most
PAGES = ("ch3", "ch4", "ch7-below")  # with the most formulas

# The next value of an input; over once it is drawn.
DRAG = """which => new Promise(done => {
  const input = document.querySelectorAll(".slider input")[which], step = Math.ceil(input.max / 25);
  input.value = (Number(input.value) + step) % (Number(input.max) + 1);
  input.dispatchEvent(new Event("input"));
  requestAnimationFrame(() => { document.body.getBoundingClientRect(); done(); });
})"""


@contextmanager
def opened():
    """A page of a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1300, "height": 900})
        browser.close()


def redraws():
    """One step of a drag against the time in which a hand feels no delay."""
    if CHROMIUM is None:
        yield Row("redraw of sliders", "60 ms", 1, time.time, time.time, skip="no Chromium")
        return
    stills = runpy.run_path(str(ROOT / "scripts" / "stills.py"))
    markup = {name: text for _, name, text in stills["blocks"]()}
    with opened() as page, tempfile.TemporaryDirectory() as folder:
        for name, which in SLOWEST.items():
            path = Path(folder, f"{name}.html")
            path.write_text(stills["page_with"](markup[name]), "utf-8")
            page.goto(path.as_uri())
            yield Row(
                f"redraw of the slider {name}",
                "60 ms",
                1,
                lambda which=which: page.evaluate(DRAG, which),
                lambda: time.sleep(FRAME),
                clock=time.perf_counter,
                pairs=25,
            )


def maths():
    """Formulas that are not folded, from the opening of a built page, against two seconds."""
    built = [name for name in PAGES if MARKS.exists() and (SITE / f"{name}.html").exists()]
    if CHROMIUM is None or not built:
        reason = "no Chromium" if CHROMIUM is None else "no built book"
        yield Row("formulas of a page", "2 s", 1, time.time, time.time, skip=reason)
        return
    with opened() as page:
        for name in built:

            def ours(name=name):
                page.goto((SITE / f"{name}.html").as_uri(), wait_until="commit")
                page.wait_for_function("performance.getEntriesByName('maths in text').length")

            yield Row(f"formulas of {name}", "2 s", 1, ours, lambda: time.sleep(2), clock=time.perf_counter, pairs=5)


GROUPS = (redraws, maths)
