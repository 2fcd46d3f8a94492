"""Still pictures of the sliders, for JupyterLab and for a browser without scripts: ``python scripts/stills.py``.

Each is what the slider draws first on a light page, as a vector graphic; the model that trains is shown trained.
"""

import re
import shutil
import tempfile
from pathlib import Path

import pydata_sphinx_theme
import sphinx_book_theme
from markdown_it import MarkdownIt

BOOK = Path(__file__).resolve().parent.parent / "book"
BLOCK = re.compile(r'^<div class="slider(?: hero)?" data-slider="(\w+)">\n.*?^</div>$', re.MULTILINE | re.DOTALL)
THEMES = (
    Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static/styles/theme.css",
    Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static/styles/pydata-sphinx-theme.css",
    Path(sphinx_book_theme.__file__).parent / "theme/sphinx_book_theme/static/styles/sphinx-book-theme.css",
)
STILLS = BOOK / "_static" / "sliders"
SCRIPTS = sorted(STILLS.glob("*.js"))
WIDTH = 720  # of the drawing, the widest there is

# The drawing as a file of its own: colours as they are on the page, on white.
ALONE = """svg => {
  const style = getComputedStyle(svg), box = svg.viewBox.baseVal, copy = svg.cloneNode(true);
  copy.setAttribute("font-family", "sans-serif");
  copy.removeAttribute("class");
  copy.insertAdjacentHTML("afterbegin", `<rect width="${box.width}" height="${box.height}" fill="white"/>`);
  const text = new XMLSerializer().serializeToString(copy);
  return text.replace(/var\\((--[a-z]+)\\)/g, (_, name) => style.getPropertyValue(name).trim());
}"""


def blocks():
    """Every slider of the book: its page, its name, and its markup."""
    pages = sorted(BOOK.glob("*.md"))
    return [(page.stem, found[1], found[0]) for page in pages for found in BLOCK.finditer(page.read_text("utf-8"))]


def page_with(markup):
    """A page of its own with some markup of the book, its style and its script."""
    links = [f'<link rel="stylesheet" href="{path.as_uri()}">' for path in (*THEMES, BOOK / "_static/style.css")]
    return f"""<!doctype html><html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8">
<title>Sliders</title><base href="{BOOK.as_uri()}/"><link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width, initial-scale=1">{"".join(links)}
{"".join(f'<script src="{script.as_uri()}"></script>' for script in SCRIPTS)}</head>
<body><main><article class="bd-article" style="padding: 1rem">{MarkdownIt().render(markup)}</article></main></body>
</html>"""


def drawing(page):
    """The drawing of the slider on a page, trained first if it trains."""
    train = page.get_by_role("button", name="Train", exact=True)
    if train.count():
        train.click()
        page.get_by_text("After 3000 steps").wait_for(timeout=300_000)
    return page.locator(".slider > svg").evaluate(ALONE)


def main():
    """Draw them all."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as scratch:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH + 100, "height": 900})
        for _, name, markup in blocks():
            html, still = Path(scratch, f"{name}.html"), STILLS / f"{name}.svg"
            html.write_text(page_with(markup), "utf-8")
            page.goto(html.as_uri())
            still.write_text(drawing(page) + "\n", "utf-8")
            print(still)


if __name__ == "__main__":
    main()
