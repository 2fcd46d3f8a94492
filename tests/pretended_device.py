"""A second device without an accelerator: its tensors compute on the CPU, and say and insist that they are elsewhere.

What CUDA refuses is refused, tensors of two devices in one operation; what an accelerator waits for is counted. A
device is registered for a whole process, and "auto" then takes it, so tests use it in a process of its own.
"""

from collections import Counter

import torch
from torch.utils import _pytree as pytree
from torch.utils import backend_registration

NAME = "pretended"
aten = torch.ops.aten
FETCHES = (aten._local_scalar_dense, aten.is_nonzero, aten.equal, aten.nonzero, aten.masked_select)
INDEXED = (aten.index, aten.index_put_, aten.index_put, aten._index_put_impl_)
COPIES = (aten.copy_, aten._copy_from)
OVERWRITTEN = (aten.uniform_, aten.zero_, aten.fill_)
seen = Counter()


class There(torch.Tensor):
    """A tensor of the pretended device, around the one of the CPU that holds its numbers."""

    @staticmethod
    def __new__(cls, raw):
        layout = {"strides": raw.stride(), "storage_offset": raw.storage_offset(), "dtype": raw.dtype}
        made = torch.Tensor._make_wrapper_subclass(cls, raw.size(), device=torch.device(NAME, 0), **layout)
        made.raw = raw.detach()
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return run(operation, *args, **(kwargs or {}))


def raw(value):
    """What lies on the CPU, of a tensor of either device."""
    return value.raw if isinstance(value, There) else value


def moved(source, way):
    """Count a copy between the two; one to the host is a fetch, which waits for all work before it."""
    seen[f"bytes to the {way}"] += source.numel() * source.element_size()
    seen["fetches"] += way == "host"


def copied(target, source):
    """Copy into a tensor of either device."""
    if isinstance(target, There) != isinstance(source, There):
        moved(source, "device" if isinstance(target, There) else "host")
    with torch.no_grad():
        raw(target).copy_(raw(source))
    return target


def refuse_mixing(operation, args, tensors):
    """Refuse tensors of two devices, as CUDA does; an index on the host may choose on the device, and is moved."""
    near = [tensor for tensor in tensors if not isinstance(tensor, There) and tensor.dim() > 0]
    if not near or len(near) == len(tensors):
        return
    if operation.overloadpacket in INDEXED and all(isinstance(args[i], There) for i in (0, *range(2, len(args[:3])))):
        return moved(near[0], "device")
    raise RuntimeError(f"{operation}: tensors on {NAME}:0 and on cpu, of shapes {[tuple(one.shape) for one in near]}")


def chooses(operation, args):
    """Whether an index is a mask, of which the host must know how many are true."""
    return operation.overloadpacket in INDEXED and any(one is not None and one.dtype == torch.bool for one in args[1])


def work(operation, args, kwargs, result):
    """Count an operation: its launch, the bytes that it reads and writes, the sums of products that it takes."""
    given = [one for one in pytree.tree_leaves(args) if isinstance(one, torch.Tensor)]
    made = [one for one in pytree.tree_leaves(result) if isinstance(one, torch.Tensor)]
    places = {one.untyped_storage().data_ptr() for one in given}
    in_place = operation.overloadpacket.__name__.endswith("_") or "out" in kwargs or "grad_input" in kwargs
    if not given or (made and not in_place and all(one.untyped_storage().data_ptr() in places for one in made)):
        return  # made of nothing, or a view
    if operation.overloadpacket in OVERWRITTEN or (
        operation.overloadpacket is aten.addmm_ and not kwargs.get("beta", 1)
    ):
        given = given[1:]
    adam = operation.overloadpacket is aten._fused_adam_
    moved = [*given, *made] if not adam else [one for i in (0, 0, 1, 2, 2, 3, 3) for one in args[i]]
    seen["launches"] += 1
    seen["bytes in memory"] += sum(one.numel() * one.element_size() for one in moved)
    if operation.overloadpacket in (aten.mm, aten.addmm, aten.addmm_):
        left, right = given[-2:]
        seen["operations"] += 2 * left.shape[0] * left.shape[1] * right.shape[1]


def run(operation, *args, **kwargs):
    """Compute on the CPU what an operation asks of this device."""
    tensors = [t for t in pytree.tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
    there = [tensor for tensor in tensors if isinstance(tensor, There)]
    goal, stays = kwargs.get("device"), bool(there)
    if operation.overloadpacket in COPIES:
        return copied(*(args[:2] if operation.overloadpacket is aten.copy_ else args[1::-1]))
    seen["fetches"] += operation.overloadpacket in FETCHES or chooses(operation, args)
    near_args, near_kwargs = pytree.tree_map(raw, (args, kwargs))
    near_kwargs.pop("pin_memory", None)
    if goal is not None:
        stays, near_kwargs["device"] = torch.device(goal).type == NAME, torch.device("cpu")
    if operation.overloadpacket is aten._to_copy and stays != bool(there):
        moved(args[0], "device" if stays else "host")
    elif there:
        refuse_mixing(operation, args, tensors)
    with torch.no_grad():
        result = operation(*near_args, **near_kwargs)
    if stays:
        work(operation, near_args, near_kwargs, result)
    known = {id(one.raw): one for one in there}  # what is changed in place stays the same object
    back = lambda one: known[id(one)] if id(one) in known else There(one)  # noqa: E731
    return pytree.tree_map(lambda one: back(one) if isinstance(one, torch.Tensor) and stays else one, result)


def register():
    """Make torch know the device, for the whole process."""
    backend_registration._setup_privateuseone_for_python_backend(NAME)
    library = torch.library.Library("_", "IMPL")
    library.fallback(run, "PrivateUse1")
    return library


def counted(call):
    """What a call gives, and what it counted."""
    seen.clear()
    return call(), dict(seen)
