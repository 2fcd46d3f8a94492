"""A Sphinx extension for the list of pages at the side, which every page has: made from titles alone.

Sphinx copies all headings of all pages, and every definition of the reference, for every page that it writes, and then
drops all but the titles, which took a quarter of a build. Here they are dropped once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx, which calls this, and tell it that pages may be read side by side."""
    app.connect("html-page-context", partial(_from_titles, cache(lambda: titles(app.env.tocs))))
    return {"parallel_read_safe": True}


def titles(contents: Mapping[str, Any]) -> dict[str, Any]:
    """The contents of pages, each cut to its title and the lists of pages in it, as Sphinx cuts them."""
    return {page: _title(entries.deepcopy()) for page, entries in contents.items()}


def _title(entries):
    from sphinx.addnodes import toctree

    for entry in (entry for entry in entries.children if len(entry) > 1):
        lists = list(entry.findall(toctree))
        if lists:
            entry[1][:] = lists
        else:
            entry.pop(1)
    return entries


def _from_titles(
    short: Callable[[], dict[str, Any]], app: Any, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Let a page's list of pages be made from titles where it asks for no more."""
    of_all = context["toctree"]

    def made(**how):
        if not how.get("titles_only"):
            return of_all(**how)
        kept, app.env.tocs = app.env.tocs, short()
        try:
            return of_all(**how)
        finally:
            app.env.tocs = kept

    context["toctree"] = made
