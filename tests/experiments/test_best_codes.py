"""The points of the runs on the best codes: small ones, against what they are made of."""

from types import SimpleNamespace

import numpy as np
import pytest
from rows import as_read
from superposition import codes, runs, weights
from superposition.experiments import best_codes, compared_codes, led_training, level_walks
from superposition.rug import meanfield


@pytest.mark.thorough
def test_searched_tile_comes_with_the_weights_of_its_loss():
    point = {"m": 2, "B": 4, "p": 0.05, "starts": 8, "kept": 2, "steps": 300, "seed": 1}
    found = as_read("rug-tiles", point, best_codes.searched_tile(**point))
    tile = weights.unpacked(found["weights"])
    assert abs(codes.code_loss(tile["W"], tile["b"], 0.05, rtol=1e-6) - found["loss"]) < 4 * found["loss_se"]
    assert found["over_rug"] == pytest.approx(found["loss"] / float(meanfield.optimum(0.05, 0.5).loss))
    assert found["start"] in ("cone or fan", "unequal", "random")
    assert min(found[f"{kind}_screened"] for kind in ("fan", "unequal", "random")) > 0.1


@pytest.mark.thorough
def test_ablated_autoencoder_is_of_one_piece():
    point = {"ns": 32, "p": 0.1, "r": 0.25, "steps": 600, "samples": 20_000, "seed": 0}
    found = as_read("rug-ablations", point, led_training.ablated_autoencoder(**point))
    assert found["trained"] == pytest.approx(found["trained_loss"] / float(meanfield.optimum(0.1, 0.25).loss))
    assert found["nd"] == 8 and 0.5 < found["trained"] < 1.5
    assert abs(found["refitted"] / found["trained"] - 1) < 0.1  # the same matrix, measured on other vectors


def test_priced_code_under_no_pressure_is_the_code_itself():
    call = {"kind": "rug", "p": 0.05, "samples": 2000, "seed": 0}
    found = as_read("rug-price", call, compared_codes.priced_code(budget="bound", strength=1e9, **call))
    assert found["over_rug"] == found["total_over_rug"] == pytest.approx(1, abs=0.03) and found["r"] == 0.25
    dear = as_read("rug-price", call, compared_codes.priced_code(budget="decay", strength=1e-3, **call))
    assert dear["total_over_rug"] > dear["over_rug"] + 0.2


def test_sized_tile_summarises_its_copies():
    point = {"m": 2, "B": 6, "p": 0.1, "steps": 100, "copies": 4, "seed": 0}
    found = as_read("rug-tile-sizes", point, best_codes.sized_tile(**point))
    assert found["mean"] == pytest.approx(found["loss_mean"] / float(meanfield.optimum(0.1, 1 / 3).loss))
    assert found["best"] <= found["mean"] and found["spread"] > 0 and 0 < found["se"] < 0.1 * found["mean"]


def test_led_network_takes_blocks_and_methods():
    call = {"ratio": 2.0, "ns": 40, "nd": 20, "p": 0.1, "steps": 20, "seed": 0}
    found = [led_training.led_network(method=method, **call) for method in ("blocks", "plain", "fans")]
    assert len({tuple(one) for one in found}) == 1 and np.isfinite([list(one.values()) for one in found]).all()


def test_a_walk_is_never_above_the_mixture_it_begins_at():
    call = {"m": 2, "n": 5, "steps": 40, "seed": 3}
    begun, drawn = (
        as_read("rug-levels", {**call, "start": start}, level_walks.walked_levels(start=start, **call))
        for start in ("mixture", "random")
    )
    assert begun["found"] <= begun["known"] == drawn["known"] == pytest.approx(5 * codes.best_known_constant(0.4))
    assert drawn["found"] >= begun["known"] - 1e-9


def test_recorded_code_is_the_one_in_the_file(monkeypatch):
    def read(name, p):
        return as_read("rug-records", {"p": p}, compared_codes.recorded_code(name=name, p=p))

    found, other, five = read("tile-2-6-p0.05", 0.05), read("tile-2-6-p0.05", 0.5), read("tile-2-5-p0.05", 0.05)
    assert found["over_best"] == pytest.approx(found["loss"] / codes.best_known(0.05, 1 / 3).loss)
    assert found["over_rug"] == pytest.approx(found["loss"] / float(meanfield.optimum(0.05, 1 / 3).loss))
    assert (found["ns"], found["nd"], found["loss_se"]) == (6, 2, 0.0)
    # descent found a swept fan of six at a finite ratio, above its limit; five lie below theirs, and above a chain's
    assert found["loss"] > codes.swept_loss(0.05, 6) and five["loss"] < codes.swept_loss(0.05, 5)
    assert (found["record"], other["record"], five["record"]) == (0, 0, 0)
    monkeypatch.setattr(codes, "best_known", lambda p, r: SimpleNamespace(loss=1.001 * five["loss"], rug=1.0))
    assert read("tile-2-5-p0.05", 0.05)["record"] == 1
    with pytest.raises(ValueError, match="nothing.safetensors is no file"):
        compared_codes.recorded_code(name="nothing", p=0.05)


@pytest.mark.parametrize(
    ("field", "value"), [("m", 1), ("p", 0), ("starts", 3), ("kept", 0), ("steps", 0), ("seed", -1)]
)
def test_a_search_is_refused_by_name_before_it_begins(field, value):
    run = runs.find("rug-tiles")
    good = {name: values[0] for name, values in run.small[0].items()}
    with pytest.raises(ValueError, match=field):
        run.point(**{**good, field: value})
