"""Write the pages of the reference, one a wing, and the meaning of columns: ``python scripts/reference.py``.

A page names modules and nothing else; Sphinx fills it with what their docstrings say. So it changes only when a
module or a name on a face comes or goes, and a test says when it is out of date.
"""

import importlib
import inspect
import pkgutil
from pathlib import Path

from superposition.runs import columns as run_columns

BOOK = Path(__file__).resolve().parent.parent / "book"
WINGS = ("toy", "rug", "incidental", "receptive", "codes", "decoders", "frequencies", "correlated", "diagnosis")
TITLES = {
    "toy": "Toy models",
    "rug": "The Persian rug",
    "incidental": "Incidental polysemanticity",
    "receptive": "Receptive fields",
    "codes": "Better codes",
    "decoders": "Decoders and dictionaries",
    "frequencies": "Unequal features",
    "correlated": "Features that occur together",
    "diagnosis": "Your own model",
    "experiments": "Experiments",
    "runs": "Named runs",
    "book": "What chapters share",
    "ground": "The ground",
    "defprint": "Fingerprints of code",
}
GROUND = "What every wing may use: sparse features, searches for minima, exact integrals, refusals, devices."


def modules(package):
    """Return the names of the modules of a package at any depth, sorted, the package itself left out."""
    root = importlib.import_module(package)
    found = pkgutil.walk_packages(root.__path__, f"{package}.") if hasattr(root, "__path__") else []
    return sorted(module.name for module in found)


def parts():
    """Return the modules of each page, by its name; those without a page of their own stand on the ground."""
    names = modules("superposition")
    pages = {wing: [n for n in names if n.startswith(f"superposition.{wing}.")] for wing in TITLES}
    taken = {name for page in pages.values() for name in page} | {f"superposition.{wing}" for wing in TITLES}
    pages["defprint"] = modules("defprint")
    pages["ground"] = [name for name in names if name not in taken and not name.endswith((".cli", ".__main__"))]
    return {wing: page for wing, page in pages.items() if page and not all(n.endswith(".data") for n in page)}


def origin(face, name):
    """Return where a name on a face is defined: a module that has it for its own, or says so in its ``__all__``."""
    value = getattr(face, name)
    return f"{getattr(value, '__module__', face.__name__)}.{name}" if not inspect.ismodule(value) else value.__name__


def table(names):
    """Return a table of names, each with its arguments and the first line of its docstring."""
    head = ["```{eval-rst}", ".. currentmodule:: None", "", ".. autosummary::", ""]
    return "\n".join([*head, *(f"   ~{name}" for name in names), "```"])


def section(module):
    """Return the section of a module, to be filled from its docstrings."""
    return f"## `{module}`\n\n```{{eval-rst}}\n.. automodule:: {module}\n   :members:\n```"


def page(part, names):
    """Return the page of a wing: its face, then the modules behind it."""
    blocks = [f"# {TITLES[part]}"]
    if part == "ground":
        blocks.append(GROUND)
    else:
        package = part if part == "defprint" else f"superposition.{part}"
        blocks.append(f"```{{eval-rst}}\n.. automodule:: {package}\n   :no-members:\n```")
    if part in (*WINGS, "defprint"):
        face = importlib.import_module(package)
        blocks += [
            f"What `{package}` offers on its face:",
            table([origin(face, n) for n in face.__all__ if callable(getattr(face, n))]),
        ]
    return "\n\n".join([*blocks, *map(section, names)]) + "\n"


def pages():
    """Return the text of every page, by its file."""
    return {BOOK / "reference" / f"{part}.md": page(part, names) for part, names in parts().items()}


def main():
    """Write what differs, and remove what has no modules any more."""
    texts = pages()
    for path, text in texts.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (BOOK / "data" / "columns.toml").write_text(run_columns.dictionary(), encoding="utf-8")
    for path in set((BOOK / "reference").glob("*.md")) - {*texts, BOOK / "reference" / "index.md"}:
        path.unlink()


if __name__ == "__main__":
    main()
