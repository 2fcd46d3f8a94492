"""What a reader can take away, each into ``dist/``: ``python scripts/take_away.py packages|archive|pdf``.

``packages`` builds wheel and sdist, checks both as PyPI would, and runs the recipes with the wheel from an empty folder
in an environment without torch. ``archive`` packs the built book, which opens offline. ``pdf`` prints its pages with
Chromium, proofs unfolded, with an outline: the book into one file, the reference into another. ``figures`` takes the
figures out of the executed chapters. ``manifest`` writes ``codecheck.yml``, the list of figures and tables with the
commands that make them. ``by_hand`` says what of a release no command does.
"""

import base64
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
MARGIN = {"top": "16mm", "bottom": "16mm", "left": "8mm", "right": "8mm"}  # the theme adds its own at the sides
# Proofs and solutions are opened; checks say in their titles what they found; code and the buttons of a screen go.
FOR_PAPER = """() => {
  document.querySelectorAll("article details.sd-dropdown").forEach(d => d.open = true);
  document.querySelectorAll("article .toggle-hidden").forEach(d => d.classList.remove("toggle-hidden"));
  const style = document.createElement("style");
  style.textContent = `@media print {
    article details:is(.code-mark, .plumbing), .prev-next-area, .headerbtn, .headerlink { display: none !important; }
    figure, img, tr, mjx-container[display] { break-inside: avoid; }
    .highlight pre { white-space: pre-wrap; }
    table, .table, .pst-scrollable-table-container { break-inside: auto !important; }
    #jb-print-toc { display: none; }
  }`;
  document.head.append(style);
  document.querySelectorAll("img").forEach(i => i.loading = "eager");
}"""


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
    """Print every page of the built book and put them together."""
    from playwright.sync_api import sync_playwright
    from pypdf import PdfWriter
    from tqdm import tqdm

    names, writers = pages(yaml.safe_load((ROOT / "book/_toc.yml").read_text())), {}
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as scratch:
        page = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"]).new_page(color_scheme="light")
        page.set_default_timeout(300_000)
        for number, name in enumerate(tqdm(names, unit="page")):
            page.goto(SITE.joinpath(name).with_suffix(".html").as_uri())
            page.evaluate("window.MathJax?.startup?.promise")
            page.evaluate(FOR_PAPER)
            page.wait_for_function("[...document.images].every(i => i.complete)")
            page.pdf(path=f"{scratch}/{number}.pdf", format="A4", scale=0.7, margin=MARGIN, print_background=True)
            writer = writers.setdefault(document(name), PdfWriter())
            writer.append(f"{scratch}/{number}.pdf", outline_item=page.title().split(" — ")[0])
    DIST.mkdir(exist_ok=True)
    for file, writer in writers.items():
        writer.write(file)
        print(file)


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
