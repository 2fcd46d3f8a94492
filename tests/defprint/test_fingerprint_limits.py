"""Where names do not lead: data files count, and what cannot be followed is refused by name."""

import pytest
from defprint import fingerprint


def before(text):
    """The function of the little package, with a statement before its last."""
    return [("return FACTOR", f"{text}\n    return FACTOR")]


def importing(module, text):
    """The same, with an import."""
    return [("import math", f"import {module}\nimport math"), *before(text)]


def at_top(text):
    """A module of it, with statements at its top."""
    return [("BASE: int = 5", f"{text}\nBASE: int = 5")]


# Each is a change, and what is fingerprint_of of it: a construct that computed something else unseen

REFUSED = {
    "value of an error": (
        {"top": before("try:\n        low.base(x)\n    except KeyError as e:\n        x = e.args[0]")},
        "little.top line 16: the fingerprint cannot follow what the error `e` carries; allowed: an error that is",
    ),
    "value of an error that an exit gets": (
        {"low": [("def unused():", "    def __exit__(self, kind, e, trace):\n        self.x = e\n\ndef unused():")]},
        "little.low line 18: .* what the error `e` carries",
    ),
    "value of the end of an iterator": (
        {"low": [("return self.x + BASE", "raise StopIteration(BASE)")]},
        "little.low line 16: .* a StopIteration with a value; allowed: `return` in a generator",
    ),
    "kind of the end of an iterator": ({"low": [("class Thing:", "class Thing(StopIteration):")]}, "kind of StopIter"),
    "error of the moment": ({"top": importing("sys", "sys.exc_info()")}, "`sys.exc_info`"),
    "module handed on": ({"top": before("h(low)")}, "little.top line 14: .* the module `little.low` as a value"),
    "module asked for a name": ({"top": [("low.base(x)", "getattr(low, 'base')(x)")]}, "the module `little.low` as a"),
    "module given another name": ({"top": before("m = low\n    h(m)")}, "the module `little.low` as a value"),
    "one name for two modules": (
        {"top": [("from little import low", "try:\n    from little import low\nexcept ImportError:\n    low = None")]},
        "little.top line 5: .* `low`, which may be the module `little.low` or something else",
    ),
    "names by text": ({"top": before('globals()["h"](x)')}, "little.top line 14: .* `globals`; allowed: names"),
    "local names by text": ({"top": before("vars()")}, "`vars`; allowed: names"),
    "code in a text": ({"top": before('eval("h(x)")')}, "`eval`; allowed: names"),
    "module by text": (
        {"top": importing("importlib", 'importlib.import_module("little.mid").helper(x)')},
        "`importlib.import_module`; allowed: names",
    ),
    "module by text, another way": ({"top": before('__import__("little.mid")')}, "`__import__`; allowed: names"),
    "modules that are loaded": ({"top": importing("sys", "sys.modules")}, "`sys.modules`"),
    "globals of a function": ({"top": before('h.__globals__["other"](x)')}, "`__globals__`; allowed: names"),
    "table filled by a decorator": (
        {
            "low": at_top("def file(f):\n    SCALES['filed'] = f\n\n@file\ndef filed(x): return x"),
            "top": before('low.SCALES["filed"](x)'),
        },
        "little.low line 6: .* the decorator `file`, which may register its definition; allowed: definitions that are",
    ),
    "table filled by a decorator elsewhere": (
        {
            "low": at_top("def file(f):\n    SCALES['filed'] = f"),
            "mid": [("def other", "from little import low\n\n@low.file\ndef filed(x): return x\n\ndef other")],
            "top": before('low.SCALES["filed"](x)'),
        },
        "little.mid line 10: .* the decorator `low.file`",
    ),
    "table filled by a decorator with an argument": (
        {"low": at_top("def file(name):\n    return lambda f: SCALES.update({name: f})\n\n@file('a')\ndef f(x): pass")},
        "the decorator `file\\('a'\\)`",
    ),
    "table filled by a call": (
        {"low": at_top("def file(f):\n    SCALES['filed'] = f\n\ndef filed(x): return x\n\nfile(filed)")},
        "little.low line 8: .* the effect of `file\\(filed\\)` at import; allowed: settings within",
    ),
    "table filled by subclasses": (
        {"low": [("scale: float = 1.0", "def __init_subclass__(cls): SCALES['filed'] = cls")]},
        "little.low line 9: .* `__init_subclass__`, which may register classes",
    ),
    "metaclass": (
        {"low": [("class Thing:", "class Meta(type): pass\n\nclass Thing(metaclass=Meta):")]},
        "little.low line 11: .* `metaclass=Meta`",
    ),
    "all subclasses": ({"top": before("low.Thing.__subclasses__()")}, "little.top line 14: .* `__subclasses__`"),
    "function by the type of its argument": (
        {
            "low": at_top(
                "from functools import singledispatch as by\n@by\ndef f(x): pass\n@f.register\ndef _(x: int): pass"
            ),
            "top": before("low.f(x)"),
        },
        "`functools.singledispatch`; allowed: a function that asks",
    ),
    "another module's constant": ({"mid": [("ONE, TWO", "from little import low\nlow.LIMIT = 3\nONE, TWO")]},
        "little.mid line 4: .* the change of `low.LIMIT` at import",
    ),
    "another module's class": (
        {"mid": [("ONE, TWO", "Thing.scale = 3\nONE, TWO")]},
        "little.mid line 3: .* the change of `Thing.scale` at import",
    ),
    "another module's table": ({"mid": [("ONE, TWO", "SCALES['b'] = 3\nONE, TWO")]}, "the change of `SCALES\\['b'\\]`"),
    "another module's table by a method": ({"mid": [("ONE, TWO", "SCALES.clear()\nONE, TWO")]}, "`SCALES.clear\\(\\)`"),
    "another module by text": (
        {"mid": [("ONE, TWO", "setattr(Thing, 'scale', 3)\nONE, TWO")]},
        "the effect of `setattr\\(Thing, 'scale', 3\\)` at import",
    ),
    "precision of a library, in a package": (
        {"__init__": "import decimal\ndecimal.getcontext().prec = 5\n"},
        "little line 2: .* the change of `decimal.getcontext\\(\\).prec` at import; allowed: settings within",
    ),
    "setting of a library, in a package": (
        {"__init__": "import torch\ntorch.set_default_dtype(torch.float64)\n"},
        "little line 2: .* the effect of `torch.set_default_dtype",
    ),
    "setting of a library, its value kept": (
        {"unused": "import numpy\nOLD = numpy.seterr()\n", "mid": [("ONE, TWO", "import little.unused\nONE, TWO")]},
        "little.unused line 2: .* the effect of `numpy.seterr",
    ),
    "setting under a condition, in a class": (
        {"low": at_top("import decimal\nif BASE:\n    class A:\n        decimal.getcontext().prec = 5")},
        "little.low line 6: .* the change of `decimal.getcontext",
    ),
    "setting of what was kept": (
        {"low": at_top("import decimal\nkept = decimal.getcontext()\nkept.prec = 5")},
        "little.low line 5: .* the change of `kept.prec` at import",
    ),
    "use between two values": (
        {"low": at_top("HALF = 1\nTWICE = 2 * HALF\nHALF = 2")},
        "little.low line 4: .* `HALF`, used before its last change; allowed: a second name",
    ),
    "use between two values, by a call": (
        {"low": at_top("HALF = 1\ndef twice(): return 2 * HALF\nTWICE = twice()\nHALF = 2")},
        "little.low line 5: .* `HALF`, used before",
    ),
    "use between two values, as a default": (
        {"low": at_top("HALF = 1\ndef twice(x=HALF): return x\nHALF = 2")},
        "little.low line 4: .* `HALF`, used before",
    ),
    "annotations as values": (
        {"top": importing("typing", "typing.get_type_hints(h)")},
        "`typing.get_type_hints`",
    ),
    "file": ({"top": before('open("numbers.csv")')}, "little.top line 14: .* `open`; allowed: files of the package"),
    "file of numpy": ({"top": importing("numpy", 'numpy.load("a.npy")')}, "`numpy.load`"),
    "file beside the module": ({"top": before("__file__")}, "little.top line 14: .* `__file__`; allowed: files of"),
    "files of the package, where is not fingerprint_of": (
        {"top": importing("importlib.resources as resources", 'resources.files("little")')},
        "little.top line 15: .* `importlib.resources.files`; allowed: files of the package",
    ),
    "docstring as a value": ({"top": before("len(h.__doc__)")}, "little.top line 14: .* `__doc__`; allowed: a text or"),
    "docstring as a value, by a text": ({"top": before('getattr(h, "__doc__")')}, "little.top line 14: .* `__doc__`"),
    "docstring of the module": ({"top": before("h(__doc__)")}, "little.top line 14: .* `__doc__`; allowed: a text or"),
    "name as a value": ({"top": before("FACTOR * h.__name__")}, "little.top line 14: .* `__name__`; allowed: a text"),
    "qualified name as a value": ({"top": before("h.__qualname__")}, "`__qualname__`; allowed: a text or"),
    "docstring as a value in a decorator": (
        {"low": [("def base", "def longer(f):\n    return lambda x: f(len(f.__doc__))\n\n@longer\ndef base")]},
        "little.low line 7: .* `__doc__`; allowed: a text or",
    ),
    "types of fields": (
        {"top": importing("dataclasses", "dataclasses.fields(low.Thing)[0].type(x)")},
        "little.top line 15: .* `dataclasses.fields`; allowed: a text or a number of the code's own, since docstrings,",
    ),
    "types of fields, by the attribute": ({"top": before("low.Thing.__dataclass_fields__")}, "`__dataclass_fields__`"),
    "setting from outside": ({"top": importing("os", "os.environ")}, "`os.environ`; allowed"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "said_of_it"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_followed_is_refused_by_name(fingerprint_of, change, said_of_it):
    new = {name: text for name, text in change.items() if isinstance(text, str)}
    with pytest.raises(ValueError, match=said_of_it):
        fingerprint_of(more=new, **{name: pairs for name, pairs in change.items() if name not in new})


FOLLOWED = {
    "decorator that only computes": {
        "low": at_top("def doubled(f):\n    return lambda x: 2 * f(x)\n\n@doubled\ndef g(x): return x")
    },
    "property with a setter": {
        "low": [("def value", "@property\n    def y(self): 1\n    @y.setter\n    def y(self, z): 2\n\n    def value")]
    },
    "own table filled at import": {"low": at_top("LIST = []\nLIST.append(2)\nLIST.extend([3])")},
    "own class changed at import": {"low": [("def unused", "Thing.scale = 2\n\ndef unused")]},
    "error raised again": {"top": before("try:\n        h(x)\n    except KeyError as e:\n        raise e")},
    "error in an error": {
        "top": before("try:\n        h(x)\n    except KeyError as e:\n        raise ValueError(str(e)) from e")
    },
    "values of a name that nobody used between": {"low": at_top("HALF = 1\nOTHER = 7\nHALF = HALF + 1")},
    "docstring that a decorator sets": {
        "low": at_top("def same(f):\n    f.__doc__ = 'words'\n    return f\n\n@same\ndef g(x): return x"),
        "top": before("low.g(x)"),
    },
    "kind of an error in an error": {
        "top": before("try:\n        h(x)\n    except KeyError as e:\n        raise KeyError(type(e).__name__) from e")
    },
    "local name like a refused one": {"top": before("open = h\n    open(x)")},
    "attribute like a refused one": {"top": before("x.open()")},
    "exit that leaves the error alone": {
        "low": [("def unused():", "    def __exit__(self, kind, e, trace):\n        self.x = kind\n\ndef unused():")]
    },
    "refused where only a script is": {"low": at_top("if __name__ == '__main__':\n    low.LIMIT = 3")},
}  # fmt: skip


@pytest.mark.parametrize("change", FOLLOWED.values(), ids=FOLLOWED)
def test_what_looks_like_it_and_can_be_followed_is_not_refused(fingerprint_of, change):
    assert len(fingerprint_of(**change)) == 16


# Followed: one change each that was not seen

SEEN = {
    "else of a type checker's imports": (
        {"top": [("from little.mid import helper as h", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
                  "    from little.mid import helper as h\nelse:\n    from little.mid import helper as h")]},
        ("else:\n    from little.mid import helper", "else:\n    from little.mid import other"),
    ),
    "else of a script": (
        {"top": [("FACTOR = 2", "if __name__ == '__main__':\n    FACTOR = 1\nelse:\n    FACTOR = 2")]},
        ("else:\n    FACTOR = 2", "else:\n    FACTOR = 3"),
    ),
    "unread `yield from`": ({"top": before("aside = yield from [1]")}, ("yield from [1]", "yield from [2]")),
    "unread property that may raise": ({"top": before("aside = low.Thing.scale")}, ("Thing.scale", "Thing.value")),
    "unread index that may raise": ({"top": before("aside = low.SCALES[0]")}, ("SCALES[0]", "SCALES[1]")),
    "unread loop that may raise": ({"top": before("aside = [1 for _ in x]")}, ("for _ in x", "for _ in h")),
    "unread quotient that may raise": ({"top": before("aside = 1 / x")}, ("1 / x", "1 / (x - 1)")),
}  # fmt: skip


@pytest.mark.parametrize(("change", "fault"), SEEN.values(), ids=SEEN)
def test_what_was_not_seen_is(fingerprint_of, change, fault):
    assert fingerprint_of(top=[*change["top"], fault]) != fingerprint_of(top=change["top"])


@pytest.mark.parametrize("what", ["class Thing(BaseModel):", "@dataclass\nclass Thing:", "class Thing(Other):"])
def test_types_count_where_they_act(fingerprint_of, what):
    """Pydantic makes 1.0 of 1 where a field is a float; a class of the package may inherit from a class of pydantic."""
    source = (
        "from pydantic import BaseModel\nfrom pydantic.dataclasses import dataclass\n\nclass Other(BaseModel): pass"
    )
    low = [*at_top(source), ("class Thing:", what)]
    assert fingerprint_of(low=low) != fingerprint_of(low=[*low, ("scale: float = 1.0", "scale: int = 1.0")])


def test_words_of_an_error_do_not_count_where_they_are_looked_up(fingerprint_of):
    one, other = (
        [("        allowed =", f"        first = x.{name}[0]\n        allowed =")] for name in ("flat", "real")
    )
    assert fingerprint_of(top=one) == fingerprint_of(top=other) == fingerprint_of()


# Data


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "little" / "data" / "codes"
    folder.mkdir(parents=True)
    (folder / "one.bin").write_bytes(b"1")
    (folder / "two.bin").write_bytes(b"2")
    return folder


def reading(path):
    return importing("importlib.resources as resources", f'h(resources.files("little") / {path})')


def test_bytes_of_data_count_at_once(fingerprint_of, data):
    first = fingerprint_of(top=reading('"data" / "codes" / f"{x}.bin"'))
    (data / "one.bin").write_bytes(b"3")
    second = fingerprint_now()
    (data / "three.bin").write_bytes(b"1")
    third = fingerprint_now()
    (data / "three.bin").rename(data / "four.bin")
    assert len({first, second, third, fingerprint_now(), fingerprint_of()}) == 5
    assert {len(first), len(second), len(third)} == {16}


def test_data_that_is_not_read_does_not_count(fingerprint_of, data):
    first, without = fingerprint_of(top=reading('"data" / "codes" / "one.bin"')), fingerprint_of()
    (data / "two.bin").write_bytes(b"3")
    (data / ".hidden").write_bytes(b"3")
    assert fingerprint_of() == without
    assert fingerprint_of(top=reading('"data" / "codes" / "one.bin"')) == first
    (data / "one.bin").write_bytes(b"3")
    assert fingerprint_now() != first


def test_sources_have_the_data(fingerprint_of, data):
    fingerprint_of(top=reading('"data" / "codes"'))
    assert [path.name for path in fingerprint.sources("little.top:start")][:2] == ["one.bin", "two.bin"]


def test_data_that_is_not_there_is_named(fingerprint_of):
    with pytest.raises(ValueError, match="little/data/codes holds no files, which the library reads; allowed: a"):
        fingerprint_of(top=reading('"data" / "codes"'))


def fingerprint_now():
    return fingerprint.of("little.top:start")
