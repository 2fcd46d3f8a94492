"""Refusals, by name: code that looks up by a string, or reads something that no name leads to."""

from __future__ import annotations

from typing import NoReturn

_NAMES = "names, as the code says them"
_FILES = 'files of the package, resources.files("PACKAGE") / "FOLDER", whose content counts'
_CAUGHT = "an error that is caught without its name, or whose name only errors say"
_SETTINGS = "arguments"
_WORDS = "a text or a number of the code's own, since docstrings, names and annotations do not count"

_PATHS = {
    **dict.fromkeys(("globals", "locals", "vars", "eval", "exec", "compile", "__import__"), _NAMES),
    **dict.fromkeys(("importlib", "pkgutil", "runpy", "pydoc", "pickle", "marshal", "sys.modules"), _NAMES),
    **dict.fromkeys(("inspect", "typing.get_type_hints", "sys._getframe", "gc"), _NAMES),
    **dict.fromkeys(("functools.singledispatch", "functools.singledispatchmethod"), "a function that asks what it has"),
    **dict.fromkeys(("pydantic.validate_call", "pydantic.validate_arguments"), "a call that says the type"),
    **dict.fromkeys(("open", "io.open", "io.FileIO", "os.open", "os.fdopen", "codecs.open"), _FILES),
    **dict.fromkeys(("urllib", "sqlite3"), _FILES),
    **dict.fromkeys(("__file__", "__path__", "__spec__", "__loader__", "importlib.resources"), _FILES),
    **dict.fromkeys((f"numpy.{name}" for name in ("load", "loadtxt", "genfromtxt", "fromfile", "memmap")), _FILES),
    **dict.fromkeys(("torch.load", "torch.from_file", "safetensors.safe_open"), _FILES),
    **dict.fromkeys((f"safetensors.{name}.load_file" for name in ("numpy", "torch")), _FILES),
    **dict.fromkeys(("sys.exc_info", "sys.exception", "sys.last_value", "traceback"), _CAUGHT),
    **dict.fromkeys(("__doc__", "__name__", "__qualname__", "dataclasses.fields"), _WORDS),
    **dict.fromkeys(("os.environ", "os.environb", "os.getenv", "sys.argv"), _SETTINGS),
}
_FINDERS = ("__subclasses__", "__globals__", "__builtins__", "__annotations__", "__traceback__", "__context__")
_ATTRIBUTES = {
    **dict.fromkeys(_FINDERS, _NAMES),
    **dict.fromkeys(("__doc__", "__name__", "__qualname__", "__dataclass_fields__"), _WORDS),
}


def refuse(module: str, line: int, what: str, allowed: str) -> NoReturn:
    """Raise the error that names the place, the construct and the alternative."""
    raise ValueError(f"{module} line {line}: the fingerprint cannot follow {what}; allowed: {allowed}")


def path(module: str, line: int, name: str) -> None:
    """Refuse a name of Python's or of another library, by its dotted path, if it looks up or reads by a string."""
    parts = name.removeprefix("builtins.").split(".")
    for depth in range(len(parts), 0, -1):
        if found := _PATHS.get(".".join(parts[:depth])):
            refuse(module, line, f"`{name}`", found)


def attribute(module: str, line: int, name: str) -> None:
    """Refuse an attribute, or a text that names one, through which anything may be found or words become values."""
    if found := _ATTRIBUTES.get(name):
        refuse(module, line, f"`{name}`", found)


def payload(module: str, line: int, name: str) -> NoReturn:
    """Refuse a caught error whose content is used, since the words of errors do not count."""
    refuse(module, line, f"what the error `{name}` carries", _CAUGHT)
