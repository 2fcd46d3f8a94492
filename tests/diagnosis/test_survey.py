"""A survey of folders: a row of each file, the reasons of those that are refused, twins, effective dimensions."""

import csv
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from superposition import diagnose
from superposition.cli import models
from superposition.diagnosis import survey

FILES = Path(__file__).parent / "files"


def test_every_file_has_a_row_and_a_refused_one_its_reason(tmp_path):
    pytest.importorskip("matplotlib")
    folders = [str(FILES / name) for name in ("sae_lens-topk", "sae_lens-jumprelu", "sae_lens-gated")]
    options = ["--l0", "4", "--table", str(tmp_path / "all.csv"), "--figure", str(tmp_path / "all.svg")]
    done = CliRunner().invoke(models.survey, [*folders, *options])
    assert done.exit_code == 0 and "2 files, and 1 that were refused" in done.stdout
    assert (tmp_path / "all.svg").stat().st_size > 1000
    topk, jump, gated = csv.DictReader((tmp_path / "all.csv").read_text().splitlines())
    assert topk["release"].endswith("files/sae_lens-topk") and float(topk["L0"]) == 3 and float(jump["L0"]) == 4
    assert "gated" in gated["refused"] and not gated["width"] and tuple(topk) == survey.COLUMNS
    found = diagnose(FILES / "sae_lens-topk", samples=200)
    assert float(topk["noise over least"]) == pytest.approx(found.sigma / found.sigma_bound, rel=1e-3)
    assert float(topk["capacity"]) == pytest.approx(found.capacity, rel=1e-3) and int(topk["rank"]) == found.rank


def test_twins_and_effective_dimensions():
    D = np.eye(5)
    assert survey.twins(D) == 0 and survey.effective(D) == pytest.approx(5)
    assert survey.twins(np.hstack([D, 3 * D[:, :2]])) == 4
    assert survey.effective(np.ones((5, 7))) == pytest.approx(1)


def test_layers_are_found_in_paths():
    rows = survey.survey_files(FILES / "sae_lens-gated")
    assert rows[0]["layer"] == ""
    for name, layer in (
        ("layer_20/width_16k", "20"),
        ("layers.11", "11"),
        ("blocks.8.hook_resid_pre", "8"),
        ("L15R", "15"),
    ):
        assert survey._place(Path("release") / name / "sae.safetensors")[1] == layer


@pytest.mark.parametrize("folder", ["nowhere", "."])
def test_a_survey_of_nothing_is_refused(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(models.survey, [folder, "--table", "all.csv"])
    assert done.exit_code == 2 and "; allowed: " in done.output and not (tmp_path / "all.csv").exists()


def test_every_file_is_diagnosed_with_what_was_asked_for(monkeypatch):
    def refused(path, **how):
        asked.append((path.parent.name, how))
        raise ValueError("it is none; allowed: another")

    asked, told = [], []
    monkeypatch.setattr(survey.autoencoder, "diagnose", refused)
    folders = [FILES / "sae_lens-topk", FILES / "sae_lens-jumprelu"]
    rows = survey.survey_files(folders, l0=2.5, seed=7, progress=lambda *at: told.append(at))
    more = {"samples": survey.SAMPLES, "seed": 7}
    assert asked == [("sae_lens-topk", {"l0": None, **more}), ("sae_lens-jumprelu", {"l0": 2.5, **more})]
    assert told == [(1, 2), (2, 2)] and [row["refused"] for row in rows] == ["it is none; allowed: another"] * 2


def test_a_survey_may_be_told_of_less_than_one_latent(monkeypatch):
    monkeypatch.setattr(survey, "_row", lambda path, l0, seed: {"L0": l0, "dead": seed})
    assert survey.survey_files(FILES / "tied-wide.npz", l0=0.5) == [{"L0": 0.5, "dead": 0}]
    with pytest.raises(ValueError, match=r"l0 = 0 is out of range; allowed: \(0, 1e\+30\]"):
        survey.survey_files(FILES / "tied-wide.npz", l0=0)


def test_a_row_holds_what_the_diagnosis_found_and_nothing_where_there_is_nothing(monkeypatch):
    known = {
        "p": None, "ns": 7, "nd": 3, "sigma": 0.5, "sigma_bound": 0.2, "partners": 2.5, "rank": 3, "capacity": 1.25,
        "kind": np.array(["dead", "own", "dead"]),
    }  # fmt: skip
    W = SimpleNamespace(W_in=np.hstack([np.eye(3), np.eye(3)[:, :1]]), layout="a layout")
    unread = SimpleNamespace(W_in=None, layout="a layout")
    row = {"layout": "a layout", "width": 7, "inputs": 3, "rank": 3, "dead": 2, "refused": ""}
    numbers = {"partners": 2.5, "capacity": 1.25}
    both = {"noise over least": 2.5, "twins": 2, "effective dimensions": survey._short(survey.effective(W.W_in))}
    for other, expected in (
        ({"weights": W}, {**both, "L0": 0}),
        ({"weights": W, "p": 0.5, "sigma_bound": 0.0}, {**both, "L0": 3.5, "noise over least": ""}),
        ({"weights": unread}, {"L0": 0, "twins": "", "effective dimensions": ""}),
    ):
        got = SimpleNamespace(**known | other)
        monkeypatch.setattr(survey.autoencoder, "diagnose", lambda *_, got=got, **__: got)
        found = survey._row(FILES / "sae_lens-topk" / "sae_weights.safetensors", 4, 0)
        wanted = row | numbers | expected
        assert {name: found[name] for name in wanted} == wanted
