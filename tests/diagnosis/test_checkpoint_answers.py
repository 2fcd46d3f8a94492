"""What the program that lists a checkpoint answers, asked in this process: word for word."""

from pathlib import Path

import numpy as np
import pytest
from superposition.diagnosis import checkpoints, files, objects
from superposition.diagnosis.feature_laws import Population

FILES = Path(__file__).with_name("files")


def tensor(key, *shape, **more):
    stride = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    return {"kind": "Float", "key": key, "offset": 0, "shape": list(shape), "stride": stride, **more}


NOTHING = {"settings": {}, "module": None, "inside": "", "foreign": [], "called": []}
ANSWERS = {
    "instances.pt": NOTHING | {"tensors": {"W": tensor("0", 3, 20, 5), "b_final": tensor("1", 3, 20)}},
    "checkpoint.pt": NOTHING | {
        "tensors": {"encoder.weight": tensor("0", 8, 32), "decoder.weight": tensor("1", 32, 8),
                    "decoder.bias": tensor("2", 32)},
        "settings": {"epoch": 3}, "inside": "['model_state_dict']",
    },
    "whole-model.pt": NOTHING | {"tensors": {}, "module": "__main__.Autoencoder"},
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_a_checkpoint_is_listed(name):
    assert checkpoints._answer(FILES / name) == ANSWERS[name]


def test_a_checkpoint_of_the_old_format_has_the_places_of_its_numbers(tmp_path):
    torch = pytest.importorskip("torch")
    path, W = tmp_path / "old.pt", torch.arange(6.0).reshape(2, 3)
    torch.save({"W": W, "b": W[0] + 1, "steps": [1, 2.5, "x"]}, path, _use_new_zipfile_serialization=False)
    found = checkpoints._answer(path)
    assert found["settings"] == {"steps": [1, 2.5, "x"]} and list(found["tensors"]) == ["W", "b"]
    opened = files.opened(path).arrays
    assert opened["W"].numbers().tolist() == W.tolist() and opened["b"].numbers().tolist() == [1, 2, 3]


def test_numbers_of_every_width_have_their_places_in_the_old_format(tmp_path):
    torch = pytest.importorskip("torch")
    kinds = (torch.float16, torch.float64, torch.bfloat16, torch.int16, torch.float32, torch.int64, torch.uint8)
    saved = {str(kind): torch.arange(1, 6).to(kind) for kind in (*kinds, torch.float32)}
    torch.save(saved, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    opened = files.opened(tmp_path / "old.pt").arrays
    assert {name: opened[name].numbers().tolist() for name in opened} == dict.fromkeys(saved, [1, 2, 3, 4, 5])


def test_settings_are_cut_where_they_are_deep_or_long():
    deep = [7]
    for _ in range(checkpoints.DEEPEST - 1):
        deep = [deep]
    assert checkpoints._plain(deep) == deep and "of list" in str(checkpoints._plain([deep]))
    named = {"a": 7}
    for _ in range(checkpoints.DEEPEST - 1):
        named = {"a": named}
    assert checkpoints._plain(named) == named and "of dict" in str(checkpoints._plain({"a": named}))
    long = [0] * checkpoints.LONGEST
    assert checkpoints._plain(long) == long and checkpoints._plain([*long, 0]) == "of list"
    assert checkpoints._plain("a" * 999) == "a" * checkpoints.LONGEST
    assert (checkpoints._plain(True), checkpoints._plain(None), checkpoints._plain(2.5)) == (True, None, 2.5)
    assert checkpoints._plain(1e300) == "1e+300" and checkpoints._plain(9e299) == 9e299


def test_given_vectors_of_single_precision_are_counted_in_double():
    found = Population.of_vectors(np.full((1000, 2), 0.1, dtype=np.float32))
    assert found.mean.dtype == found.variance.dtype == np.float64
    assert found.mean[0] == pytest.approx(float(np.float32(0.1)), rel=1e-12) and found.law.mean == found.mean[0]


def test_two_results_of_one_shape_are_refused():
    one = np.ones((2, 3))
    assert objects._dense((one, {}), 3) is one and objects._dense(one, 3) is one
    for results in ((one, one), (one, {}, one), (one, 0, one, one)):
        with pytest.raises(ValueError, match=f"a step gives {len(results)} results, more than one of shape"):
            objects._dense(results, 3)
