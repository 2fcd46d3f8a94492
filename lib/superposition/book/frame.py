"""A Sphinx extension for the frame of pages: a first screen without plumbing, and folds with titles.

A notebook keeps its order, in which JupyterLab and papermill run it. When the book is built its cells are put in the
order of a reader: question, answer, number, the picture (the page's slider where it has one), and one bar that holds
the parameters and the code so far. A folded check is named by its finding, code is a mark at the corner of its output,
and the origin of a stored table is a footnote of the figure that is made from it.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from superposition.book import forms, rows, running
from superposition.book.declarations import declared

Cell = dict[str, Any]

NUMBER = "**The number"
TABLE = re.compile(r" ?Table `([\w-]+)`: (\d+) points, .*")  # how a stored table says where it comes from
SLIDER = re.compile(r'^<div class="slider"( data-slider="\w+">\n.*?^</div>)$', re.MULTILINE | re.DOTALL)
SLIDER_SCRIPT = re.compile(r"sliders/(\w+)\.js")
SHARED = ("theory", "drawing")  # by all sliders
MOVED = "*The drawing is [at the top of the page](#in-one-minute).*"
WORDS_A_MINUTE = 220
AS_TYPED = re.compile(r"(```.*?```|`[^`]*`|\$[^$]*\$|<[^>]*>|\]\([^)]*\))", re.DOTALL)  # programs, formulas, addresses
FORMULA = re.compile(r"\$[^$]*\$")
NOT_READ = re.compile(r"\$\$.*?\$\$|<[^>]*>|^```.*?^```|\]\([^)]*\)", re.DOTALL | re.MULTILINE)


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx, which calls this, and tell it that pages may be read side by side."""
    from myst_nb.sphinx_ import HideCodeCellNode

    app.add_node(HideCodeCellNode, override=True, html=(_open_mark, _close_mark))
    app.connect("config-inited", _order_search)
    app.connect("source-read", _frame)
    app.connect("html-page-context", _leave_out_scripts, priority=900)
    return {"parallel_read_safe": True}


def framed(cells: list[Cell]) -> list[Cell]:
    """The cells of an executed notebook as a page shows them."""
    cells = [_quiet(cell) | {"source": "".join(cell["source"])} for cell in cells]
    ordered = _first_screen(_with_footnotes(cells))
    return [shown for cell in ordered for shown in _folded(cell)]


def minutes(cells: Iterable[Cell]) -> int:
    """Minutes that reading the words of a page takes, captions and results included; a formula counts as a word."""
    words = [FORMULA.sub("x", NOT_READ.sub(" ", text)).split() for text in _texts(cells)]
    return max(1, round(sum(map(len, words)) / WORDS_A_MINUTE))


def _texts(cells):
    for cell in cells:
        if cell["cell_type"] == "markdown":
            yield cell["source"]
        elif "hide-cell" not in _tags(cell):
            yield _mystnb(cell).get("figure", {}).get("caption", "")
            yield "\n".join(line for line in _says(cell).splitlines() if not line.startswith(("|", "<")))


def _frame(app: Any, page: str, source: list[str]) -> None:
    path = str(app.env.doc2path(page))
    if not path.endswith(".ipynb") and source[0].startswith("---\njupytext:"):
        raise ValueError(f"{path} is the text of a page, without its outputs and pictures; build {path[:-3]}.ipynb")
    if path.endswith(".ipynb"):
        notebook = json.loads(source[0])
        # What the frame puts between cells has no id of its own, and the format asks for one.
        notebook["cells"] = [{"id": f"frame-{i}"} | cell for i, cell in enumerate(framed(notebook["cells"]))]
        source[0] = json.dumps(notebook)


def _order_search(app: Any, config: Any) -> None:
    """Let the book's script order the results of a search; Sphinx would look for it where it was started."""
    config.html_search_scorer = str(Path(app.srcdir, "search.js"))


