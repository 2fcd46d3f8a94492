"""The lines that a page prints about itself in JupyterLab and papermill: captions, and whose parameters it uses.

The book sets captions from the metadata of cells, which a kernel does not see, and at a reader's parameters an output
may or may not be another one. So captions, the book's numbers and a digest of each output are stored beside this
module, by the code of their cells; ``scripts/refresh.py`` writes them there. The line below an output follows from the
output itself: one that equals the book's is marked as such, whatever its code uses. No line changes once it is printed,
because nbval compares the first version of an output.
"""

import ast
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any

CAPTIONS, NUMBERS, OUTPUTS = "captions.json", "numbers.json", "outputs.json"
NUMBER = "**The number.**"  # how the most important output of a page begins
QUICK = "*Quick run: smaller samples, shorter training or fewer points than in the book.*"
IN_THE_BOOK = "**In the book,** at its parameters:"
THE_BOOKS = "*Caption of the book's figure, at its parameters:*"
YOURS = "*At your parameters.*"
SAME = "*As in the book.*"
NOT_USED = "*Your parameters do not enter here.*"  # and still it differs: this machine rounds otherwise, or an edit
KIND = "superposition"  # in the metadata of an output: that it is one of these lines, which the book sets itself
SEEN = ("text/markdown", "image/svg+xml", "text/html", "text/plain")  # the first of these that an output has
MUTATING = {"append", "extend", "update", "insert", "add", "setdefault"}  # methods after which a name follows too
DIGITS = re.compile(r"\d+\.\d+(?:e[-+]?\d+)?")
OUTLINE = re.compile(r"\b[mp][0-9a-f]{10}\b")  # the name that a drawing gives to a shape, made of its digits


def name_of(source: str) -> str:
    """The name by which the code of a cell is known."""
    return hashlib.sha256(source.strip().encode()).hexdigest()[:16]


def digest(outputs: Iterable[Mapping[str, Any]]) -> str:
    """The visible outputs of a cell as 16 hexadecimal digits, the same where only digits after the third differ.

    Empty where the cell shows nothing but the lines of this module.
    """
    own = [output for output in outputs if KIND not in output.get("metadata", {})]
    texts = ["".join("".join(output["text"]) for output in own if output.get("name") == "stdout")]
    data = [output["data"] for output in own if "data" in output]
    texts += ["".join(one[kind]) for one in data for kind in [next((k for k in SEEN if k in one), "")] if kind]
    rounded = [OUTLINE.sub("outline", DIGITS.sub(lambda found: f"{float(found[0]):.3g}", text)) for text in texts]
    return name_of("\n".join(rounded)) if any(rounded) else ""


def cells(namespace: Mapping[str, Any]) -> list[str]:
    """Return the code of the cells that ran; IPython's own list, since a reader may set a parameter called In."""
    shell = _shell()
    if shell is not None and shell.user_ns is namespace:
        return shell.history_manager.input_hist_parsed
    return namespace.get("In", [])


def show_captions() -> None:
    """Print the caption of each figure below it, wherever a kernel runs the page."""
    shell = _shell()
    if shell is not None:
        shell.events.register("post_run_cell", _below)


def say_whose(par: Any) -> None:
    """Print below each output whether it is the book's or a reader's, and whether the run is quick."""
    shell = _shell()
    if shell is None:
        return
    while _watching:  # the cell that checks the parameters ran before
        _watching.pop().stop()
    if not par.at_defaults:
        _watching.append(Marks(par, shell))
        _watching[0].start()
        shell.events.register("post_run_cell", _below)


_watching: list["Marks"] = []


