"""Fingerprints of what a function depends on: they follow definitions by what they say, not by where they are.

* `of` gives the fingerprint of a function, `sources` the files behind it.
* `transparent` marks a decorator of yours that changes no value, so that it does not count.
"""

from defprint.fingerprint import of, sources

__all__ = ["of", "sources", "transparent"]


def transparent(decorator):
    """Mark a decorator that changes no value of a call that it lets pass: it may refuse, and does not count.

    The function that such a decorator makes may give the one that it decorates by the attribute ``unchecked``; for the
    fingerprint the two are the same.

    Parameters
    ----------
    decorator : callable
        The decorator, or a function that returns one.

    Returns
    -------
    callable
        The same.

    Examples
    --------
    >>> @transparent
    ... def checked(function):
    ...     return function
    """
    return decorator
