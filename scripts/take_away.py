"""What a reader can take away, each into ``dist/``: ``python scripts/take_away.py packages|archive|pdf``.

``packages`` builds wheel and sdist, checks both as PyPI would, and runs the recipes with the wheel from an empty folder
in an environment without torch. ``archive`` packs the built book, which opens offline. ``pdf`` prints it with
Chromium, proofs unfolded, with contents, page numbers, an outline and links within: the book into one file, the
reference into another. ``figures`` takes the figures out of the executed chapters. ``manifest`` writes
``codecheck.yml``, the list of figures and tables with the commands that make them. ``by_hand`` says what of a release
no command does.
"""

import base64
import html
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

import nbformat
import yaml

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
SITE = ROOT / "_build" / "html"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
NAME = f"superposition-book-{VERSION}"
TITLE = "Superposition, the book that runs"
WITHIN = "https://within.invalid/"  # a page of the book, in links of the contents before it is bound
MARGIN = {"top": "16mm", "bottom": "18mm", "left": "20mm", "right": "20mm"}
SCALE, WIDTH = 0.82, 783  # pixels that 170 mm of paper have at this scale: above 768, where the rules for a phone end
FOOTER = '<div style="font: 8px serif; width: 100%; text-align: center"><span class="pageNumber"></span></div>'
# One page of the site as a part of the book: proofs, solutions and other folds open unless their line has the finding,
# code and buttons gone, sliders still, the name of the page before each id, links to pages of the book made links
# within it, and others taken out.
PART = """([key, within]) => {
  const article = document.querySelector("article"), root = new URL(".", location.href).href;
  const opens = "details.sd-dropdown, details.origin, details.check:not(:has(> summary .finding))";
  article.querySelectorAll(opens).forEach(d => d.open = true);
  article.querySelectorAll(".toggle-hidden").forEach(d => d.classList.remove("toggle-hidden"));
  const marks = ".headerlink, .code-mark, .sd-summary-state-marker",
    screen = `.by-night, .plumbing, ${marks}, button, select, script, #jb-print-toc`;
  article.querySelectorAll(screen).forEach(e => e.remove());
  const moved = "p > em:only-child > a[href='#in-one-minute']";  // "The drawing is at the top": paper has no such page
  article.querySelectorAll(moved).forEach(a => a.closest("p").remove());
  article.querySelectorAll(".slider").forEach(slider => {
    const still = Object.assign(document.createElement("img"), {alt: slider.ariaLabel ?? ""});
    still.setAttribute("src", `_static/sliders/${slider.dataset.slider}.svg`);
    slider.replaceChildren(still);
  });
  article.querySelectorAll("img").forEach(i => i.loading = "eager");
  article.querySelectorAll("a[href]").forEach(a => {
    const [path, hash] = a.href.split("#"), inside = path.startsWith(root);
    const name = inside ? path.slice(root.length).replace(/\\.html$/, "") : null;
    if (a.protocol !== "file:") return;
    if (within.includes(name)) a.setAttribute("href", `#${name}${hash ? `--${hash}` : ""}`);
    else a.removeAttribute("href");
  });
  article.querySelectorAll("[id]:not(svg *)").forEach(e => e.id = `${key}--${e.id}`);
  const heading = article.querySelector("h1")?.textContent ?? key;
  const rules = sheet => [...sheet.cssRules].map(rule => rule.cssText).join("\\n");  // MathJax adds to them as it sets
  return {heading, html: `<article class="bd-article" id="${key}">${article.innerHTML}</article>`,
    styles: [...document.querySelectorAll("style")].map(e => rules(e.sheet)),
    sheets: [...document.querySelectorAll("link[rel=stylesheet]")].map(e => e.href)};
}"""
SHEET = """
  html { font-size: 11.4pt; } body { margin: 0; padding: 0; }
  article { break-before: page; } [id$="--in-one-minute"] > h2 { display: none; }
  figure, img, tr, div.math, mjx-container[display], .erratum, .slider { break-inside: avoid; }
  .sd-card:not(.sd-dropdown) { break-inside: avoid; } td:has(code) { min-width: 8.5em; }
  .sd-row, .sd-col { display: block !important; width: 100% !important; }
  .sd-card:has(> .sd-card-img-top) { flex-direction: row; } .sd-card-img-top { width: 30%; object-fit: contain; }
  h1, h2, h3, summary, tbody tr:first-child, tbody tr:nth-last-child(2) { break-after: avoid; }
  li:last-child { break-before: avoid; }
  .highlight pre { white-space: pre-wrap; }
  table, .pst-scrollable-table-container { break-inside: auto !important; } a { color: #00529b; text-decoration: none; }
  .front { text-align: center; padding-top: 30%; break-after: page; } .contents { list-style: none; padding: 0; }
  .contents li { display: flex; justify-content: space-between; } .contents .below { padding-left: 1.5em; }
  a.meaning { border: none !important; } img { max-width: 100%; } figure img { max-width: 88%; }
  main article details > summary { list-style: none; }
  .exercise > p.admonition-title { padding-left: 0.6rem; }
  .exercise > p.admonition-title::after { content: none !important; }
"""


