"""The fingerprint: what moves, is renamed or reworded changes nothing, what computes something else does."""

import ast
import gc

import pytest
from defprint import fingerprint, scopes
from little_package import PACKAGE

SAME = {
    "docstring of a module": {"top": [('"""Doc."""\nimport', '"""Another text."""\nimport')]},
    "docstring of a function gone": {"top": [('    """Doc."""\n    if', "    if")]},
    "comment": {"mid": [("return other(x)", "# sum\n    return other(x)")]},
    "layout": {"mid": [("(lambda x: x + ONE)(TWO)", "(\n        lambda x: (x + ONE)\n    )(TWO)")]},
    "error reworded": {"top": [("is wrong; allowed", "cannot be; allowed")]},
    "range of an error reworded": {"top": [('"numbers from 0"', '"whatever is " + "positive"')]},
    "annotations": {"top": [("def start(x):", "def start(x: float) -> float:")]},
    "annotations that count": {"top": [("def start(x):", "def start(x: Float[np.ndarray, 2]) -> tuple[int, 3]:")]},
    "annotated constant": {"top": [("FACTOR = 2", "FACTOR: int = 2")], "low": [("BASE: int = 5", "BASE = 5")]},
    "annotation of a field": {"low": [("scale: float = 1.0", "scale: 'np.ndarray' = 1.0")]},
    "future import": {"top": [("import math", "from __future__ import annotations\nimport math")]},
    "import for a type checker": {
        "top": [
            ("import math", "from typing import TYPE_CHECKING\nimport math\nif TYPE_CHECKING:\n    from x import y\n")
        ]
    },
    "import that says what is missing": {
        "top": [("import math", "try:\n    import math\nexcept ImportError as e:\n    raise ImportError('?') from e")]
    },
    "import under a name that an argument elsewhere hides": {
        "top": [("helper as h", "helper as n"), ("FACTOR * h(x)", "FACTOR * n(x)")]
    },
    "what is not reached": {"top": [("return 1", "return 2")]},
    "function renamed": {"mid": [("other", "another")]},
    "constant renamed": {"low": [("BASE", "GROUND")]},
    "class renamed": {"low": [("Thing", "Object")], "mid": [("Thing", "Object")]},
    "recursive functions renamed": {"top": [("even", "paired"), ("odd", "single")]},
    "imported as another name": {
        "top": [("from little import low", "from little import low as l"), ("low.base", "l.base")]
    },
    "imported by name": {"top": [("from little import low", "from little.low import base"), ("low.base", "base")]},
    "imported as a chain": {"top": [("from little import low", "import little.low"), ("low.base", "little.low.base")]},
    "imported as a chain with a name": {"top": [("from little import low", "import little.low as low")]},
    "imported relatively": {"top": [("from little import low", "from . import low"), ("from little.mid", "from .mid")]},
    "imported when it is used": {
        "top": [("from little import low\n", ""), ('"""Doc."""\n    if', "from little import low\n    if")]
    },
    "library imported another way": {"top": [("import math", "from math import pi as PI"), ("math.pi", "PI")]},
    "import that nothing uses": {"low": [("BASE: int", "import os\nBASE: int")]},
    "order of definitions": {"low": [("LIMIT = 7\n", ""), ("BASE: int", "LIMIT = 7\nBASE: int")]},
    "words before a call": {"low": [("BASE: int", "'words'\n\ndef two(): return 2\n\nTWO = two()\nBASE: int")]},
    "nothing before a call": {"low": [("BASE: int", "pass\n\ndef two(): return 2\n\nTWO = two()\nBASE: int")]},
    "code of a script": {"low": [("BASE: int", "if __name__ == '__main__':\n    BASE = 7\nBASE: int")]},
}

