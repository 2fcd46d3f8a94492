"""The declarations are read once, and are the same for every page."""

import ast
import importlib
import json
import re
from dataclasses import FrozenInstanceError, asdict, fields, replace
from pathlib import Path

import pytest
from superposition import runs
from superposition.book import declarations, ledger

ROOT = Path(__file__).parents[2]


def test_a_claim_cannot_be_changed_by_the_page_that_reads_it():
    claim = declarations.declared()["rug.eq5"]
    assert claim is declarations.declared()["rug.eq5"]
    for field in fields(claim):
        with pytest.raises(FrozenInstanceError):
            setattr(claim, field.name, "holds")


def test_a_claim_knows_its_text():
    texts = {claim.text for claim in declarations.declared().values()}
    assert texts == {*declarations.TEXTS} and declarations.declared()["rug.eq5"].text == "rug"


def written(folder, name="rug.eq5", **changed):
    entry = {"place": "here", "statement": "so", "whose": "printed", "quote": "so", "kind": "equation"}
    entry |= {"verdict": "holds", "chapter": "ch3"} | changed
    given = {field: value for field, value in entry.items() if value is not None}
    lines = [f'["{name}"]', *(f"{field} = {json.dumps(value)}" for field, value in given.items())]
    (folder / "claims.toml").write_text("\n".join(lines))


@pytest.mark.parametrize(
    ("name", "changed", "said"),
    [
        ("rugs.eq5", {}, "text of rugs.eq5 = 'rugs' is unknown; allowed: toy, rug"),
        ("rug.eq5", {"kind": "theorem"}, "kind of rug.eq5 = 'theorem' is unknown; allowed: equation"),
        ("rug.eq5", {"verdict": "true"}, "verdict of rug.eq5 = 'true' is unknown; allowed: holds"),
        ("rug.eq5", {"whose": "theirs"}, "whose of rug.eq5 = 'theirs' is unknown; allowed: printed"),
        ("rug.eq5", {"quote": ""}, "quote of rug.eq5 = ''; allowed: one if printed"),
        ("rug.eq5", {"whose": "completion"}, "quote of rug.eq5 = 'so'; allowed: one if printed"),
        ("rug.eq5", {"status": "proved"}, "status of rug.eq5 = 'proved'; allowed: none, it is not ours"),
        ("rug.eq5", {"whose": "ours", "quote": "", "status": "sure"}, "status of rug.eq5 = 'sure' is unknown; allowed"),
        (
            "rug.eq5",
            {"whose": "ours", "verdict": "refuted"},
            "verdict of rug.eq5 = 'refuted' is none for whose = 'ours'",
        ),
        (
            "rug.eq5",
            {"whose": "completion", "verdict": "misprint"},
            "'misprint' is none for whose = 'completion'; allowed",
        ),
        ("rug.eq5", {"whose": "ours", "quote": "", "status": "proved"}, "proof of rug.eq5 = ''; allowed: the label"),
        ("rug.eq5", {"proof": "thm-plane"}, "proof of rug.eq5 = 'thm-plane'; allowed: .* if proved, else none"),
        ("rug.eq5", {"statment": "so"}, "field of rug.eq5 = 'statment' is unknown; allowed: place, statement"),
        ("rug.eq5", {"kind": None}, "kind of rug.eq5 is missing"),
        ("rug.eq5", {"place": 3}, "place of rug.eq5 = 3; allowed: a text"),
        ("rug.eq5", {"whose": "question"}, "'holds' is none for whose = 'question'; allowed: completed, open"),
    ],
)
def test_an_unknown_word_or_one_that_does_not_fit_is_refused(monkeypatch, tmp_path, name, changed, said):
    written(tmp_path, name, **changed)
    monkeypatch.setattr(declarations.resources, "files", lambda package: tmp_path)
    with pytest.raises(ValueError, match=f"^claims.toml: .*{said}"):
        declarations.declared.__wrapped__()


def test_what_is_shown_of_ours_is_its_status(monkeypatch, tmp_path):
    written(tmp_path, whose="ours", quote="", status="proved", proof="thm-a", verdict="completed")
    monkeypatch.setattr(declarations.resources, "files", lambda package: tmp_path)
    assert declarations.declared.__wrapped__()["rug.eq5"].judged == "ours, proved"
    assert declarations.declared()["rug.monotone"].judged == declarations.CONDITION


def test_one_quotation_has_one_verdict():
    verdicts = {}
    for claim in declarations.declared().values():
        if len(claim.quote) > 20:  # shorter ones introduce a formula
            verdicts.setdefault(claim.quote, set()).add(claim.verdict)
    assert not {quote for quote, found in verdicts.items() if len(found) > 1}


def test_every_checked_claim_has_a_finding_that_is_one_plain_sentence():
    executed = {row.id for page in (ROOT / "book").glob("*.ipynb") for row in ledger.records(page)}
    for name in executed:
        finding = declarations.declared()[name].finding
        assert 4 <= len(finding.split()) <= 26, f"{name}: what did its checks find, in words?"
        assert finding[0] == finding[0].upper() and finding[-1] not in ".:;," and ". " not in finding, name
        assert not re.search(r"[$\\`]|\w_\{|\d\.\d{4,}", finding.replace("1.7586", "")), f"{name}: words, no formula"


def test_every_sweeping_sentence_of_ours_was_attacked():
    wanting = {claim.id for claim in declarations.declared().values() if claim.sweeping and not claim.attack}
    assert not wanting, f"an attack, or a sentence without {declarations.SWEEPING.pattern}"


def test_the_code_and_the_test_of_every_attack_exist():
    for claim in declarations.declared().values():
        if claim.attack and not claim.attack.needless:
            module, _, name = claim.attack.code.partition(":")
            assert module in runs.RUNS if not name else callable(getattr(importlib.import_module(module), name)), (
                claim.id
            )
            file, _, test = claim.attack.test.partition("::")
            written = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
            assert test in {node.name for node in written if isinstance(node, ast.FunctionDef)}, f"{claim.id}: {test}"


ATTACK = {"rival": "a", "code": "b", "effort": "c", "result": "d", "test": "e"}


@pytest.mark.parametrize("given", [ATTACK, {"needless": "a definition"}])
def test_an_attack_is_read(monkeypatch, tmp_path, given):
    assert read_with_attack(monkeypatch, tmp_path, given) == {**dict.fromkeys([*ATTACK, "needless"], ""), **given}


@pytest.mark.parametrize(
    "given", [{}, {"rival": "a"}, {**ATTACK, "test": ""}, {**ATTACK, "needless": "f"}, {"why": "g"}]
)
def test_half_an_attack_is_refused(monkeypatch, tmp_path, given):
    with pytest.raises(
        ValueError, match="^claims.toml: attack of rug.eq5 = .*; allowed: texts rival, code, .*needless"
    ):
        read_with_attack(monkeypatch, tmp_path, given)


def read_with_attack(monkeypatch, folder, given):
    written(folder)
    table = ", ".join(f"{field} = {json.dumps(text)}" for field, text in given.items())
    with (folder / "claims.toml").open("a") as file:
        file.write(f"\nattack = {{ {table} }}")
    monkeypatch.setattr(declarations.resources, "files", lambda package: folder)
    return asdict(declarations.declared.__wrapped__()["rug.eq5"].attack)


def test_what_is_proved_or_printed_needs_no_attack():
    claim = declarations.declared()["rug.best.levels"]
    assert claim.sweeping and not replace(claim, status="proved").sweeping
    assert not replace(claim, right="Found", statement="Where").sweeping
    assert not replace(claim, whose="printed", right="", statement="Nothing").sweeping
