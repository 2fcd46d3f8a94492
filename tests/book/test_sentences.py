"""Every sentence of the texts is counted, and those that assert and the claims of the ledger name each other."""

import random
import re
from dataclasses import replace

import pytest
from superposition.book import declarations, sentences


@pytest.mark.parametrize("text", declarations.TEXTS)
def test_a_sentence_that_asserts_has_a_row(text):
    assert sentences.without_row(text) == []


def test_every_claim_that_is_printed_or_asked_names_its_sentence_and_none_of_ours_has_one():
    named = {name for sentence in sentences.sentences() for name in sentence.claims}
    whose = {claim.id: claim.whose for claim in declarations.declared().values()}
    assert {name for name, said in whose.items() if said in ("printed", "question")} <= named
    assert not {name for name, said in whose.items() if said == "ours"} & named


def test_a_claim_knows_its_sentences():
    of_rug = {sentence.number: sentence for sentence in sentences.sentences() if sentence.text == "rug"}
    numbers = sentences.naming("rug.power")
    assert numbers and all("rug.power" in of_rug[number].claims for number in numbers)
    assert "power-law" in of_rug[numbers[0]].first
    assert sentences.naming("rug.best.lemma") == ()


def test_the_count_is_that_of_the_lines():
    shown = sentences.counted()
    assert shown.headings[1:4] == ("sentences", "asserting", "with a row")
    for row, (text, name) in zip(shown.rows, declarations.TEXTS.items(), strict=True):
        of_text = [sentence for sentence in sentences.sentences() if sentence.text == text]
        asserting = [sentence for sentence in of_text if sentence.role == "asserts"]
        assert row[:3] == (name, str(len(of_text)), str(len(asserting)))
        assert int(row[3]) == sum(bool(sentence.claims) for sentence in asserting) > 0


def test_a_sentence_without_a_row_is_counted_and_named(monkeypatch):
    """Today none is."""
    some = [sentences.Sentence("rug", n, "asserts", "The", ("rug.eq5",) if n != 4 else (), "") for n in (1, 3, 4)]
    monkeypatch.setattr(sentences, "sentences", lambda: some)
    row = dict(zip(declarations.TEXTS, sentences.counted().rows, strict=True))["rug"]
    assert row[1:] == ("3", "3", "2", "4")
    assert sentences.naming("rug.eq5") == (1, 3)


def test_tables_of_sentences_are_compared_cell_by_cell():
    second = sentences.read_twice(sentences.reading("second"))
    shown = [sentences.defined(), sentences.decided(), sentences.counted(), second, sentences.changed()]
    assert [one.exact for one in shown] == [True] * 5


@pytest.mark.parametrize(("text", "length"), [("toy", 27), ("rug", 296), ("incidental", 225), ("gdln", 260)])
def test_the_second_reader_read_the_numbers_that_the_seed_draws(text, length):
    drawn = random.Random(f"2611 {text}").sample(range(1, length + 1), min(length, 60))
    assert [reading.number for reading in sentences.reading("second") if reading.text == text] == sorted(drawn)


def test_later_readers_read_what_the_seeds_draw_of_the_rest():
    rest = [(sentence.text, sentence.number) for sentence in sentences.sentences()]
    read = [sentences.reading("second")]
    for seed, reading in (("2611 fresh", sentences.reading("third")), ("2611 fourth", sentences.reading("fourth"))):
        rest = [where for where in rest if where not in {(one.text, one.number) for one in read[-1]}]
        drawn = random.Random(seed).sample(rest, 60)
        assert [(one.text, one.number) for one in reading] == sorted(drawn, key=rest.index)
        read.append(reading)


@pytest.mark.parametrize("which", sentences.READINGS)
def test_a_reading_agrees_with_ours_or_the_difference_is_settled(which):
    assert unsettled(sentences.reading(which)) == []


def test_a_line_that_is_not_settled_is_found():
    first = next(reading for reading in sentences.reading("second") if reading.ours)
    broken = [{"why": ""}, {"settled": ""}, {"ours": "", "settled": "", "why": ""}, {"ours": first.role}]
    broken += [{"settled": role} for role in sentences.ROLES if role != first.settled]
    assert all(unsettled([replace(first, **changed)]) for changed in broken)


def unsettled(readings):
    """Readings whose line does not fit the class that ``sentences.csv`` has now."""
    now = {(sentence.text, sentence.number): sentence.role for sentence in sentences.sentences()}
    return [reading for reading in readings if not fits(reading, now[reading.text, reading.number])]


def fits(reading, now):
    known = {reading.role, reading.ours or reading.role, now} <= set(sentences.ROLES)
    if not reading.ours:
        return known and reading.role == now and not reading.settled and not reading.why
    one_of_two = reading.settled in (reading.ours, reading.role) and reading.ours != reading.role
    return known and one_of_two and reading.settled == now and bool(reading.why)


