"""The list of tensors in a file of `torch.save`, read in a process of its own in which no name of the file is executed.

Source: ours. Every class or function that the pickle names becomes an inert record, so nothing is called. `listing`
starts this module as a program, with limits on memory and time; the program prints what it found as JSON: ``tensors``
(format, place of the storage, offset, shape, strides), ``settings`` (plain values beside them), ``called`` (names that
are not data). The program itself needs the standard library alone, no torch.
"""

from __future__ import annotations

import _compat_pickle
import io
import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

SECONDS, BYTES = 1, 2**30  # of the program: of its processor, of its memory
WAIT = 20  # seconds that a busy machine may take for it
MOST_PICKLE = 2**24  # bytes of the pickle beside the numbers
MOST_NAMES = 10_000
DEEPEST, LONGEST = 6, 200  # settings inside settings, and how many of them or letters in one
INNER = ("state_dict", "model_state_dict", "model", "weights", "params", "module", "sae", "autoencoder")
CONFIGS = ("cfg", "config", "hyper_parameters", "hparams", "args")  # where a checkpoint keeps its settings
KINDS = {
    "Double": "F64", "Float": "F32", "Half": "F16", "BFloat16": "BF16", "Long": "I64", "Int": "I32", "Short": "I16",
    "Char": "I8", "Byte": "U8", "Bool": "BOOL",
}  # fmt: skip
STANDARD = sys.stdlib_module_names | {"builtins"}
TENSORS = frozenset(
    """float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128
 float8_e4m3fn float8_e5m2 per_tensor_affine strided _get_layout""".split()
)  # of torch: numbers, other tensors
DATA = ("torch", "collections", "numpy", "pathlib", "argparse", "datetime", "_codecs", "enum", "omegaconf", "typing")
CALLS = {"_codecs.encode", "numpy.core.multiarray.scalar", "numpy._core.multiarray.scalar", "numpy.dtype",
         "numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct", "torch.device", "torch.Size",
         "builtins.set", "builtins.slice", "builtins.complex", "builtins.bytearray", "builtins.frozenset"}  # fmt: skip


def listing(path: Path) -> dict[str, Any]:
    """The program's result, or a ValueError that says why there is none."""
    command = [sys.executable, "-I", "-S", __file__, str(path)]
    try:
        ran = subprocess.run(command, capture_output=True, timeout=WAIT, check=False)
        found = json.loads(ran.stdout)
    except subprocess.TimeoutExpired:
        raise ValueError(f"more than {WAIT} seconds") from None
    except ValueError:  # killed by a limit: no answer
        raise ValueError(f"more than {SECONDS} second or {BYTES >> 20} MB for the names of its tensors") from None
    if "error" in found:
        raise ValueError(found["error"])
    return found


class _Inert:
    """A placeholder for a class or function of the file: it keeps its arguments and does nothing."""

    origin = ""
    state: Any = None

    def __new__(cls, *args: object, **kwargs: object) -> _Inert:
        return object.__new__(cls)

    def __setstate__(self, state: object) -> None:
        self.state = state

    def __setitem__(self, name: object, value: object) -> None:
        """Keep nothing: a container of a foreign class is not a setting."""

    def append(self, value: object) -> None:
        """Keep nothing."""

    extend = append

    def __hash__(self) -> int:
        return id(self)


class _Dict(dict):
    """A dictionary whose further attributes, such as the metadata of a state dictionary, are left out."""

    def __setstate__(self, state: object) -> None:
        """Keep nothing."""


class _Tensor:
    """Where the numbers of a tensor are."""

    def __init__(self, storage, offset, shape, stride):
        self.place = {"kind": storage[0], "key": storage[1], "offset": offset, "shape": shape, "stride": stride}
        self.numel = storage[2]


def _rebuilt(storage, offset, shape, stride, *rest):
    return _Tensor(storage, int(offset), [int(n) for n in shape], [int(n) for n in stride])


