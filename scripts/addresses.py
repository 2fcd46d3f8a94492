"""A Sphinx extension: who made a page, how it is found, and how its reader answers.

Every page says below its title who made which edition, on what terms, and how to cite it, from ``CITATION.cff``; and
in its head what it is, for searches, previews of links, and programs that keep references. The front page counts the
claims of the texts by verdict. Once
``repository: url:`` in ``_config.yml`` says where the book is kept, each page has buttons too that open it in Colab,
edit its source, open an issue, and say how to cite.
"""

import re
import shutil
from collections import Counter
from html import escape
from pathlib import Path

import yaml
from docutils import nodes
from superposition.book.declarations import declared

ROOT = Path(__file__).resolve().parent.parent
MONTH = "January February March April May June July August September October November December".split()
MINUTES = re.compile(r'<p class="minutes">(.*?)</p>')  # what the frame says below a chapter's title

BUTTONS = ("use_repository_button", "use_edit_page_button", "use_issues_button")
LENGTH = 200  # characters of a description, about what is shown of one


def setup(app):
    app.connect("config-inited", offer, priority=100)  # before myst-parser takes its settings
    app.connect("html-page-context", complete, priority=900)  # after the theme
    app.connect("build-finished", take_pdf)
    return {"parallel_read_safe": True}


def offer(app, config):
    """The theme's buttons to the repository, if there is one; Colab opens what is on GitHub."""
    config.myst_substitutions |= counts()
    options = config.html_theme_options
    address = options.get("repository_url", "")
    options |= dict.fromkeys(BUTTONS, bool(address))
    if "github.com" not in address:
        options["launch_buttons"] = {}


def counts():
    """The claims by verdict, as the front page says them: ``{{ printed }}`` of the texts, ``{{ ours }}``."""
    printed = [claim for claim in declared().values() if claim.whose == "printed"]
    found = Counter(claim.verdict.replace(" ", "_") for claim in printed)
    return dict(found) | {"printed": len(printed), "ours": sum(claim.whose == "ours" for claim in declared().values())}


def edition():
    """Who made which edition, when, and its PDF, where that has been made (`make pdf`)."""
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    released = str(said.get("date-released", ""))
    when = f"{MONTH[int(released[5:7]) - 1]} {released[:4]}" if released else "not yet released"
    pdf = ROOT / "dist" / f"superposition-book-{said['version']}.pdf"
    names = ", ".join(author["name"] for author in said["authors"])
    return names, f"edition {said['version']}, {when}", pdf if pdf.exists() else None


def byline(pathto):
    """One line below a title."""
    names, number, pdf = edition()
    terms = '<a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>, code MIT'
    parts = [names, number, terms, f'<a href="{pathto("intro")}#how-to-cite">how to cite</a>'.replace("##", "#")]
    parts += [f'<a href="{pathto("_static/" + pdf.name, 1)}">PDF</a>'] if pdf else []
    return " · ".join(parts)


def signed(body, line):
    """The body of a page with a line below its title, after the minutes that the page takes, if it says them."""
    minutes = MINUTES.search(body)
    if minutes:
        return body.replace(minutes[0], f'<p class="byline">{minutes[1]} · {line}</p>', 1)
    return body.replace("</h1>", f'</h1>\n<p class="byline">{line}</p>', 1)


def take_pdf(app, failure):
    """Put the printed book beside the pages that lead to it."""
    pdf = edition()[2]
    if pdf and not failure and app.builder.format == "html":
        shutil.copy(pdf, Path(app.outdir, "_static"))


def complete(app, page, template, context, doctree):
    """What the theme leaves out: tags in the head, and a button for the citation."""
    if doctree is None:  # the search, an index
        return
    context["metatags"] += tags(app.config, app.env.titles[page].astext(), answer(doctree), context.get("pageurl"))
    if not page.startswith("reference/"):
        context["body"] = signed(context["body"], byline(context["pathto"]))
    for group in context["header_buttons"]:
        for button in group.get("buttons", []):
            if button.get("label") == "source-edit-button":  # a notebook is made from the text beside it
                button["url"] = re.sub(r"\.ipynb$", ".md", button["url"])
    if app.config.html_theme_options.get("repository_url"):
        context["header_buttons"].append(cite(context["pathto"]("intro")))


def cite(front_page):
    """The button that leads to the citation."""
    where = f"{front_page}#how-to-cite".replace("##", "#")
    icon = {"icon": "fas fa-quote-left", "text": "", "tooltip": "How to cite"}
    return {"type": "link", "label": "cite-button", "url": where} | icon


def answer(doctree):
    """The answer that a page opens with, else its first paragraph outside of tables and lists, cut at a word."""
    inside = (node for node in doctree.findall(nodes.paragraph) if isinstance(node.parent, nodes.section))
    paragraphs = [node.astext().replace("\n", " ") for node in inside]
    text = next((text for text in paragraphs if text.startswith("Answer.")), paragraphs[0] if paragraphs else "")
    text = text.removeprefix("Answer.").strip()
    return text if len(text) <= LENGTH else text[:LENGTH].rpartition(" ")[0] + " …"


def tags(config, title, description, address):
    """The tags of a page's head; its address only where the book has one."""
    book, year, description = config.html_title, config.copyright, description or title
    said = [("name", "description", description), ("property", "og:title", title), ("property", "og:type", "article")]
    said += [("property", "og:site_name", book), ("property", "og:description", description)]
    said += [("name", "citation_title", title), ("name", "citation_inbook_title", book)]
    said += [("name", "citation_author", config.author), ("name", "citation_publication_date", year)]
    if address:
        said += [("property", "og:url", address), ("name", "citation_public_url", address)]
    return "".join(f'<meta {kind}="{name}" content="{escape(value)}" />\n' for kind, name, value in said)
