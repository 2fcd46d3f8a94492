"""Chapter 12's program for a reader's own network: the lines of the page run, on a tiny network in a folder."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers", reason="of the extra real")

PAGE = Path(__file__).resolve().parents[2] / "book" / "ch12.md"
WORDS = 300


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder as a reader has it: a network of two layers and 32 dimensions, its tokenizer, and a text."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = [f"w{number}" for number in range(WORDS)]
    vocabulary = {word: number for number, word in enumerate(["[UNK]", "[PAD]", "[CLS]", "[SEP]", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]").save_pretrained(
        tmp_path / "net"
    )
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    network = transformers.BertModel(transformers.BertConfig(vocab_size=len(vocabulary), **sizes))
    network.save_pretrained(tmp_path / "net")
    rng, rates = np.random.default_rng(0), 1 / np.arange(1, WORDS + 1)
    (tmp_path / "text.txt").write_text(" ".join(rng.choice(words, 40_000, p=rates / rates.sum())))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path


def program():
    """The program as the page has it, with the settings of a reader who has this folder and no GPU."""
    [lines] = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    settings = 'NAME, TEXT, LAYER, DEVICE = "./net", "text.txt", 2, "cpu"'
    lines, changed = re.subn(r"^NAME, TEXT, LAYER, DEVICE = .*$", settings, lines, flags=re.MULTILINE)
    assert changed == 1
    return lines


def test_the_program_of_the_page_runs_on_a_folder_without_a_network(folder, capsys):
    exec(compile(program(), "the program of chapter 12", "exec"), {})
    shown = [line.split(" ", 1) for line in capsys.readouterr().out.splitlines()]
    assert [name for name, _ in shown] == ["random", "dealt", "own", "layer", "gaussian"]
    rows = {name: json.loads(values.replace("'", '"')) for name, values in shown}
    for name in ("random", "dealt", "own"):
        assert rows[name]["dimensions"] == 32 and rows[name]["noise"] == pytest.approx(1, abs=0.05)
        assert rows[name]["both"] == pytest.approx(rows[name]["relu"], rel=0.3)
    for name in ("layer", "gaussian"):
        assert rows[name]["on"] == pytest.approx(rows[name]["measured"], rel=0.25)
        assert rows[name]["false"] < 0.05 * rows[name]["measured"]
    assert sorted(path.name for path in (folder / "real").iterdir()) == [
        "layer-2.safetensors", "vectors-yours-yours.safetensors", "yours-yours.safetensors"
    ]  # fmt: skip
