"""A Sphinx extension: how a page is found, and how its reader answers.

Every page says in its head what it is, for searches, previews of links, and programs that keep references. Once
``repository: url:`` in ``_config.yml`` says where the book is kept, each page has buttons too that open it in Colab,
edit its source, open an issue, and say how to cite.
"""

import re
from html import escape

from docutils import nodes

BUTTONS = ("use_repository_button", "use_edit_page_button", "use_issues_button")
LENGTH = 200  # characters of a description, about what is shown of one


def setup(app):
    app.connect("config-inited", offer)
    app.connect("html-page-context", complete, priority=900)  # after the theme
    return {"parallel_read_safe": True}


def offer(app, config):
    """The theme's buttons to the repository, if there is one; Colab opens what is on GitHub."""
    options = config.html_theme_options
    address = options.get("repository_url", "")
    options |= dict.fromkeys(BUTTONS, bool(address))
    if "github.com" not in address:
        options["launch_buttons"] = {}


def complete(app, page, template, context, doctree):
    """What the theme leaves out: tags in the head, and a button for the citation."""
    if doctree is None:  # the search, an index
        return
    context["metatags"] += tags(app.config, app.env.titles[page].astext(), answer(doctree), context.get("pageurl"))
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