def _rebuilt_v3(storage, offset, shape, stride, grad, hooks, dtype, *rest):
    return _rebuilt((dtype.origin.rpartition(".")[2], *storage[1:]), offset, shape, stride)


def _unreadable(kind):
    return lambda *args: _Tensor((kind, "", 0), 0, [1], [1])


def _parameter(data, *rest):
    return data


def _of_type(function, kind, args, state):
    return function(*args) if function in (_rebuilt, _rebuilt_v3, _parameter) else _Inert()


KNOWN = {
    "torch._utils._rebuild_tensor_v2": _rebuilt, "torch._utils._rebuild_tensor": _rebuilt,
    "torch._utils._rebuild_tensor_v3": _rebuilt_v3, "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter, "torch._tensor._rebuild_from_type_v2": _of_type,
    "torch._utils._rebuild_sparse_tensor": _unreadable("sparse"),
    "torch._utils._rebuild_qtensor": _unreadable("quantised"),
    "torch._utils._rebuild_sparse_csr_tensor": _unreadable("sparse"),
    "torch._utils._rebuild_meta_tensor_no_storage": _unreadable("meta"),
    "collections.OrderedDict": _Dict, "collections.defaultdict": lambda *args: _Dict(), "torch.Size": list,
}  # fmt: skip


class _Reader(pickle.Unpickler):
    """Tensors become places, known containers themselves, every other name an inert record."""

    def __init__(self, file, names):
        super().__init__(file, encoding="utf-8", errors="replace")
        self.names = names

    def find_class(self, module: str, name: str) -> Any:
        module, name = _compat_pickle.NAME_MAPPING.get((module, name), (module, name))  # protocol 2 has Python 2's
        origin = f"{_compat_pickle.IMPORT_MAPPING.get(module, module)}.{name}"
        if origin in KNOWN:
            return KNOWN[origin]
        self.names.add(origin)
        return type("Inert", (_Inert,), {"origin": origin})

    def persistent_load(self, pid: Any) -> tuple[str, str, int]:
        _, kind, key, _, numel = pid[:5]
        return kind.origin.rpartition(".")[2].removesuffix("Storage"), str(key), int(numel)


def _read(path):
    """The object of a file, the names in it, and where its storages are: None in a zip, or key → position."""
    names: set[str] = set()
    with open(path, "rb") as file:
        if file.read(2) == b"PK":
            with zipfile.ZipFile(path) as archive:
                part = next((one for one in archive.infolist() if one.filename.split("/")[-1] == "data.pkl"), None)
                if part is None:
                    raise ValueError("a zip file without data.pkl")
                if part.file_size > MOST_PICKLE:
                    raise ValueError(f"{part.file_size >> 20} MB of names; allowed: {MOST_PICKLE >> 20} MB")
                return _Reader(io.BytesIO(archive.read(part)), names).load(), names, None
        file.seek(0)
        return _old(file, names)


def _old(file, names):
    """The form before torch 1.6: magic number, protocol, system, object, keys, and each storage after its length."""
    magic = _Reader(file, names).load()
    if magic != 0x1950A86A20F9469CFC6C:
        return magic, names, {}  # a plain pickle
    for _ in range(2):
        _Reader(file, names).load()
    found = _Reader(file, names).load()
    keys, at = _Reader(file, names).load(), {}
    sizes = {one.place["key"]: one for one in _tensors(found)}
    for key in keys:
        (count,) = (int.from_bytes(file.read(8), "little"),)
        at[str(key)] = file.tell()
        one = sizes.get(str(key))
        width = {"64": 8, "32": 4, "16": 2}.get((KINDS.get(one.place["kind"], "I8") if one else "I8")[-2:], 1)
        file.seek(count * width, 1)
    return found, names, at


def _tensors(found, depth=0):
    if isinstance(found, _Tensor):
        yield found
    if isinstance(found, dict) and depth < DEEPEST:
        for one in found.values():
            yield from _tensors(one, depth + 1)


