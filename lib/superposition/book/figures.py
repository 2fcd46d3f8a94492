"""Which figure of the book comes from which page, and from which stored tables."""

import ast
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

LOAD = re.compile(r"tables\.load\(\s*[\"']([\w-]+)[\"']")


@dataclass(frozen=True)
class Figure:
    """A figure of a page: its name, the first sentence of its caption, the named runs behind it."""

    name: str
    page: str
    caption: str
    runs: tuple[str, ...]


def listing(notebook: str | os.PathLike) -> list[Figure]:
    """List the figures of a page in their order, each with the tables that its cell loads or has variables from."""
    cells = json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]
    found, sources = [], {}
    for cell in cells:
        if cell["cell_type"] == "code":
            used = _follow("".join(cell["source"]), sources)
            shown = cell["metadata"].get("mystnb", {}).get("figure")
            if shown:
                caption = re.split(r"(?<=[.:])\s", shown["caption"], maxsplit=1)[0].rstrip(".:")
                found.append(Figure(shown["name"], Path(notebook).stem, caption, tuple(sorted(used))))
    return found


def _follow(code, sources):
    """Runs that the cell uses; ``sources`` maps variables to the runs they come from, and is kept up to date."""
    used = set()
    for statement in ast.parse(code).body:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        behind = set(LOAD.findall(ast.unparse(statement)))
        behind |= {run for node in names if isinstance(node.ctx, ast.Load) for run in sources.get(node.id, ())}
        for node in names:
            if isinstance(node.ctx, ast.Store):  # what a loop leaves behind is not followed
                sources[node.id] = behind if isinstance(statement, ast.Assign) else set()
        used |= behind
    return used
