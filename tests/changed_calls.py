"""Calls near those that a function gets: one part of the arguments is another, or many are. Each change has a name.

A name says which part, counted from 0, how it is changed, and by which number, word, other part (``@3``) or other call.
"""

import dataclasses
import functools
import json
import types

import numpy as np
import torch
from recorded_calls import as_it_is, like, plain, size, tilted

LEAVES, LIMITS, MIXED = 14, 6, 12  # parts of a call that are changed, limits that are met, and changes of many parts
FEW = 50  # rows that are left of many


def leaves(value, path=()):
    """The parts of a call that can be changed, each with its place."""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, (list, tuple)):
        parts = enumerate(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value) if field.init]
    else:
        yield path, value
        return
    if len(path) < 4:
        for key, one in list(parts)[:9]:
            yield from leaves(one, (*path, key))


def part(value, path):
    """What is at a place."""
    for key in path:
        value = getattr(value, key) if dataclasses.is_dataclass(value) else value[key]
    return value


def replaced(value, path, new):
    """The same with another part at a place."""
    if not path:
        return new
    key, rest = path[0], path[1:]
    if dataclasses.is_dataclass(value):
        return dataclasses.replace(value, **{key: replaced(getattr(value, key), rest, new)})
    if isinstance(value, dict):
        return {**value, key: replaced(value[key], rest, new)}
    found = list(value)
    found[key] = replaced(found[key], rest, new)
    return type(value)(*found) if hasattr(value, "_fields") else type(value)(found)


@functools.cache
def constants(function):
    """Numbers and words that a function's code has, or the names that it reads."""
    found, todo = {}, [function.__code__]
    while todo:
        code = todo.pop()
        for one in [*code.co_consts, *(function.__globals__.get(name) for name in code.co_names)]:
            if isinstance(one, types.CodeType):
                todo.append(one)
            elif isinstance(one, (int, float, str)) and not isinstance(one, bool) and one != function.__doc__:
                found[repr(one)] = one
            elif isinstance(one, tuple) and all(isinstance(word, str) for word in one):
                found.update((repr(word), word) for word in one)
    return list(found.values())


def changed(call, way, got):
    """A call in which one part is another, by the name of the change: which part, how, and by what."""
    call = like(call, tilted(1, 0.3) if way == "near" else as_it_is)
    if way in ("given", "near"):
        return call
    which, word, *rest = way.split(maxsplit=2)
    found = list(leaves(call[:2]))
    if which == "mixed":
        return mixed(call, found, np.random.default_rng(int(word)))
    path, value = found[int(which)]
    if word == "of":
        return replaced(call, path[:2], like(part(got[int(rest[0])], path[:2]), as_it_is))
    to = (found[int(rest[0][1:])][1] if rest[0][0] == "@" else json.loads(rest[0])) if rest else None
    return replaced(call, path, other(value, word, to))


def mixed(call, found, rng):
    """A call in which many parts are other ones: numbers of other sizes, larger whole ones, turned switches."""
    for path, value in found[:LEAVES]:
        if isinstance(value, (np.ndarray, torch.Tensor, float)) and size(value) and rng.random() < 0.6:
            by = 10 ** (rng.uniform(-2, 2) + rng.uniform(-1, 1) * rng.uniform(-1, 1, np.shape(value)))
            call = replaced(call, path, like(value, functools.partial(times, by=by)))
        elif isinstance(value, (bool, int)) and rng.random() < 0.5:
            call = replaced(call, path, not value if isinstance(value, bool) else value + int(rng.integers(-1, 4)))
    return call


def times(value, by):
    return (value * by).astype(getattr(value, "dtype", float))


def other(value, word, to):
    """Another value of one part."""
    if isinstance(value, torch.Tensor):
        found = np.ascontiguousarray(other(value.detach().numpy(), word, to))
        return torch.from_numpy(found).to(value.dtype).requires_grad_(value.requires_grad)
    if word == "is":
        return to
    if word == "met":
        value = value.copy()
        value.flat[::2] = to
        return value
    return MADE[word](value)