def _plain(value, depth=0):
    """A setting in the types of JSON, cut where it is long."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return value if abs(value) < 1e300 else str(value)[:LONGEST]
    if isinstance(value, str):
        return value[:LONGEST]
    if isinstance(value, _Tensor):
        return f"a tensor {value.place['shape']}"[:LONGEST]
    if isinstance(value, _Inert) and isinstance(value.state, dict):
        value = value.state
    if depth < DEEPEST and isinstance(value, dict) and len(value) <= LONGEST:
        return {str(name)[:LONGEST]: _plain(one, depth + 1) for name, one in value.items()}
    if depth < DEEPEST and isinstance(value, (list, tuple)) and len(value) <= LONGEST:
        return [_plain(one, depth + 1) for one in value]
    return f"of {type(value).__name__ if not isinstance(value, _Inert) else value.origin}"[:LONGEST]


def _weights(found):
    """The tensors by name and the settings beside and around them; or a whole model and its place in the file."""
    settings, seen, way = {}, [], ""
    while isinstance(found, dict) and not any(found is one for one in seen):
        seen.append(found)
        if len(found) > MOST_NAMES:
            raise ValueError(f"{len(found)} names; allowed: {MOST_NAMES}")
        inner = next((name for name in INNER if name in found and _holds(found[name])), None)
        for name, one in found.items():
            if name != inner and (inner is not None or not isinstance(one, _Tensor)):
                settings.update(_setting(str(name)[:LONGEST], one))
        if inner is None:
            return {str(name): one for name, one in found.items() if isinstance(one, _Tensor)}, settings, None, way
        found, way = found[inner], f"{way}['{inner}']"
    return {}, settings, found if _holds(found) and not isinstance(found, dict) else None, way


def _holds(one):
    return isinstance(one, dict) or isinstance(one, _Inert) and _is_module(one)


def _setting(name, one):
    """A setting by its name; for a configuration, object or dictionary, each of its fields."""
    one = one.state if isinstance(one, _Inert) and isinstance(one.state, dict) else one
    spread = name in CONFIGS and isinstance(one, dict) and len(one) <= LONGEST
    return _plain(one) if spread else {name: _plain(one)}


def _is_module(one):
    return isinstance(one.state, dict) and {"_modules", "_parameters"} <= one.state.keys()


def _called(names):
    """Names in the pickle that are not data: functions, and names from the standard library or builtins."""
    return sorted(name[:LONGEST] for name in names if not _is_data(name))


def _is_data(name):
    root, last = name.split(".")[0], name.rpartition(".")[2]
    if name in CALLS or name.startswith("torch.storage") or root == "torch" and last in TENSORS:
        return True
    return (root in DATA or root not in STANDARD) and last.lstrip("_")[:1].isupper()


def _answer(path):
    found, names, at = _read(path)
    called = _called(names)
    foreign = sorted(
        name for name in names if not name.startswith(("torch.", "collections.", "builtins.", "__main__."))
    )
    if called:
        return {"called": called}
    tensors, settings, module, way = _weights(found)
    places = {
        name: one.place | ({} if at is None else {"at": at.get(one.place["key"])}) for name, one in tensors.items()
    }
    return {"tensors": places, "settings": settings, "module": None if module is None else module.origin[:LONGEST],
            "inside": way, "foreign": [name[:LONGEST] for name in foreign][:20], "called": []}  # fmt: skip


def _limited():
    try:
        import resource
    except ImportError:  # a system without it: the time limit of `listing` is left
        return
    for what, most in ((resource.RLIMIT_AS, BYTES), (resource.RLIMIT_CPU, SECONDS)):
        resource.setrlimit(what, (most, most))


def main() -> None:
    """Print as JSON what is in the file that the command names."""
    _limited()
    try:
        found = _answer(sys.argv[1])
    except MemoryError:
        found = {"error": f"more than {BYTES >> 20} MB for the names of its tensors"}
    except Exception as error:  # whatever a damaged pickle raises
        found = {"error": f"{type(error).__name__}: {error}"[:LONGEST]}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