OTHER = {
    "constant": {"top": [("FACTOR = 2", "FACTOR = 3")]},
    "kind of a constant": {"top": [("FACTOR = 2", "FACTOR = 2.0")]},
    "annotated constant": {"low": [("BASE: int = 5", "BASE: int = 6")]},
    "formula": {"low": [("self.x + BASE", "self.x - BASE")]},
    "default": {"top": [("def start(x):", "def start(x, y=1):")]},
    "default of a field": {"low": [("scale: float = 1.0", "scale: float = 2.0")]},
    "field that is none": {"low": [("scale: float = 1.0", "scale: ClassVar[float] = 1.0")]},
    "condition of an error": {"top": [("x < 0", "x <= 0")]},
    "kind of an error": {"top": [("raise ValueError", "raise KeyError")]},
    "library": {"top": [("import math", "import cmath as math")]},
    "function of a library": {"top": [("math.pi", "math.e")]},
    "what runs at import": {"low": [('SCALES["a"] = 1', 'SCALES["a"] = 2')]},
    "loop at import": {"low": [('SCALES["a"] = 1', 'for key in "ab":\n    SCALES[key] = 1')]},
    "effect at import on everything": {"low": [("BASE: int", "print()\nBASE: int")]},
    "which name": {"mid": [("sum(ONE for", "sum(TWO for")]},
    "order of two values": {"mid": [("ONE, TWO = 1, 2", "TWO, ONE = 1, 2")]},
    "shadow gone": {"mid": [("    ONE = x\n", "    one = x\n")]},
    "shadow in a comprehension": {"mid": [("ONE for TWO", "ONE for ONE")]},
    "shadow by an argument": {"mid": [("(lambda x: x + ONE)", "(lambda ONE: ONE + x)")]},
    "global": {"mid": [("    ONE = x\n", "    global ONE\n    ONE = x\n")]},
    "recursion": {"top": [("n != 0 and even", "n != 0 and odd")]},
    "base of a recursion": {"top": [("n == 0 or", "n == 1 or")]},
    "another function of the same module": {"top": [("low.base(x)", "low.unused()")]},
    "another definition under the name": {
        "top": [("from little.mid import helper as h", "from little.mid import other as h")]
    },
    "second import of a name": {"low": [("BASE: int = 5", "BASE: int = 5\nfrom math import e as BASE")]},
    "import instead of a missing one": {
        "top": [("import math", "try:\n    import cmath as math\nexcept ImportError:\n    import math")]
    },
    "which import comes last": {
        "top": [("from little.mid import helper as h", "from little.mid import helper as h, other as h")]
    },
    "decorator": {"top": [("def start(x):", "@math.cache\ndef start(x):")]},
    "base class": {"low": [("class Thing:", "class Thing(dict):")]},
    "text that is computed with": {"top": [('allowed = "numbers from 0"', 'x = allowed = "numbers from 0"')]},
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_what_computes_the_same_has_the_same_fingerprint(fingerprint_of, change):
    assert fingerprint_of(**change) == fingerprint_of()


@pytest.mark.parametrize("change", OTHER.values(), ids=OTHER)
def test_what_computes_something_else_has_another(fingerprint_of, change):
    assert fingerprint_of(**change) != fingerprint_of()


def test_definitions_may_move(fingerprint_of):
    text = PACKAGE["mid"].replace("from little.low import SCALES, Thing\n", "from little.wing.deep import SCALES\n")
    moved = {"wing.__init__": "", "wing.deep": PACKAGE["low"], "wing.middle": text, "low": "", "mid": ""}
    imports = [("from little import low", "from little.wing import deep as low"), ("little.mid", "little.wing.middle")]
    assert fingerprint_of(more=moved, top=imports) == fingerprint_of()
    assert fingerprint_of("little.start:start", more={"start": PACKAGE["top"]}) == fingerprint_of()


FACES = {
    "eager": "from little.mid import helper, other\n",
    "lazy": """
        __all__ = ["helper"]

        def __getattr__(name):
            return getattr(importlib.import_module("little.mid"), name)
        """,
    "lazy by a table": """
        HOMES = {"mid": ["helper"], "other_mid": ["other"]}

        def __getattr__(name):
            return find(HOMES, name)
        """,
}


@pytest.mark.parametrize("face", FACES)
def test_names_on_a_face_are_followed_home(fingerprint_of, face):
    more = {"__init__": FACES[face]} | ({"other_mid": PACKAGE["mid"]} if face == "lazy by a table" else {})
    through = [("from little.mid import helper as h", "from little import helper as h")]
    assert fingerprint_of(more=more, top=through) == fingerprint_of()
    assert fingerprint_of(more=more, top=through, mid=[("other(x) +", "other(x) -")]) != fingerprint_of()


def test_an_assignment_counts_if_it_is_read_or_acts(fingerprint_of):
    assert fingerprint_of(mid=[("ONE = x", "ONE = -x")]) != fingerprint_of()
    one, other, plain = ([("return FACTOR", f"aside = {text}\n    return FACTOR")] for text in ("h(1)", "h(2)", "1"))
    assert fingerprint_of(top=one) != fingerprint_of(top=other) and fingerprint_of(top=plain) == fingerprint_of()


def test_attributes_of_what_is_found_count(fingerprint_of):
    one, other = ([("low.base(x)", f"low.Thing.{name}")] for name in ("scale", "value"))
    assert fingerprint_of(top=one) != fingerprint_of(top=other)


def test_name_that_cannot_be_followed_is_refused(fingerprint_of):
    with pytest.raises(ValueError, match="little.low:bass cannot be followed; allowed: an import from the module"):
        fingerprint_of(top=[("low.base", "low.bass")])
    with pytest.raises(ValueError, match=r"little.top line 4: the fingerprint cannot follow `import \*`"):
        fingerprint_of(top=[("from little import low", "from little.low import *")])
    with pytest.raises(ValueError, match="'little.tip:start' does not exist: there is no such module"):
        fingerprint_of("little.tip:start")
    with pytest.raises(ValueError, match="little.top:stop cannot be followed"):
        fingerprint_of("little.top:stop")


@pytest.mark.parametrize("searching", [True, False])
def test_garbage_is_looked_for_afterwards_if_it_was_before(fingerprint_of, searching):
    before = gc.isenabled()
    try:
        (gc.enable if searching else gc.disable)()
        fingerprint_of()
        assert gc.isenabled() is searching
        with fingerprint._no_search_for_garbage():
            assert not gc.isenabled()
    finally:
        (gc.enable if before else gc.disable)()


def test_a_long_name_is_cut():
    with pytest.raises(ValueError, match="^function = 'little.x{53}' does not exist: there is no such module"):
        fingerprint.of(f"little.{'x' * 5000}:f")


def test_sources_are_the_files_of_what_is_reached(fingerprint_of):
    fingerprint_of()
    assert [path.name for path in fingerprint.sources("little.top:start")] == ["low.py", "mid.py", "top.py"]


@pytest.mark.parametrize(
    ("line", "package", "meant"),
    [
        ("from .low import base", True, "little.part.low.base"),
        ("from .low import base", False, "little.low.base"),
        ("from ..low import base", True, "little.low.base"),
        ("from . import low", True, "little.part.low"),
    ],
)
def test_a_package_imports_from_itself_and_a_module_from_its_package(line, package, meant):
    tree = ast.parse(line)
    node = tree.body[0]
    assert scopes.path_of(node, node.names[0], scopes.module("little.part", tree, package)) == meant
