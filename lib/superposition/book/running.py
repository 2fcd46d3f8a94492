"""What a page says of itself where it runs, in JupyterLab and under papermill: captions, and at whose parameters.

The book sets captions from the metadata of cells, which a kernel does not see, and at a reader's parameters the most
important number is another one. So captions and the book's numbers stand beside this module, by the code of their
cells; ``scripts/refresh.py`` writes them there.
"""

import ast
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

CAPTIONS, NUMBERS = "captions.json", "numbers.json"
NUMBER = "**The number.**"  # how the most important output of a page begins
QUICK = "*Quick run: smaller samples and shorter training, not converged.*"
IN_THE_BOOK = "**In the book,** at its parameters:"
YOURS, DEFAULTS = "*At your parameters.*", "*Your parameters do not enter here.*"
KIND = "superposition"  # in the metadata of an output: that it is one of these lines, which the book sets itself


def name_of(source: str) -> str:
    """By what the code of a cell is known."""
    return hashlib.sha256(source.strip().encode()).hexdigest()[:16]


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
        shell.events.register("post_run_cell", _caption)


def say_whose(par: Any) -> None:
    """Print over each output whether it follows from a reader's parameters, and in a quick run that it is one."""
    shell = _shell()
    if shell is not None and not par.at_defaults:
        marks = Marks(par.quick, par.model_dump() | {"quick": False} != type(par)().model_dump())
        shell.events.register("pre_run_cell", marks.before)
        shell.events.register("post_run_cell", marks.after)


class Marks:
    """Follows names from the checked parameters ``par`` through the cells that run."""

    def __init__(self, quick: bool, changed: bool):
        self.quick, self.changed, self.names, self.yours = quick, changed, {"par"}, False

    def before(self, info: Any) -> None:
        """Print what is to be said of a cell, if it shows something."""
        said = self.said(info.raw_cell)
        if said:
            _print(said, "mark")

    def after(self, result: Any) -> None:
        """Print the book's number below a reader's own."""
        number = _stored(NUMBERS).get(name_of(result.info.raw_cell or ""))
        if number and self.yours and result.success:
            _print(number.replace(NUMBER, IN_THE_BOOK), "number")

    def said(self, source: str) -> str:
        """The line above the outputs of a cell; nothing for one that shows nothing."""
        try:
            statements = ast.parse(source).body
        except SyntaxError:
            return ""
        follows = [self._follow(statement) for statement in statements]
        self.yours = any(follows)
        if not statements or not _shows(statements[-1]):
            return ""
        whose = [YOURS if self.yours else DEFAULTS] if self.changed else []
        return " ".join(whose + [QUICK] * (self.quick and self.yours))

    def _follow(self, statement):
        """Whether a statement uses what follows from the parameters; then what it names follows too."""
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        if not any(node.id in self.names for node in names):
            return False
        self.names |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
        self.names |= {node.name for node in ast.walk(statement) if isinstance(node, ast.FunctionDef)}
        return True


def _shows(statement):
    """Whether it is the last of a cell that shows something: the parameters themselves need no line."""
    return isinstance(statement, ast.Expr) and ast.unparse(statement) != "par"


def _caption(result: Any) -> None:
    caption = _stored(CAPTIONS).get(name_of(result.info.raw_cell or ""))
    if caption and result.success:
        _print(caption, "caption")


@cache
def _stored(file: str) -> Mapping[str, str]:
    return json.loads(resources.files("superposition.book").joinpath(file).read_text(encoding="utf-8"))


def _print(text, kind):
    from IPython.display import display

    display({"text/markdown": text, "text/plain": text}, raw=True, metadata={KIND: kind})


def _shell():
    from IPython import get_ipython

    return get_ipython()
