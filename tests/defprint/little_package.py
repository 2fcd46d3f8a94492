"""A little package whose fingerprint is taken, and how to forget one."""

import importlib

from defprint import fingerprint

PACKAGE = {
    "__init__": "",
    "top": '''
        """Doc."""
        import math

        from little import low
        from little.mid import helper as h

        FACTOR = 2

        def start(x):
            """Doc."""
            if x < 0:
                allowed = "numbers from 0"
                raise ValueError(f"{x} is wrong; allowed: {allowed}")
            return FACTOR * h(x) + low.base(x) + math.pi + even(3)

        def even(n):
            return n == 0 or odd(n - 1)

        def odd(n):
            return n != 0 and even(n - 1)

        def unrelated():
            return 1
        ''',
    "mid": """
        from little.low import SCALES, Thing

        ONE, TWO = 1, 2

        def helper(x):
            return other(x) + sum(ONE for TWO in range(x)) + SCALES["a"]

        def other(x):
            ONE = x
            return (lambda x: x + ONE)(TWO)
        """,
    "low": """
        SCALES = {}
        SCALES["a"] = 1
        BASE: int = 5
        LIMIT = 7

        def base(x):
            return Thing(x).value()

        class Thing:
            scale: float = 1.0

            def __init__(self, x):
                self.x = x

            def value(self):
                return self.x + BASE

        def unused():
            return LIMIT
        """,
}


def forget():
    importlib.invalidate_caches()
    for function in vars(fingerprint).values():
        getattr(function, "cache_clear", lambda: None)()