def _leave_out_scripts(app: Any, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Drop the book's scripts from pages that do not need them."""
    body, scripts = context.get("body", ""), context.get("script_files", [])
    context["script_files"] = [one for one in scripts if re.search(_mark(str(one.filename)), body)]


def _mark(script):
    """A pattern of the part of a page that a script works on; nothing for a script that every page needs."""
    slider = SLIDER_SCRIPT.search(script)
    if slider:
        return "data-slider=" if slider[1] in SHARED else f'data-slider="{slider[1]}"'
    return 'id="(?:ledger|errata)-filter"' if "ledger.js" in script else ""


def _first_screen(cells):
    """Number and picture directly below the answer; a page without parameters or picture stays as it is."""
    code = [i for i, cell in enumerate(cells) if cell["cell_type"] == "code"]
    picture = next((i for i in code if _figure(cells[i])), None)
    if picture is None or "parameters" not in _tags(cells[code[0]]):
        return cells
    number = next((i for i in code if _says(cells[i]).startswith(NUMBER)), None)
    end = max(picture, number or 0) + 1
    lead, part, rest = cells[: code[0]], range(code[0], end), cells[end:]
    slider, rest = _slider(rest)
    answers = [] if number is None else [_tagged(cells[number], "the-number")]
    plumbing = [cells[i] for i in part if i not in (picture, number) and i in code]
    words = [cells[i] for i in part if i not in code]
    bar = _details("plumbing", "Parameters and code", [_plain(cell) for cell in plumbing])
    figure = _tagged(cells[picture], "" if slider else "hero")
    pictures = [*slider, *bar, figure] if slider else [figure, *bar]
    return [*_timed(lead, cells), *answers, *pictures, *words, *rest]


def _quiet(cell):
    """A cell without the lines that a page prints about itself when it runs, and with powers of ten set."""
    if cell["cell_type"] != "code":
        return cell
    outputs = [out for out in cell.get("outputs", []) if running.KIND not in out.get("metadata", {})]
    return cell | {"outputs": [_with_powers(output) for output in outputs]}


def _with_powers(output):
    text = _markdown_of(output)
    if not text:
        return output
    parts = [part if i % 2 else forms.powers(part) for i, part in enumerate(AS_TYPED.split(text))]
    return output | {"data": output["data"] | {"text/markdown": "".join(parts)}}


def _timed(lead, cells):
    """The cells before the first code, with the minutes of the page below its title."""
    title, _, text = lead[0]["source"].partition("\n")
    time = minutes(cells)
    line = f'<p class="minutes">{time} minute{"s" if time > 1 else ""}</p>'
    return [_markdown(f"{title}\n\n{line}\n{text}"), *lead[1:]]


def _slider(cells):
    """The first slider of these cells as a cell of its own, and the cells without it."""
    for i, cell in enumerate(cells):
        found = cell["cell_type"] == "markdown" and SLIDER.search(cell["source"])
        if found:
            left = _markdown(cell["source"].replace(found[0], MOVED))
            return [_markdown(f'<div class="slider hero"{found[1]}')], [*cells[:i], left, *cells[i + 1 :]]
    return [], cells


def _with_footnotes(cells):
    """The origins of stored tables, taken out of the outputs and set below the nearest figure."""
    figures = [i for i, cell in enumerate(cells) if _figure(cell)]
    if not figures:
        return cells
    notes: dict[int, list[str]] = {}
    left = []
    for i, cell in enumerate(cells):
        cell, found = (cell, []) if "hide-cell" in _tags(cell) else _without_origin(cell)
        left.append(cell)
        if found:
            notes.setdefault(min(figures, key=lambda place: (abs(place - i), place)), []).extend(found)  # noqa: B023
    return [shown for i, cell in enumerate(left) for shown in (cell, *_footnote(notes.get(i, [])))]


def _without_origin(cell):
    """A cell without the paragraphs on the origin of tables, and these paragraphs."""
    found, outputs = [], []
    for output in cell.get("outputs", []):
        text = _markdown_of(output)
        origins = [match[0].strip() for match in TABLE.finditer(text)]
        others = "\n\n".join(filter(str.strip, TABLE.sub("", text).split("\n\n")))
        found += origins
        if not origins:
            outputs.append(output)
        elif others:
            outputs.append(output | {"data": output["data"] | {"text/markdown": others}})
    return (cell | {"outputs": outputs} if found else cell), found


def _footnote(origins):
    if not origins:
        return []
    found = filter(None, map(TABLE.match, dict.fromkeys(origins)))
    tables = ", ".join(f"{table[1]} ({table[2]} points)" for table in found)
    old = ", not current" if any("Not current" in text for text in origins) else ""
    return _details("origin", f"Data: {tables}{old}", [_markdown("\n\n".join(dict.fromkeys(origins)))])


def _folded(cell: Cell) -> list[Cell]:
    """A cell that is folded as a whole becomes a fold with a title; the code of any other has a name."""
    if "hide-cell" in _tags(cell):
        inside = _retagged(cell, "hide-cell", "hide-input")
        return _details("check", _title(cell), [_named(inside)])
    return [_named(cell)] if "hide-input" in _tags(cell) else [cell]


def _title(cell):
    """The findings of a folded cell, one line per claim, below its subject; the code is not shown."""
    claims: dict[str, list[rows.Row]] = {}
    for row in _rows(cell):
        claims.setdefault(row.id, []).append(row)
    about = _mystnb(cell).get("code_prompt_show", "" if claims else "A computation").removeprefix("Check: ")
    about = html.escape(about[:1].upper() + about[1:])
    places = {name: declared()[name].place if len(claims) > 1 else "" for name in claims}
    lines = [f'<span class="finding">{rows.headline(c, places[name])}</span>' for name, c in claims.items()]
    return (f'<span class="about">{about}</span>' if about else "") + "".join(lines)


def _rows(cell: Cell) -> Iterator[rows.Row]:
    for output in cell.get("outputs", []):
        yield from rows.restored(output)


def _named(cell):
    """A cell whose folded code has a name for readers who do not see what is next to it."""
    name = f"Code of the {_kind(cell)}"
    return cell | {"metadata": cell["metadata"] | {"mystnb": _mystnb(cell) | {"code_prompt_show": name}}}


def _kind(cell):
    if _figure(cell):
        return f"figure: {_mystnb(cell).get('image', {}).get('alt', '')[:80]}"
    if any(_rows(cell)):
        return "check"
    return "table" if "\n| -" in _says(cell) else "paragraph" if _says(cell) else "page"


def _open_mark(self: Any, node: Any) -> None:
    name = html.escape(node["prompt_show"])
    self.body.append(
        f'<details class="code-mark"><summary title="{name}"><span aria-hidden="true">&lt;/&gt;</span>'
        f'<span class="visually-hidden">{name}</span></summary>\n'
    )


def _close_mark(self: Any, node: Any) -> None:
    self.body.append("</details>\n")


def _details(kind, title, cells):
    """Cells in a fold."""
    return [_markdown(f'<details class="{kind}"><summary>{title}</summary>'), *cells, _markdown("</details>")]


def _markdown(source):
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def _mystnb(cell):
    return cell["metadata"].get("mystnb", {})


def _figure(cell):
    return cell["cell_type"] == "code" and bool(_mystnb(cell).get("figure"))


def _tags(cell):
    return cell["metadata"].get("tags", [])


def _tagged(cell, tag):
    return cell | {"metadata": cell["metadata"] | {"tags": [*_tags(cell), *filter(None, [tag])]}}


def _retagged(cell, old, *new):
    kept = [tag for tag in _tags(cell) if tag != old]
    return cell | {"metadata": cell["metadata"] | {"tags": [*kept, *new]}}


def _plain(cell):
    return _retagged(_retagged(cell, "hide-input"), "hide-cell")


def _markdown_of(output):
    return "".join(output.get("data", {}).get("text/markdown", ""))


def _says(cell):
    return "\n\n".join(filter(None, map(_markdown_of, cell.get("outputs", []))))
