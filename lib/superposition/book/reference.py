"""A Sphinx extension for the pages of the reference: names in docstrings become links, and symbols plain text."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

_LITERAL_OR_MARK = re.compile(r"(``.*?``|`.*?`)|(\||(?<=\w)_(?=\W|$))")


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx, which calls this, and tell it that pages may be read side by side."""
    app.connect("autodoc-process-docstring", _keep_marks)
    app.connect("missing-reference", _follow)
    return {"parallel_read_safe": True}


def plain(lines: list[str]) -> list[str]:
    """Escape ``|x|`` and ``lambda_``, which docutils reads as markup; literals and examples stay."""
    shown, example = [], False
    for line in lines:
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        shown.append(line if example else _LITERAL_OR_MARK.sub(lambda found: found[1] or "\\" + found[2], line))
    return shown


def definition(name: str, *around: str) -> str | None:
    """The full path of a dotted name's definition, also relative to some modules and classes; None if there is none."""
    for path in (name, *(f"{place}.{name}" for place in around)):
        first, *parts = path.split(".")
        try:
            found = import_module(first)
            for index, part in enumerate(parts, 1):
                if not hasattr(found, part):
                    import_module(".".join([first, *parts[:index]]))
                found = getattr(found, part)
        except (ImportError, ValueError):
            continue
        home = getattr(found, "__module__", None)
        return f"{home}.{found.__qualname__}" if home and hasattr(found, "__qualname__") else path
    return None


def _keep_marks(app: Any, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    lines[:] = plain(lines)


def _follow(app: Any, env: Any, node: Any, shown: Any) -> Any:
    """Link a name to its definition; a name whose definition has no page is shown without a link."""
    if node.get("refdomain") != "py" or not node["reftarget"]:
        return None
    module, own = node.get("py:module"), node.get("py:class")
    path = definition(node["reftarget"], f"{module}", f"{module}.{own}")
    if path is None:
        return None
    found = env.get_domain("py").resolve_xref(env, node["refdoc"], app.builder, "obj", path, node, shown)
    return found or (shown if path.startswith("superposition.") else None)
