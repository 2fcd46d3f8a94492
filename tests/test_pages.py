"""The built pages in a real browser with the network cut: wide and narrow, light and dark.

The book is built here, from the working tree and with the flags of `make book`, so nothing stale is looked at.
With ``--screenshots`` pictures for people land in ``_build/screenshots/``: of all pages they cost minutes.
"""

import io
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from filelock import FileLock
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
TAKE_AWAY = runpy.run_path(str(ROOT / "scripts" / "take_away.py"))
TOC = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text())

# Runs in the page and returns facts; the tests judge them.
FACTS = (Path(__file__).parent / "page_facts.js").read_text()
SHARES = (Path(__file__).parent / "page_shares.js").read_text()
CORNERS = (Path(__file__).parent / "page_corners.js").read_text()
FIRST_SCREEN, HEIGHT = {"width": 1300, "height": 900}, 1400
FIRST = """() => {
  const end = e => e.getBoundingClientRect().bottom + scrollY;
  const bottom = selector => Math.max(0, ...[...document.querySelectorAll(selector)].map(end));
  return {number: bottom(".tag_the-number .cell_output"), picture: bottom(".slider.hero, .tag_hero figure img")};
}"""
# Without the search for garbage, which goes through the trees of all pages again and again: a quarter of the build.
BUILD = "import gc; gc.disable(); from jupyter_book.cli.main import main; main()"


def toc_files(entry):
    """Return every file named in a table of contents, at any depth."""
    if isinstance(entry, list):
        return [name for item in entry for name in toc_files(item)]
    if isinstance(entry, dict):
        own = [entry[key] for key in ("root", "file") if key in entry]
        return own + [name for value in entry.values() if isinstance(value, (list, dict)) for name in toc_files(value)]
    return []


