"""Damaged and hostile files: each ends in a sentence or in the right numbers, soon and in little memory."""

import gc
import json
import os
import pickle
import re
import shutil
import struct
import subprocess
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from superposition.diagnosis import files, reading, weights

FILES = Path(__file__).parent / "files"
SAMPLES = sorted(path for path in FILES.rglob("*") if path.suffix in (*files.ENDINGS, ".json"))
SAMPLES = [path for path in SAMPLES if path.name != "origin.json"]
LONGEST = 2500  # letters of a refusal: the lines that convert and the list of layouts are 800 of them


def ends_well(path, **options):
    """The weights, or the one sentence, within a second."""
    gc.disable()  # a search for garbage among all that other tests have left may take longer than that
    start = time.process_time()
    try:
        found = reading.read(path, **options)
    except ValueError as error:
        found = str(error)
        assert len(found) < LONGEST and all(line.isprintable() for line in found.split("\n"))
        assert found.startswith(("path = ", "instance = "))
    finally:
        gc.enable()
    assert time.process_time() - start < 1
    return found


def damaged(content, rng):
    """A flip, a cut, a splice, or a piece of another place."""
    content, at = bytearray(content), int(rng.integers(len(content)))
    kind, length = rng.integers(4), int(rng.integers(1, 64))
    if kind == 0:
        for place in rng.integers(len(content), size=int(rng.integers(1, 9))):
            content[place] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        del content[at:]
    elif kind == 2:
        del content[at : at + length]
    else:
        other = int(rng.integers(len(content)))
        content[at : at + length] = content[other : other + length]
    return bytes(content)


def fuzzed(tmp_path, number, seed):
    """Damaged copies of the samples, each beside the settings of its folder."""
    rng = np.random.default_rng(seed)
    for i in range(number):
        sample = SAMPLES[rng.integers(len(SAMPLES))]
        folder = tmp_path / str(i)
        if sample.parent == FILES:
            folder.mkdir()
            shutil.copy(sample, folder)
        else:
            shutil.copytree(sample.parent, folder)
        (folder / sample.name).write_bytes(damaged(sample.read_bytes(), rng))
        yield folder if sample.suffix == ".json" else folder / sample.name


def check_fuzzed(tmp_path, number, seed):
    kinds = {str: 0, weights.Weights: 0}
    for path in fuzzed(tmp_path, number, seed):
        kinds[type(ends_well(path))] += 1
    assert min(kinds.values()) > number / 50  # a bit of a weight may flip; most other damage is noticed
    return kinds


def test_a_hundred_damaged_files_end_in_a_sentence(tmp_path):
    check_fuzzed(tmp_path, 100, 0)


@pytest.mark.thorough
def test_two_thousand_damaged_files_end_in_a_sentence(tmp_path):
    check_fuzzed(tmp_path, 2000, int(time.time()) // 86_400)


class Caller:
    """What asks for a function to be called as soon as it is unpickled."""

    def __init__(self, function):
        self.function = function

    def __reduce__(self):
        return self.function, (f"touch {Path(__file__).parent / 'executed'}",)


@pytest.mark.parametrize(
    ("function", "name"), [(os.system, "posix.system"), (eval, "builtins.eval"), (subprocess.Popen, "subprocess.Popen")]
)
def test_a_pickle_that_calls_is_refused_by_what_it_calls_and_without_advice(function, name, tmp_path):
    (tmp_path / "plain.pt").write_bytes(pickle.dumps({"W": Caller(function)}))
    paths = [tmp_path / "plain.pt"]
    with zipfile.ZipFile(tmp_path / "model.pt", "w") as archive:
        archive.writestr("model/data.pkl", pickle.dumps({"W": Caller(function)}))
    paths.append(tmp_path / "model.pt")
    for path in paths:
        said = ends_well(path)
        assert f"wants to call {name}; allowed: weights, which call nothing" in said and "torch.load" not in said
    assert not (Path(__file__).parent / "executed").exists()


def header(path, names, data=b""):
    content = names if isinstance(names, bytes) else json.dumps(names).encode()
    path.write_bytes(struct.pack("<Q", len(content)) + content + data)
    return path


def one(kind="F32", shape=(2,), offsets=(0, 8)):
    return {"W": {"dtype": kind, "shape": list(shape), "data_offsets": list(offsets)},
            "b": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}  # fmt: skip


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (one("F4", (4, 2), (0, 4)), "numbers of the format F4"), (one("F8_E4M3", (4, 2)), "of the format F8_E4M3"),
        (one(shape=(True, 2)), "outside of the file"), (one(shape=(2**40, 2**40)), "in 8 bytes"),
        (one(offsets=(0, 2**60)), "outside of the file"), (one(shape=(2, 0)), "in 8 bytes"),
        (b"[" * 100_000, "RecursionError"), (b"[1, 2]", "cannot be read"), (b'{"W": 3}', "cannot be read"),
        (b'{"W\\u001b]0;x\\u0007": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}', r"W\\x1b"),
        (dict.fromkeys(map("n{}".format, range(20_000)), one()["b"]), "20000 arrays; allowed: 10000"),
        (dict.fromkeys(map("n{}".format, range(9000)), one()["b"]), "holds n0"),
        (dict.fromkeys(map("n{}".format, range(200_000)), one()["b"]), "is no safetensors file"),
    ],
)  # fmt: skip
def test_headers_of_safetensors(content, said, tmp_path):
    found = ends_well(header(tmp_path / "model.safetensors", content, b"0" * 8))
    assert re.search(said, found)


