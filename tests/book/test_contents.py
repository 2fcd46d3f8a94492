"""The list of pages at the side of each page is made from titles alone, and nothing else is."""

from types import SimpleNamespace

from docutils import nodes
from sphinx import addnodes
from superposition.book import contents


def entry(name, *below):
    link = nodes.reference("", "", nodes.Text(name), refuri=name, anchorname="")
    return nodes.list_item("", addnodes.compact_paragraph("", "", link), *below)


def page(name, *below):
    return nodes.bullet_list("", entry(name, *([nodes.bullet_list("", *below)] if below else ())))


PAGES = {
    "ch1": page("ch1", entry("a section", page("a section of it")), addnodes.toctree(entries=[(None, "more")])),
    "more": page("more", entry("another section")),
    "short": page("short"),
}


def test_a_page_keeps_its_title_and_the_pages_below_it():
    before = {name: toc.pformat() for name, toc in PAGES.items()}
    found = contents.titles(PAGES)
    assert [toc.astext().strip() for toc in found.values()] == ["ch1", "more", "short"]
    assert [toc["entries"] for toc in found["ch1"].findall(addnodes.toctree)] == [[(None, "more")]]
    assert not list(found["more"].findall(addnodes.toctree))
    assert before == {name: toc.pformat() for name, toc in PAGES.items()}, "a page lists its own sections from these"


def test_the_list_at_the_side_is_made_from_titles_and_any_other_from_all():
    hooks, app = {}, SimpleNamespace(env=SimpleNamespace(tocs=PAGES))
    app.connect = hooks.__setitem__
    contents.setup(app)
    context = {"toctree": lambda **how: sum(len(list(toc.findall(nodes.list_item))) for toc in app.env.tocs.values())}
    hooks["html-page-context"](app, "ch1", "page.html", context, None)
    assert context["toctree"](titles_only=True, collapse=False) == len(PAGES)
    assert context["toctree"](titles_only=False) == 6
    assert app.env.tocs is PAGES
