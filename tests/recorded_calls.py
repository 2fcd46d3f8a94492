"""Calls that functions of the library really get: each is kept as it begins, whoever makes it."""

import copy
import inspect
import sys
import types
from contextlib import contextmanager

import numpy as np
import torch
from test_settings import modules

APART = ("superposition.book", "superposition.runs", "superposition.cli", "superposition.devices", "defprint")
KEPT, OFFERED = 8, 400  # calls of each function that are kept, and those among which they are looked for
LARGEST = 300_000  # numbers of an argument
UNCOPIED = ("__hash__", "__call__")  # what is called as a function is not copied, and may change with each call
NESTED = {}  # the first arguments of functions that others make and hand on, by their code's place


def plain(value):
    """The functions within a member of a module or a class, without what is wrapped around them."""
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    value = getattr(value, "fget", None) or getattr(value, "func", None) or value
    return inspect.unwrap(value) if callable(value) else value


def own_functions():
    """Every function and method of the wings by its name: what is called, and where its code is."""
    for name, module in modules():
        if name.startswith(APART):
            continue
        for key, value in list(vars(module).items()):
            inside = plain(value)
            if isinstance(inside, types.FunctionType) and inside.__module__ == name and key != "__getattr__":
                yield f"{name}.{key}", value, inside
            elif isinstance(value, type) and value.__module__ == name:
                for of, member in list(vars(value).items()):
                    method = plain(member)
                    written = isinstance(method, types.FunctionType) and method.__code__.co_filename == module.__file__
                    if written and of not in UNCOPIED:
                        yield f"{name}.{key}.{of}", method, method


def like(value, change, memo=None):
    """A copy, in which arrays and numbers that are no whole ones are changed; what is there twice stays one thing."""
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, torch.Tensor):
        memo[id(value)] = tensor(value, change)
        return memo[id(value)]
    if isinstance(value, torch.Generator):
        memo[id(value)] = torch.Generator().set_state(value.get_state())
        return memo[id(value)]
    if isinstance(value, np.ndarray):
        return change(value) if value.dtype.kind in "fc" else value.copy()
    if isinstance(value, float):
        return type(value)(change(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(like(one, change, memo) for one in value))
    if isinstance(value, (list, tuple)):
        return type(value)(like(one, change, memo) for one in value)
    if isinstance(value, dict):
        return {key: like(one, change, memo) for key, one in value.items()}
    return value if callable(value) else copy.deepcopy(value, memo)


def tensor(value, change):
    """A copy of a tensor, and of its gradient."""
    changed = change(value.detach().numpy()) if value.is_floating_point() else value.detach().numpy().copy()
    made = torch.from_numpy(np.asarray(changed)).to(value.dtype).requires_grad_(value.requires_grad)
    if value.grad is not None:
        made.grad = tensor(value.grad, change)
    return made


def as_it_is(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def tilted(seed, by):
    """A change of each number by a factor of its own; what is a share stays one."""

    def change(value):
        factors = np.random.default_rng(seed).uniform(1 - by, 1, np.shape(value))
        return (value * factors).astype(value.dtype) if isinstance(value, np.ndarray) else float(value * factors)

    return change


def size(value):
    """How many numbers there are."""
    if isinstance(value, (np.ndarray, torch.Tensor)):
        return value.size if isinstance(value, np.ndarray) else value.numel()
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(size, value)) if isinstance(value, (list, tuple)) else 1


def kind(value):
    """What makes a call another one: shapes, whole numbers, words, switches, and which numbers are 0."""
    if isinstance(value, (np.ndarray, torch.Tensor)):
        return str(value.dtype), tuple(value.shape)
    if isinstance(value, dict):
        return tuple((str(key), kind(one)) for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(map(kind, value[:9]))
    if isinstance(value, (bool, int, str, type(None))):
        return value
    return (type(value).__name__, value == 0) if isinstance(value, float) else type(value).__name__


def received(frame):
    """The arguments with which a call begins, and whether gradients are kept."""
    code, found = frame.f_code, frame.f_locals
    number = code.co_argcount
    places, names = [found[key] for key in code.co_varnames[:number]], {}
    names.update((key, found[key]) for key in code.co_varnames[number : number + code.co_kwonlyargcount])
    rest = number + code.co_kwonlyargcount
    if code.co_flags & inspect.CO_VARARGS:
        places += found[code.co_varnames[rest]]
        rest += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        names.update(found[code.co_varnames[rest]])
    return tuple(places), names, torch.is_grad_enabled()


def place(code):
    return code.co_filename, code.co_qualname


def note_nested(frame):
    """Keep the first arguments of a function that another one has made."""
    if "/superposition/" in frame.f_code.co_filename and place(frame.f_code) not in NESTED:
        NESTED[place(frame.f_code)] = None
        sys.settrace(None)
        try:
            found = received(frame)
            if size(found) <= LARGEST:
                NESTED[place(frame.f_code)] = like(found, as_it_is)
        except Exception:  # an argument of which there is no copy
            pass


@contextmanager
def kept(calls, wanted=None):
    """Keep calls of every function of the wings that begin within, the first ones and others of another kind.

    Where only some are ``wanted``, nothing is copied for the others.
    """
    titles, kinds, offered = {inside.__code__: title for title, _, inside in own_functions()}, {}, {}

    def keep(frame, event, _):
        title = titles.get(frame.f_code)
        if title is None and frame.f_code.co_flags & inspect.CO_NESTED:
            note_nested(frame)
            sys.settrace(keep)
        if title is None or offered.setdefault(title, 0) >= OFFERED:
            return None
        sys.settrace(None)
        try:
            offered[title] += 1
            got, known = calls.setdefault(title, []), kinds.setdefault(title, [])
            found = received(frame)
            new = kind(found)
            if len(got) < KEPT and (len(got) < 2 or new not in known):
                known.append(new)
                needed = size(found) <= LARGEST and (wanted is None or len(got) in wanted.get(title, ()))
                got.append(like(found, as_it_is) if needed else None)
        except Exception:  # an argument of which there is no copy
            got.append(None)
        finally:
            sys.settrace(keep)

    before = sys.gettrace()
    sys.settrace(keep)
    try:
        yield
    finally:
        sys.settrace(before)
