"""Fingerprints of what functions compute: they follow the content of definitions, not their places or names.

* `of` returns the fingerprint of a function, `sources` the files behind it.
* `transparent` marks a decorator that changes no value, so that it does not count.
"""

from defprint.fingerprint import of, sources, transparent

__all__ = ["of", "sources", "transparent"]
