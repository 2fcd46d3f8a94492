"""Transparent decorators: they change no value, so neither they nor their arguments count; what they decorate does."""

import defprint
import pytest

GUARD = """
    import functools

    from defprint import transparent

    LIMIT = 3

    @transparent
    def checked(**ranges):
        def decorate(function):
            @functools.wraps(function)
            def guarded(*values):
                if max(values) > LIMIT:
                    raise ValueError("too large")
                return function(*values)

            guarded.unchecked = function
            return guarded

        return decorate

    @transparent
    def plainly_checked(function):
        return function

    def doubled(function):
        return lambda *values: 2 * function(*values)
    """
IMPORT = ("import math", "import math\nfrom little.guard import checked, doubled, plainly_checked")


@pytest.fixture
def with_guard(fingerprint_of):
    """The fingerprint with decorators for use: pairs of old and new text by module."""
    return lambda function="little.top:start", more=(), **changes: fingerprint_of(
        function, {"guard": GUARD, **dict(more)}, **changes
    )


def decorated(*marks):
    """Put decorators before the function of the little package."""
    lines = "\n".join(marks)
    return [IMPORT, ("def start(x):", f"{lines}\ndef start(x):")]


OWN = [
    (
        "import math",
        "import math\nfrom defprint import transparent\n\n@transparent\ndef kept(function):\n    return function",
    ),
    ("def even(n):", "@kept\ndef even(n):"),
]
SAME = {
    "added": decorated("@checked(x=3)"),
    "another argument": decorated("@checked(x=even, y='words')"),
    "no arguments": decorated("@checked()"),
    "not called": decorated("@plainly_checked"),
    "two of them": decorated("@checked(x=3)", "@plainly_checked"),
    "by the module": [
        ("import math", "import math\nfrom little import guard"),
        ("def start(x):", "@guard.checked(x=3)\ndef start(x):"),
    ],
    "by another name": [
        ("import math", "import math\nfrom little.guard import checked as c"),
        ("def start(x):", "@c(x=3)\ndef start(x):"),
    ],
    "of the same module": OWN,
    "before a function that is called": [IMPORT, ("def even(n):", "@checked(n=3)\ndef even(n):")],
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_transparent_decorators_do_not_count(with_guard, fingerprint_of, change):
    assert with_guard(top=change) == fingerprint_of()


def test_a_transparent_decorator_may_compute_something_else(with_guard):
    marked, other = decorated("@checked(x=3)"), [("LIMIT = 3", "LIMIT = 4"), ("> LIMIT", ">= LIMIT")]
    assert with_guard(top=marked, guard=other) == with_guard(top=marked)


def test_the_body_of_a_decorated_function_counts(with_guard):
    marked = decorated("@checked(x=3)")
    assert with_guard(top=[*marked, ("return FACTOR", "return 2 * FACTOR")]) != with_guard(top=marked)
    assert with_guard(top=marked, low=[("self.x + BASE", "self.x - BASE")]) != with_guard(top=marked)


def test_other_decorators_count_also_beside_a_transparent_one(with_guard):
    plain, both = with_guard(top=decorated("@doubled")), with_guard(top=decorated("@checked(x=3)", "@doubled"))
    assert plain == both != with_guard()


@pytest.mark.parametrize("mark", ["", "@functools.cache\n"])
def test_a_decorator_without_the_mark_counts(with_guard, mark):
    marked, unmarked = decorated("@plainly_checked"), [("@transparent\ndef plainly", f"{mark}def plainly")]
    assert with_guard(top=marked, guard=unmarked) != with_guard(top=marked)


def test_a_mark_of_the_same_name_from_elsewhere_is_none(with_guard):
    guard = [("from defprint import transparent", "from little.low import base as transparent")]
    with pytest.raises(ValueError, match="the decorator `.*`, which may register"):
        with_guard(top=decorated("@plainly_checked"), low=[("return Thing(x).value()", "return Thing(x)")], guard=guard)


def test_unchecked_is_the_same_function(with_guard):
    marked = [IMPORT, ("def even(n):", "@checked(n=3)\ndef even(n):")]
    inner = [*marked, ("+ even(3)", "+ even.unchecked(3)")]
    assert with_guard(top=inner) == with_guard(top=marked) == with_guard()
    elsewhere = [("low.base(x)", "low.base.unchecked(x)")]
    low = [("SCALES = {}", "from little.guard import checked\nSCALES = {}"), ("def base", "@checked(x=3)\ndef base")]
    assert with_guard(top=elsewhere, low=low) == with_guard()
    own = [*OWN, ("+ even(3)", "+ even.unchecked(3)")]
    assert with_guard(top=own) == with_guard()
    with_an_attribute = with_guard(top=elsewhere)
    assert with_an_attribute != with_guard(), "without a transparent decorator the attribute counts"


def test_of_two_definitions_both_must_be_marked(with_guard):
    marked = decorated("@plainly_checked")
    second = ("def doubled", "{}def plainly_checked(function):\n    return function\n\ndef doubled")
    both, one = ([(second[0], second[1].format(mark))] for mark in ("@transparent\n", ""))
    assert with_guard(top=marked, guard=both) == with_guard() != with_guard(top=marked, guard=one)
    replaced = [("def doubled", "plainly_checked = functools.cache\n\ndef doubled")]
    assert_counts_or_is_refused(lambda: with_guard(top=marked, guard=replaced), with_guard())


def test_of_two_definitions_behind_a_name_both_count(with_guard):
    twice = [IMPORT, ("def even(n):", "@checked(n=3)\ndef even(n):\n    return n\n\n@checked(n=3)\ndef even(n):")]
    bare = [("def even(n):", "def even(n):\n    return n\n\ndef even(n):")]
    assert with_guard(top=twice) == with_guard(top=bare) != with_guard()
    unchecked = ("+ even(3)", "+ even.unchecked(3)")
    assert with_guard(top=[*twice, unchecked]) == with_guard(top=twice)
    half = [(old, new.replace("\n\n@checked(n=3)", "\n\n")) for old, new in twice]
    assert with_guard(top=[*half, unchecked]) != with_guard(top=half)


def assert_counts_or_is_refused(taken, plain):
    try:
        assert taken() != plain
    except ValueError as error:
        assert "cannot follow" in str(error)


LOW = ("SCALES = {}", "from little.guard import checked, plainly_checked\nSCALES = {}")


def test_methods_and_classes_may_be_decorated(with_guard):
    method = [LOW, ("    def value(self)", "    @checked(self=3)\n    def value(self)")]
    kind = [LOW, ("class Thing:", "@plainly_checked\nclass Thing:")]
    assert with_guard(low=method) == with_guard(low=kind) == with_guard()
    formula = ("self.x + BASE", "self.x - BASE")
    assert with_guard(low=[*method, formula]) == with_guard(low=[*kind, formula]) != with_guard()


def test_nested_functions_may_be_decorated(with_guard):
    inner = "    def square(y):\n        return y * y\n    return square(FACTOR)"
    bare, marked = ([("    return FACTOR", text)] for text in (inner, f"    @checked(y=3)\n{inner}"))
    assert with_guard(top=[IMPORT, *marked]) == with_guard(top=bare) != with_guard()


def test_a_decorator_may_come_through_a_package(with_guard):
    more = {"doors.__init__": "from little.guard import checked\n"}
    through = [("import math", "import math\nfrom little.doors import checked"), decorated("@checked(x=3)")[1]]
    assert with_guard(top=through, more=more) == with_guard()
    whole = [
        ("import math", "import math\nimport little.doors"),
        ("def start", "@little.doors.checked(x=3)\ndef start"),
    ]
    assert with_guard(top=whole, more=more) == with_guard()


def test_a_local_name_like_a_transparent_decorator_counts(with_guard):
    bare = "    def square(y):\n        return y * y\n    return square(FACTOR)"
    inner = f"    def checked(f):\n        return lambda y: 2 * f(y)\n\n    @checked\n{bare}"
    assert with_guard(top=[IMPORT, ("    return FACTOR", inner)]) != with_guard(top=[("    return FACTOR", bare)])


def test_the_mark_itself_changes_nothing():
    assert defprint.transparent(len) is len