def run(*command, cwd=ROOT):
    """Run a command; its failure ends the job."""
    print("+", *map(str, command), flush=True)
    subprocess.run(command, cwd=cwd, check=True)


def files_of(package):
    """Return the names of the files in a wheel or sdist, without the sdist's top folder."""
    if package.suffix == ".whl":
        return set(zipfile.ZipFile(package).namelist())
    with tarfile.open(package) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def missing_tables(package):
    """Return which stored tables and records a wheel or sdist lacks."""
    lib = ROOT / "lib" if package.suffix == ".whl" else ROOT
    data = [path for path in (ROOT / "lib/superposition/data").rglob("*") if path.is_file()]
    return {str(path.relative_to(lib)) for path in data if path.suffix != ".pyc"} - files_of(package)


def packages():
    """Build, check, and use wheel and sdist."""
    run(sys.executable, "-m", "build", "--outdir", DIST, ".")
    built = [*DIST.glob(f"*{VERSION}*.whl"), *DIST.glob(f"superposition-{VERSION}.tar.gz")]
    run(sys.executable, "-m", "twine", "check", "--strict", *built)
    for package in built:
        assert not missing_tables(package), f"{package.name} lacks {missing_tables(package)}"
    with tempfile.TemporaryDirectory() as scratch:
        empty = Path(scratch, "empty")
        empty.mkdir()
        run(sys.executable, "-m", "venv", f"{scratch}/venv")
        python = f"{scratch}/venv/bin/python"
        run(python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", next(DIST.glob("*.whl")))
        run(python, "-c", "import importlib.util as i; assert i.find_spec('torch') is None", cwd=empty)
        recipes = shutil.copy(ROOT / "book/recipes.md", scratch)
        run(python, "-m", "doctest", recipes, cwd=empty)


def archive():
    """Pack the built book."""
    assert (SITE / "intro.html").exists(), "build the book first: make book"
    print(shutil.make_archive(str(DIST / NAME), "zip", SITE.parent, SITE.name))


def pages(entry):
    """Return the files of a table of contents in reading order."""
    own = [entry[key] for key in ("root", "file") if key in entry]
    below = [part for key in ("parts", "chapters", "sections") for part in entry.get(key, [])]
    return own + [name for part in below for name in pages(part)]


def document(name):
    """Return the PDF that a page goes into: who prints the book to read it does not want the reference in it."""
    return DIST / f"{NAME}{'-reference' * name.startswith('reference/')}.pdf"


def pdf():
    """Print the built book as one document with contents, page numbers, outline and links within; so the reference."""
    from playwright.sync_api import sync_playwright

    DIST.mkdir(exist_ok=True)
    names = [str(Path(name).with_suffix("")) for name in pages(yaml.safe_load((ROOT / "book/_toc.yml").read_text()))]
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert path and (SITE / "intro.html").exists(), (
        "needs the built book (make book) and Chromium (apt install chromium)"
    )
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"]).new_page(
            color_scheme="light", viewport={"width": WIDTH, "height": 1000}
        )
        page.set_default_timeout(600_000)
        for file in dict.fromkeys(map(document, names)):
            print_book(page, [name for name in names if document(name) == file], file)
            print(file)


def print_book(page, names, file):
    """Print some pages of the site into one file."""
    folder = (SITE / names[0]).parent
    keys = [Path(name).name for name in names]
    parts = [opened(page, SITE / f"{name}.html", keys) for name in names]
    sheets = "".join(f'<link rel="stylesheet" href="{sheet}">' for sheet in parts[0]["sheets"])
    styles = "".join(f"<style>{style}</style>" for style in dict.fromkeys(s for part in parts for s in part["styles"]))

    def printed(body, where, **how):
        sheet = folder / "_print.html"
        fit = f'<script src="{(SITE / "_static/fit.js").as_uri()}"></script>'  # formulas and tables, to the paper
        head = f'<meta charset="utf-8"><title>{TITLE}</title>{sheets}{styles}<style>{SHEET}</style>{fit}'
        sheet.write_text(
            f'<html data-theme="light"><head>{head}</head><body><main>{body}</main></body></html>', "utf-8"
        )
        page.goto(sheet.as_uri())
        page.wait_for_function("[...document.images].every(i => i.complete)")
        page.pdf(path=where, format="A4", scale=SCALE, margin=MARGIN, print_background=True, **how)
        sheet.unlink()

    with tempfile.TemporaryDirectory() as scratch:
        front, body = f"{scratch}/front.pdf", f"{scratch}/body.pdf"
        numbered = {"display_header_footer": True, "header_template": "<span></span>", "footer_template": FOOTER}
        links = "".join(f'<a href="#{key}"></a>' for key in keys)  # what is linked has a place that can be asked for
        printed("".join(part["html"] for part in parts) + links, body, **numbered)
        printed(first_pages(keys, parts, places(body)), front)
        bound(front, body, file, list(zip(keys, (part["heading"] for part in parts), strict=True)))