@pytest.mark.parametrize("which", sentences.READINGS)
def test_the_readings_are_counted(which):
    readings = sentences.reading(which)
    rows = {row[0]: row for row in sentences.read_twice(readings).rows}
    assert sum(int(row[1]) for row in rows.values()) == len(readings)
    for text, name in declarations.TEXTS.items():
        both = [reading for reading in readings if reading.text == text]
        if not both:
            assert name not in rows
            continue
        row = rows[name]
        assert int(row[1]) == len(both) <= 60
        assert int(row[2]) + int(row[4]) == sum(reading.role != reading.ours != "" for reading in both)
        assert int(row[3]) + int(row[5]) == sum(reading.settled == reading.role for reading in both)


READINGS = [*sentences.reading("second"), *sentences.reading("third")]  # before the definitions were sharpened
NAMED = {"Toy Models": "toy", "Rug": "rug", "Incidental": "incidental", "Localization": "gdln"}
ROLE_WORDS = {
    "asks": "asks",
    "asserts": "asserts?",
    "defines": "defines",
    "method": "method",
    "motivates": "motivates?",
}


def examples(said):
    """The sentences that a definition or a rule names, with their classes."""
    now = {(sentence.text, sentence.number): sentence.role for sentence in sentences.sentences()}
    where = [(NAMED[name], int(number)) for name, number in re.findall(rf"({'|'.join(NAMED)}) (\d+)", said)]
    return [(text, number, now[text, number]) for text, number in where]


@pytest.mark.parametrize("role", sentences.ROLES)
def test_a_definition_has_an_example_of_its_class(role):
    assert [found for *_, found in examples(sentences.ROLES[role])] == [role]


@pytest.mark.parametrize("case", sentences.RULES)
def test_a_rule_says_of_its_examples_the_class_that_they_have(case):
    said = sentences.RULES[case]
    assert examples(said)
    for _, number, role in examples(said):
        [sentence] = [one for one in re.split("[.;] ", said) if re.search(rf" {number}\b", one)]
        assert re.search(rf"\b{ROLE_WORDS[role]}\b", sentence), sentence


def test_examples_are_sentences_that_a_reader_has_had_already():
    """So that they give away nothing to the next reader, who is given others."""
    read = {(reading.text, reading.number) for reading in READINGS}
    said = [*sentences.ROLES.values(), *sentences.RULES.values()]
    assert {(text, number) for one in said for text, number, _ in examples(one)} <= read


def test_a_sentence_that_changed_its_class_has_the_new_one_and_a_reason():
    now = {(sentence.text, sentence.number): sentence.role for sentence in sentences.sentences()}
    changes = sentences.sharpened()
    assert changes and all(change.was != change.now == now[change.text, change.number] for change in changes)
    assert all(change.was in sentences.ROLES and change.why for change in changes)
    where = [(change.text, change.number) for change in changes]
    assert where == [one for one in now if one in set(where)]


def test_a_change_that_a_reading_has_is_settled_there_only():
    read = {(reading.text, reading.number) for reading in READINGS}
    assert not read & {(change.text, change.number) for change in sentences.sharpened()}


def test_the_changes_are_counted():
    rows = [[int(number) for number in row[1:]] for row in sentences.changed().rows]
    assert sum(map(sum, rows)) == len(sentences.sharpened())
    assert sum(row[0] for row in rows) == sum(change.now == "asserts" for change in sentences.sharpened())


def test_the_classes_and_the_cases_are_shown_with_their_words():
    assert dict(sentences.defined().rows) == sentences.ROLES
    assert dict(sentences.decided().rows) == sentences.RULES


LINE = {"text": "rug", "number": "1", "class": "asserts", "first": "The loss", "claims": "rug.eq5", "reason": ""}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"text": "rugs"}, "text of sentence rugs 1 = 'rugs' is unknown; allowed: toy"),
        ({"class": "claims"}, "class of sentence rug 1 = 'claims' is unknown; allowed: asks"),
        ({"claims": "rug.eq5 rug.eq55"}, "claims of sentence rug 1 = 'rug.eq55' is unknown"),
        ({"claims": "toy.L0"}, "claims of sentence rug 1 = toy.L0 is of toy, printed; allowed: its text's own"),
        ({"claims": "rug.best.lemma"}, "claims of sentence rug 1 = rug.best.lemma is of rug, ours"),
        ({"first": "one two three four five six seven eight nine"}, "first of sentence rug 1 = .* up to 8 words"),
        ({"reason": "background"}, "reason of sentence rug 1 = 'background'; allowed: one unless it asserts"),
        ({"class": "asks"}, "reason of sentence rug 1 = ''; allowed: one unless it asserts"),
        ({"number": "2"}, "numbers of rug = .*; allowed: 1, 2, 3 and so on"),
    ],
)
def test_a_line_that_does_not_fit_is_refused(monkeypatch, tmp_path, changed, said):
    line = LINE | changed
    (tmp_path / "sentences.csv").write_text(",".join(line) + "\n" + ",".join(line.values()) + "\n")
    monkeypatch.setattr(sentences.resources, "files", lambda package: tmp_path)
    with pytest.raises(ValueError, match=said):
        sentences.sentences.__wrapped__()


def test_a_text_of_another_name_is_refused():
    with pytest.raises(ValueError, match="text = 'rugs' is unknown"):
        sentences.without_row("rugs")