MADE = {
    "not": np.logical_not,
    "more": lambda value: value + 1,
    "less": lambda value: value - 1,
    "double": lambda value: 2 * value,
    "none": lambda value: 0 * value,
    "minus": lambda value: -value,
    "tenfold": lambda value: 10 * value,
    "tenth": lambda value: 0.1 * value,
    "all": np.ones_like,
    "back": lambda value: value[..., ::-1].copy(),
    "turned": lambda value: value[::-1].copy(),
    "one": lambda value: value[:1],
    "few": lambda value: value[:: len(value) // FEW],
    "shorter": lambda value: value[:-1],
    "narrow": lambda value: value[..., :-1],
    "alike": lambda value: np.repeat(value[:1], len(value), axis=0),
    "even": lambda value: 0 * value + value[..., :1],
    "whole": np.round,
    "ties": lambda value: np.round(value, 1),
    "drawn": lambda value: np.random.default_rng(1),
}
ROWS = ["back", "turned", "shorter", "alike"]


def words(value):
    """The changes of one part that need nothing else."""
    if isinstance(value, torch.Tensor):
        value = value.detach().numpy()
    if isinstance(value, np.ndarray):
        if not value.size or not value.ndim or value.dtype.kind not in "fciub":
            return []
        found = ROWS + (["narrow", "even"] if value.ndim > 1 else ["one"]) + ["few"] * (len(value) > 4 * FEW)
        numbers, kind = ["none", "minus", "tenfold", "tenth", "whole", "ties"], value.dtype.kind
        return found + {"b": ["not", "all"], "i": ["more", "none"], "u": ["more", "none"]}.get(kind, numbers)
    if isinstance(value, (bool, np.bool_)):
        return ["not"]
    if isinstance(value, (int, np.integer)):
        return ["more", "less", "double"]
    if isinstance(value, (float, np.floating)):
        return ["none", "minus", "tenfold", "tenth"]
    return ["drawn"] if isinstance(value, np.random.Generator) else []


def limits(value, known):
    """The changes of one part that put a known number or word into its place."""
    if isinstance(value, str):
        return [f"is {json.dumps(one)}" for one in known if isinstance(one, str) and one != value][:LIMITS]
    numbers = [one for one in known if not isinstance(one, str) and abs(one) < 1e9]
    if isinstance(value, (bool, np.bool_)) or value is None:
        return []
    if isinstance(value, (int, np.integer)):
        return [f"is {one}" for one in numbers if isinstance(one, int) and abs(one) <= 64][:LIMITS]
    if isinstance(value, (float, np.floating)):
        return [f"is {json.dumps(float(one))}" for one in numbers][: 2 * LIMITS]
    floats = isinstance(value, torch.Tensor) and value.is_floating_point()
    if floats or isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
        return [f"met {json.dumps(float(one))}" for one in numbers][:LIMITS]
    return []


def ways(got, count, function):
    """The names of all changes of one kept call."""
    found = list(leaves(got[count][:2]))
    known = constants(plain(function))
    same = [f"@{place}" for place, (_, one) in enumerate(found) if isinstance(one, float)]
    yield from ("given", "near", *(f"mixed {seed}" for seed in range(MIXED)))
    for place, (_, value) in list(enumerate(found))[:LEAVES]:
        for change in [*words(value), *limits(value, known)]:
            yield f"{place} {change}"
        put = "met" if isinstance(value, (np.ndarray, torch.Tensor)) else "is"
        if isinstance(value, float) or (put == "met" and limits(value, [0])):
            yield from (f"{place} {put} {one}" for one in same[:LIMITS] if one != f"@{place}")
    first = {path[:2]: place for place, (path, _) in reversed(list(enumerate(found)))}
    for place in list(first.values())[:LEAVES]:
        yield from (f"{place} of {nth}" for nth, one in enumerate(got) if one is not None and nth != count)