IN_ORDER = [str(Path(name).with_suffix(".html")) for name in toc_files(TOC)]
CHAPTERS = [page for page in IN_ORDER if page.startswith("ch")]
# A chapter stands at one place in both lists: by it pytest brings together what needs the same page open.
PAGES = [*CHAPTERS, *(page for page in IN_ORDER if page not in CHAPTERS)]
BELOW = ["ch5-cumulants.html", "ch7.html", "ch9.html", "ch10.html"]  # their picture may end below the first screen


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the book once for all workers, into a fresh folder, and return the folder of its pages."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    log = shared / "site.log"
    command = [sys.executable, "-c", BUILD, "build", "book", "-W", "-n", "--keep-going", "--all"]
    with FileLock(shared / "site.lock"):
        if not log.exists():
            done = subprocess.run(
                [*command, "--path-output", shared / "site"],
                cwd=ROOT,
                env=os.environ | {"NO_COLOR": "1"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            log.write_text(f"{done.returncode}\n{done.stdout}", encoding="utf-8")
    code, said = log.read_text(encoding="utf-8").split("\n", 1)
    assert code == "0", said[-5000:]
    return shared / "site" / "_build" / "html"


@pytest.fixture(scope="module", params=PAGES)
def opened(request, browser, site):
    """Open one page once, and give it with its messages and shares; `view` changes width and theme in place."""
    context = browser.new_context(viewport=FIRST_SCREEN, color_scheme="light")
    context.set_default_timeout(120_000)  # a long page on a busy machine
    context.route(re.compile(r"^(?!file:)"), lambda route: route.abort())
    page = context.new_page()
    messages = []
    page.on("console", lambda m: messages.append((m.type, m.text, m.location.get("url", ""))))
    page.on("pageerror", lambda error: messages.append(("error", str(error), "")))
    page.goto((site / request.param).as_uri(), wait_until="load")
    page.evaluate("window.MathJax?.startup?.promise")
    page.evaluate("document.querySelectorAll('img').forEach(i => i.loading = 'eager')")
    page.wait_for_function("[...document.images].every(i => i.complete)")
    first = page.evaluate(FIRST) if request.param in CHAPTERS else None
    page.set_viewport_size(FIRST_SCREEN | {"height": HEIGHT})
    shares = page.evaluate(SHARES) if request.param in CHAPTERS else None
    yield SimpleNamespace(page=page, messages=messages, name=request.param, shares=shares, first=first, views={})
    context.close()


# From each to the next one thing changes: the page is laid out and coloured again no more often than needed. What is
# laid out does not depend on the theme, and what stands on a phone has the colours that it has elsewhere.
LOOKS = [(1300, "light"), (1300, "dark"), (400, "dark")]


@pytest.fixture(params=LOOKS, ids="{0[0]}-{0[1]}".format)
def look(request):
    return request.param


@pytest.fixture
def width(look):
    return look[0]


@pytest.fixture
def theme(look):
    return look[1]


@pytest.fixture
def view(opened, look, keep_picture):
    """What the tests look at, at one width and in one theme; each page takes each look once."""
    if look not in opened.views:
        opened.views[look] = viewed(opened.page, *look) | {"messages": list(opened.messages)}
        keep_picture(opened.page, f"{Path(opened.name).stem}-{look[0]}-{look[1]}.png", full_page=True)
    return opened.views[look]


def viewed(page, width, theme):
    """Change width and theme of an open page, and return facts and the corners of its figures."""
    page.set_viewport_size({"width": width, "height": HEIGHT})
    page.emulate_media(color_scheme=theme)  # the theme follows the system, as its mode is "auto"
    page.wait_for_function(f"document.documentElement.dataset.theme === '{theme}'")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")  # fit.js has seen it
    return page.evaluate(FACTS) | {"corners": corners(page, width)}


def corners(page, width):
    """Return the colour in the lower left corner of each figure in sight, as it is drawn: all in one small picture."""
    places = page.evaluate(CORNERS)
    assert all(seen for *_, seen in places), "something stands before a copy"
    # with the caret as it is: to hide it, the styles of the whole page are worked out again
    strip = page.screenshot(clip={"x": 0, "y": 0, "width": width, "height": 100}, caret="initial")
    page.evaluate("document.querySelectorAll('.corner').forEach(copy => copy.remove())")
    picture = Image.open(io.BytesIO(strip)).convert("RGB")
    return [picture.getpixel((x, y)) for x, y, _ in places]


def luminance(rgb):
    """Return the relative luminance of an sRGB colour, as WCAG defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb[:3])]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """Return the contrast ratio of two colours, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_theme_and_width_are_the_ones_asked_for(view, theme, width):
    assert (view["theme"], view["width"]) == (theme, width)


def test_no_raw_tex(view):
    assert view["rawTex"] == []


def test_formulas_are_rendered(view):
    assert view["mathJax"], "MathJax did not start"
    assert view["unrendered"] == []
    assert view["formulaErrors"] == []


def test_images_are_loaded_and_described(view):
    assert [image["src"] for image in view["images"] if not image["width"]] == []
    # Sphinx falls back to the file's name, which describes nothing.
    named = re.compile(r"\.(svg|png|jpe?g)$")
    assert [image["src"] for image in view["images"] if not image["alt"].strip() or named.search(image["alt"])] == []


def test_no_console_error(view):
    # A request to the network, which is cut here, is no error of the page: it must do without.
    errors = [(text, url) for kind, text, url in view["messages"] if kind == "error"]
    assert [e for e in errors if not e[1].startswith(("http:", "https:"))] == []


def test_nothing_overflows(view, width):
    assert view["overflowing"] == []
    assert view["scrollWidth"] <= width


def test_text_is_readable(view):
    faint = [(t["text"], t["color"], t["on"]) for t in view["texts"] if contrast(t["color"], t["on"]) < 4.5]
    assert faint == []


def test_formulas_and_tables_fit_a_phone(view):
    assert view["scrolling"] == []


def test_formulas_are_large_enough_and_numbers_whole(view):
    assert view["tiny"] == [] and view["broken"] == []


def test_every_fold_has_a_name(view):
    assert view["unnamed"] == []


def test_figures_have_the_background_of_their_page(view, theme):
    for corner in map(luminance, view["corners"]):
        # On the one axes and words are black, on the other nearly white: a contrast of 7 or more.
        assert corner > 0.3 if theme == "light" else corner < 0.02


def test_scripts_are_loaded_where_they_are_needed(site):
    for name in PAGES:
        page = (site / name).read_text(encoding="utf-8")
        own = set(re.findall(r'data-slider="(\w+)"', page))
        assert set(re.findall(r"sliders/(\w+)\.js", page)) == (own | {"theory", "drawing"} if own else set()), name
        assert ("ledger.js" in page) == (name in ("ledger.html", "errata.html")), name


def test_the_search_index_is_loaded_where_one_searches(site):
    assert "searchindex.js" in (site / "search.html").read_text(encoding="utf-8")
    assert [name for name in PAGES if "searchindex.js" in (site / name).read_text(encoding="utf-8")] == []


@pytest.fixture
def quiet(browser):
    """A page of its own without the network; the console must stay silent."""
    context, messages = browser.new_context(viewport={"width": 1300, "height": 900}), []
    context.set_default_timeout(120_000)
    page = context.new_page()
    page.on("console", lambda told: messages.append(told.text) if told.type == "error" else None)
    yield page
    context.close()
    assert messages == []


@pytest.mark.parametrize("words", ["kurtosis", "antipodal", "priority_fan"])
def test_chapters_are_found_before_names_of_functions(quiet, site, words):
    quiet.goto(f"{(site / 'search.html').as_uri()}?q={words}")
    quiet.wait_for_selector("#search-results ul li")
    quiet.wait_for_function("document.querySelector('#search-results > p').innerText.match(/\\d/)")  # all are there
    links = quiet.evaluate("[...document.querySelectorAll('#search-results li a')].map(a => a.getAttribute('href'))")
    places = [link.startswith("reference/") for link in links]
    assert places == sorted(places) and True in places
    assert False not in places or links[0].startswith("ch")


def test_a_symbol_and_a_word_say_what_they_mean_in_place(quiet, site):
    quiet.goto((site / "ch7.html").as_uri(), wait_until="load")
    quiet.evaluate("window.MathJax?.startup?.promise")
    said = quiet.locator("#look-up")
    quiet.locator("a.meaning[href$='#term-digon']").first.focus()
    assert said.is_visible() and said.inner_text().startswith("digon: A pair of features")
    quiet.keyboard.press("Escape")
    assert said.is_hidden()
    name = quiet.evaluate("document.querySelector('a.meaning .math').className.match(/symbol-[0-9]+/)[0]")
    quiet.locator(f"span.{name}:not(a span)").locator("visible=true").first.hover()
    said.wait_for()
    assert said.locator("mjx-container").count() >= 1


def test_the_book_has_formulas_and_figures(site):
    pages = [(site / name).read_text(encoding="utf-8") for name in PAGES]
    assert sum(page.count('class="math notranslate') for page in pages) > 0
    assert sum(page.count("<figure") for page in pages) > 0


@pytest.mark.parametrize("opened", CHAPTERS, indirect=True)
def test_number_and_picture_are_whole_in_the_first_screen(opened):
    number, picture = opened.first["number"], opened.first["picture"]
    assert 0 < number <= FIRST_SCREEN["height"] and picture > 0
    assert picture <= FIRST_SCREEN["height"] or opened.name in BELOW, picture


def test_that_holds_for_four_pages_in_five():
    assert set(BELOW) <= set(CHAPTERS) and len(BELOW) <= 0.2 * len(CHAPTERS)


@pytest.mark.parametrize("name", ["ch1", "ledger"])
def test_a_printed_page_is_unfolded_and_leads_into_the_book_or_to_the_net(quiet, site, name):
    part = TAKE_AWAY["opened"](quiet, site / f"{name}.html", ["ch1", "ledger", "errata"])["html"]
    to = set(re.findall(r'<a [^>]*href="([^"]*)"', part))
    assert to and {link for link in to if not link.startswith(("#", "http:", "https:"))} == set()
    assert {link[1:].split("--")[0] for link in to if link.startswith("#")} <= {"ch1", "ledger", "errata"}
    folds = re.findall(r"<details([^>]*)>\s*<summary[^>]*>(.*?)</summary>", part, re.DOTALL)
    closed = re.compile(r'^(?!.*open=).*class="[^"]*(sd-dropdown|origin|check)')
    shut = [said for how, said in folds if closed.search(how)]
    assert len(folds) > 5 and [said for said in shut if "finding" not in said] == []
    assert "at the top of the page" not in part and "<button" not in part


@pytest.mark.parametrize("opened", CHAPTERS, indirect=True)
def test_no_bar_of_code_stands_between_the_lines(opened):
    assert opened.page.locator("main article details.plumbing").count() == 1
    assert opened.page.get_by_text(re.compile("Show code cell|Check: ")).count() == 0


@pytest.mark.parametrize("opened", CHAPTERS, indirect=True)
def test_a_chapter_is_read_and_not_scrolled_through(opened):
    shares, height = opened.shares["shares"], opened.shares["height"]
    read = sum(shares.get(kind, 0) for kind in ("prose", "formula", "figure"))
    code = shares.get("code", 0)
    assert read >= 0.6 and code <= 0.15 and height <= 16_000, (read, code, height)