def npz(path, text, data=b"0" * 200, **kind):
    text = text.encode() + b"\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data
    with zipfile.ZipFile(path, "w", **kind) as archive:
        archive.writestr("W.npy", content)
        archive.writestr("b.npy", content)
    return path


@pytest.mark.parametrize(
    "text",
    [f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({2**70},)}}", "{'descr': '<f4', 'fortran_order': False, "
     "'shape': (True, 12)}", "__import__('os').system('touch executed')", "{'descr': " + "[" * 5000,
     "{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", ""],
)  # fmt: skip
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_LZMA])
def test_headers_of_npz(text, method, tmp_path):
    assert isinstance(ends_well(npz(tmp_path / "model.npz", text, compression=method)), str)


def test_a_bomb_beside_good_weights_is_not_unpacked(tmp_path):
    np.savez_compressed(tmp_path / "bomb.npz", W=np.ones((3, 8)), b=np.zeros(8), more=np.zeros(2**25))
    assert "is packed 1" in ends_well(tmp_path / "bomb.npz")


def test_every_kind_of_tensor_ends_well(tmp_path):
    torch = pytest.importorskip("torch")
    W, b = torch.randn(3, 8, generator=torch.Generator().manual_seed(0)), torch.zeros(8)
    kinds = {
        "float8": W.to(torch.float8_e4m3fn), "sparse": W.to_sparse(), "meta": W.to("meta"),
        "Complex": torch.complex(W, W).conj(), "overlap": torch.ones(1, 1).expand(60_000, 60_000),
    }  # fmt: skip
    for name, tensor in kinds.items():
        torch.save({"W": tensor, "b": b}, tmp_path / f"{name}.pt")
        assert name in ends_well(tmp_path / f"{name}.pt").replace(f"{name}.pt", "")
    for tensor in (W, W.bfloat16(), W.half(), torch.nn.Parameter(W.T.clone()).T):
        for new in (True, False):
            torch.save({"W": tensor, "b": b}, tmp_path / "good.pt", _use_new_zipfile_serialization=new)
            found = reading.read(tmp_path / "good.pt")
            np.testing.assert_array_equal(found.W_in, tensor.detach().float().numpy())


def test_a_dictionary_that_holds_itself_and_one_that_is_deep_end(tmp_path):
    inside = {"epoch": 1}
    inside["model"] = inside
    for name, found in (("self", inside), ("deep", deep(200)), ("wide", doubled(40))):
        (tmp_path / f"{name}.pt").write_bytes(pickle.dumps(found))
        assert isinstance(ends_well(tmp_path / f"{name}.pt"), str)


def deep(levels):
    found = {}
    for _ in range(levels):
        found = {"model": found}
    return found


def doubled(levels):
    found = ()
    for _ in range(levels):
        found = (found, found)
    return {"model": found}


def test_a_pickle_that_asks_for_memory_or_time_is_stopped(tmp_path):
    (tmp_path / "memory.pt").write_bytes(b"\x80\x02}r\xff\xff\xff\x7f.")  # a memo of 2^31 places
    key = pickle.dumps(doubled(30)["model"], 2)[2:-1]  # its hash has 2^30 steps
    (tmp_path / "time.pt").write_bytes(b"\x80\x02}" + key + b"K\x01s.")
    assert isinstance(ends_well(tmp_path / "memory.pt"), str)
    assert "more than" in ends_well(tmp_path / "time.pt")


def test_settings_of_a_stranger_end_well(tmp_path):
    save_file({"W": np.eye(3), "b": np.zeros(3)}, tmp_path / "model.safetensors")
    for content in (b"[" * 100_000, b"\xff\xfe", b"[1]", b'{"architecture": "\\u001b]0;x\\u0007"}', b" " * 2**21):
        (tmp_path / "cfg.json").write_bytes(content)
        assert isinstance(ends_well(tmp_path), str)


def test_a_folder_of_ten_thousand_files_is_refused_in_a_sentence(tmp_path):
    for i in range(3000):
        (tmp_path / f"{i}.pt").touch()
    assert len(ends_well(tmp_path)) < 500


def test_arrays_of_a_stranger_s_dictionary_end_well():
    for arrays in ({"W": "text", "b": 3}, {1: np.eye(2)}, {"W": np.zeros((0, 12)), "b": np.zeros(12)}, {}):
        with pytest.raises(ValueError, match="the weights"):
            reading.read(arrays)