class Marks:
    """Follows the parameters that differ from the book's through the cells, and compares the outputs of these."""

    def __init__(self, par: Any, shell: Any = None):
        self.par, self.shell, book = par, shell, type(par)()
        fields = set(type(par).model_fields) - {"device"}
        self.same = {name for name in fields if getattr(par, name) == getattr(book, name)} | {"device"}
        self.changed = bool(fields - self.same - {"quick"})
        self.names: set[str] = set()
        self.last = ""  # what was said of the last cell
        self.stdout: Any = None

    def start(self) -> None:
        """Watch the cells of a kernel."""
        self.shell.events.register("pre_run_cell", self.before)
        getattr(self.shell.display_pub, "register_hook", lambda hook: None)(self.note)

    def stop(self) -> None:
        """Watch them no longer."""
        self.shell.events.unregister("pre_run_cell", self.before)
        getattr(self.shell.display_pub, "unregister_hook", lambda hook: None)(self.note)
        sys.stdout = self.stdout or sys.stdout

    def before(self, info: Any) -> None:
        """Keep the output of a cell."""
        self.follows, self.shown = self.follow(info.raw_cell), []
        self.stdout, self.kept = sys.stdout, _Kept(sys.stdout)
        sys.stdout = self.kept

    def note(self, message: Any) -> Any:
        """Keep what a cell displays, and pass the message on."""
        kind = message["header"]["msg_type"]
        if kind == "display_data":
            self.shown.append(message["content"])
        if kind == "clear_output":
            self.shown = []
        return message

    def after(self, result: Any) -> None:
        """Print the line below an output, and the book's number below a reader's own."""
        if self.stdout is None:  # the cell that checks the parameters
            return
        sys.stdout, self.stdout = self.stdout, None
        outputs = [{"name": "stdout", "text": "".join(self.kept.written)}, *self.shown]
        if result.result is not None:
            outputs.append({"data": self.shell.display_formatter.format(result.result)[0]})
        name = name_of(result.info.raw_cell or "")
        self.last = said = self.said(digest(outputs), _stored(OUTPUTS).get(name, ""))
        if said and result.result is not self.par:  # the parameters themselves need no line
            _print(said, "mark")
        number = _stored(NUMBERS).get(name)
        if number and YOURS in said and result.success:
            _print(number.replace(NUMBER, IN_THE_BOOK), "number")

    def said(self, shows: str, book: str) -> str:
        """The line below the outputs of a cell, from their digest and the book's."""
        if not shows or shows == book:
            return SAME if shows else ""
        whose = [YOURS if self.follows else NOT_USED] if self.changed else []
        return " ".join(whose + [QUICK] * (self.par.quick and self.follows))

    def follow(self, source: str) -> bool:
        """Whether a cell uses names that follow from a changed parameter; the names that it sets then follow too."""
        try:
            statements = ast.parse(source).body
        except SyntaxError:
            return False
        return any([self._follow(statement) for statement in statements])

    def _follow(self, statement):
        nodes = list(ast.walk(statement))
        used = {node.id for node in nodes if isinstance(node, ast.Name)}
        if not used & self.names and not self._asks(nodes):
            return False
        self.names |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        self.names |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        self.names |= {name for node in nodes for name in _changed_in_place(node)}
        return True

    def _asks(self, nodes):
        """Whether the parameters themselves are used, other than by the name of an unchanged one."""
        asked = [node.attr for node in nodes if isinstance(node, ast.Attribute) and _is_par(node.value)]
        as_book = self.same if self.par.quick else self.same | {"fewer"}
        return sum(name in as_book for name in asked) < sum(map(_is_par, nodes))


class _Kept:
    """A stream that keeps what is written to it."""

    def __init__(self, stream: Any):
        self.stream, self.written = stream, []

    def write(self, text: str) -> int:
        """Write, and keep it."""
        self.written.append(text)
        return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _is_par(node):
    return isinstance(node, ast.Name) and node.id == "par"


def _changed_in_place(node):
    """The name whose object a node changes: ``rows.append(…)``, ``found[key] = …``."""
    if isinstance(node, ast.Attribute) and node.attr in MUTATING and isinstance(node.value, ast.Name):
        yield node.value.id
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
        yield node.value.id


def _below(result: Any) -> None:
    """Print whose an output is, and the caption of a figure; if the figure is not the book's, say so there too."""
    for marks in _watching:
        marks.after(result)
    caption = _stored(CAPTIONS).get(name_of(result.info.raw_cell or ""))
    if caption and result.success:
        other = any(marks.last not in ("", SAME) for marks in _watching)
        _print(f"{THE_BOOKS} {caption}" if other else caption, "caption")


@cache
def _stored(file: str) -> Mapping[str, str]:
    return json.loads(resources.files("superposition.book").joinpath(file).read_text(encoding="utf-8"))


def _print(text, kind):
    from IPython.display import display

    display({"text/markdown": text, "text/plain": text}, raw=True, metadata={KIND: kind})


def _shell():
    from IPython import get_ipython

    return get_ipython()