def opened(page, path, keys):
    """Open one page of the site, and take it as a part of the book."""
    page.goto(path.as_uri())
    page.evaluate("window.MathJax?.startup?.promise")
    return page.evaluate(PART, [path.stem, keys])


def places(body):
    """Return the page, from 0, of every place in a printed file that a link leads to."""
    from pypdf import PdfReader

    reader = PdfReader(body)
    found = {
        name.removeprefix("/"): reader.get_destination_page_number(at) for name, at in reader.named_destinations.items()
    }
    return {name: number for name, number in found.items() if number is not None}


def first_pages(keys, parts, numbers):
    """Title page and contents; their links are made ones within the book when it is bound."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    by = ", ".join(author["name"] for author in citation["authors"])
    title = (
        f'<div class="front"><h1>{TITLE}</h1><p>{by}</p><p>Edition {VERSION}</p><p>Text CC BY 4.0, code MIT</p></div>'
    )
    lines = "".join(
        f'<li class="{"below" if "-" in key else ""}"><a href="{WITHIN}{numbers.get(key, 0)}">'
        f"{html.escape(part['heading'])}</a><span>{numbers.get(key, 0) + 1}</span></li>"
        for key, part in zip(keys, parts, strict=True)
    )
    return f'{title}<h1>Contents</h1><ul class="contents">{lines}</ul>'


def bound(front, body, file, headings):
    """Put the first pages before the book, let the contents lead into it, and give it an outline."""
    from pypdf import PdfReader, PdfWriter
    from pypdf.annotations import Link
    from pypdf.generic import Fit

    writer = PdfWriter(clone_from=body)
    first = PdfReader(front)
    for number, sheet in enumerate(first.pages):
        wanted = [
            (note["/Rect"], note["/A"]["/URI"])
            for note in map(lambda n: n.get_object(), sheet.pop("/Annots", []))
            if "/A" in note
        ]
        writer.insert_page(sheet, number)
        for rect, address in wanted:
            target = int(address.removeprefix(WITHIN)) + len(first.pages)
            writer.add_annotation(number, Link(rect=[float(x) for x in rect], target_page_index=target, fit=Fit.fit()))
    chapter, numbers = None, places(body)
    for key, heading in headings:
        below = chapter if "-" in key else None
        item = writer.add_outline_item(heading, numbers.get(key, 0) + len(first.pages), parent=below)
        chapter = chapter if below else item
    writer.write(file)


def named_figures(notebook):
    """Yield name and outputs of every figure in an executed chapter."""
    for cell in nbformat.read(notebook, as_version=4).cells:
        figure = cell.metadata.get("mystnb", {}).get("figure")
        if figure:
            yield figure["name"], cell.outputs


def figures():
    """Write each figure as it stands in the book."""
    (DIST / "figures").mkdir(parents=True, exist_ok=True)
    for notebook in sorted((ROOT / "book").glob("*.ipynb")):
        for name, outputs in named_figures(notebook):
            png = next(output.data["image/png"] for output in outputs if "image/png" in output.get("data", {}))
            (DIST / "figures" / f"{name}.png").write_bytes(base64.b64decode(png))


def manifest_items():
    """Return file and comment of every figure and table, as CODECHECK asks for them."""
    items = []
    for notebook in sorted((ROOT / "book").glob("*.ipynb")):
        for name, _ in named_figures(notebook):
            made = f"make refresh CHAPTERS={notebook.stem} && make figures"
            items.append({"file": f"dist/figures/{name}.png", "comment": made})
    for table in sorted((ROOT / "lib/superposition/data").glob("*.csv")):
        made = f"superposition runs start {table.stem} && superposition runs collect {table.stem}"
        items.append({"file": str(table.relative_to(ROOT)), "comment": made})
    return items


def manifest():
    """Write codecheck.yml. Who checks fills in codechecker, report and certificate."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    content = {
        "version": "https://codecheck.org.uk/spec/config/1.0/",
        "paper": {"title": citation["title"], "authors": citation["authors"]},
        "manifest": manifest_items(),
    }
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120, explicit_start=True)
    (ROOT / "codecheck.yml").write_text(text, encoding="utf-8")


def by_hand():
    """Say what a person still has to do."""
    print(f"""
What is left for a person, version {VERSION}:
  1. Look at {NAME}.pdf, at {NAME}-reference.pdf, and at one page of the archive with the network off.
  2. CHANGELOG.md and CITATION.cff: version and date, the same as in pyproject.toml; commit.
  3. git tag -a v{VERSION} -m "Version {VERSION}" && git push --follow-tags
  4. twine upload dist/superposition-{VERSION}*
  5. Publish dist/{NAME}.zip as the site, and archive, PDF and packages at the tag.
  6. Deposit the tag for a DOI, and put it into CITATION.cff.""")


if __name__ == "__main__":
    jobs = (packages, archive, pdf, figures, manifest, by_hand)
    {job.__name__: job for job in jobs}[sys.argv[1]]()
