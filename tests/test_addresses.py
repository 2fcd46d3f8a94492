"""How a page is found and answered: tags in its head, and buttons once the book is kept somewhere."""

import ast
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text())
ADDRESSES = runpy.run_path(str(ROOT / "scripts" / "addresses.py"))
KEPT = "https://github.com/somebody/a-book"
READ = "https://a-book.example/"
PAGES = {
    "intro.md": "# A book\n\nIt has one chapter, of {{ printed }} claims.\n\n## How to cite\n\nAs you like.",
    "ch1.md": "the source of a notebook",
    "more.md": "# More\n\n| a | table |\n|---|---|\n| 1 | 2 |",
    "references.bib": "",
    "_toc.yml": "format: jb-book\nroot: intro.md\nchapters:\n  - file: ch1.ipynb\n  - file: more.md\n",
}
CHAPTER = "# Is a < b?\n\n**Question.** Why?\n\n**Answer.** Because of " + "a < b, " * 60 + "as is known."


def built(folder, url, baseurl):
    """Return the pages of a small book with this book's settings, kept and read at some addresses."""
    book = folder / "book"
    (book / "_static").mkdir(parents=True)
    (book / "_static" / "favicon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    shutil.copy(ROOT / "book" / "search.js", book)
    shutil.copytree(ROOT / "book" / "_templates", book / "_templates")
    for name, text in PAGES.items():
        (book / name).write_text(text)
    cells = [nbformat.v4.new_markdown_cell(CHAPTER)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), book / "ch1.ipynb")
    config = CONFIG | {"repository": CONFIG["repository"] | {"url": url}, "html": CONFIG["html"] | {"baseurl": baseurl}}
    (folder / "_config.yml").write_text(yaml.safe_dump(config))
    (folder / "scripts").symlink_to(ROOT / "scripts")
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", "book", "-W"]
    environment = os.environ | {"NO_COLOR": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return {path.stem: path.read_text(encoding="utf-8") for path in (folder / "_build" / "html").glob("*.html")}


def links(page):
    return re.findall(r'href="([^"]*)"', page)


def head(page):
    return dict(re.findall(r'<meta (?:name|property)="([\w:]+)" content="([^"]*)"', page))


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return built(tmp_path_factory.mktemp("kept"), KEPT, READ)


def test_every_page_leads_to_where_it_is_kept(kept):
    chapter, more = links(kept["ch1"]), links(kept["more"])
    assert "https://colab.research.google.com/github/somebody/a-book/blob/main/book/ch1.ipynb" in chapter
    assert f"{KEPT}/edit/main/book/ch1.md" in chapter, "a notebook is made from the text beside it"
    assert f"{KEPT}/edit/main/book/more.md" in more
    for page, found in (("ch1", chapter), ("more", more)):
        assert KEPT in found and "intro.html#how-to-cite" in found and "quote-left" in kept[page]
        assert any(link.startswith(f"{KEPT}/issues/new?title=Issue%20on%20page%20%2F{page}.html") for link in found)
    assert not [link for link in more if "colab" in link], "nothing there to run"


def test_the_head_of_a_page_says_what_it_is(kept):
    said = head(kept["ch1"])
    assert said["og:title"] == said["citation_title"] == "Is a &lt; b?"
    assert said["og:description"].startswith("Because of a &lt; b, a") and said["og:description"].endswith("…")
    assert len(said["description"]) < 400  # 200 characters, some of them written as &lt;
    assert said["citation_author"] == CONFIG["author"] and said["citation_publication_date"] == CONFIG["copyright"]
    assert said["og:url"] == said["citation_public_url"] == READ + "ch1.html"
    assert head(kept["intro"])["description"].startswith("It has one chapter, of ")
    assert head(kept["more"])["description"] == "More", "a table's first cell says nothing"
    assert "og:title" not in head(kept["search"])


def test_every_page_is_signed_from_one_place(kept):
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    for page in ("intro", "ch1", "more"):
        [line] = re.findall(r'<p class="byline">(.*?)</p>', kept[page])
        assert said["authors"][0]["name"] in line and f"edition {said['version']}, " in line and "CC BY 4.0" in line
        assert "#how-to-cite" in line and 'class="minutes"' not in kept[page]
    assert f"of {ADDRESSES['counts']()['printed']} claims" in kept["intro"]


@pytest.mark.thorough
def test_a_book_that_is_kept_nowhere_has_no_dead_buttons(tmp_path):
    pages = built(tmp_path, "", "")
    for page in ("intro", "ch1", "more"):
        assert not [link for link in links(pages[page]) if re.search("colab|issues|/edit/", link)]
        assert "quote-left" not in pages[page]
        assert "og:title" in head(pages[page]) and "og:url" not in head(pages[page])


def test_the_book_is_cited_with_the_address_where_it_is_kept():
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert said.get("repository-code", "") == CONFIG["repository"]["url"]
    assert said.get("url", "") == CONFIG["html"]["baseurl"]
    entry = (ROOT / "book" / "intro.md").read_text().split("```bibtex")[1].split("```")[0]
    found = re.search(r"url +?= \{(.*?)\}", entry)
    assert (found[1] if found else "") == (CONFIG["html"]["baseurl"] or CONFIG["repository"]["url"])


@pytest.mark.parametrize("chapter", sorted((ROOT / "book").glob("ch*.ipynb")), ids=lambda path: path.stem)
def test_a_page_that_is_opened_alone_fetches_the_library(chapter):
    asked, address = [], CONFIG["repository"]["url"]

    def imported(name, *rest):
        if not asked:
            raise ModuleNotFoundError(name)
        return SimpleNamespace(parameters="there")

    shell = SimpleNamespace(run_line_magic=lambda name, line: asked.append(f"%{name} {line}"))
    cell = next(cell for cell in nbformat.read(chapter, 4).cells if "get_ipython" in cell.source)
    builtins = {"__import__": imported, "ModuleNotFoundError": ModuleNotFoundError}
    names = {"__builtins__": builtins, "get_ipython": lambda: shell}
    exec(compile(ast.Module(ast.parse(cell.source).body[:1], []), chapter.name, "exec"), names)
    source = f"superposition[train] @ git+{address}" if address else "..[train]"
    assert asked == [f"%pip install --quiet matplotlib '{source}'"], "CONTRIBUTING, An address, has the command"
    assert names["parameters"] == "there"
