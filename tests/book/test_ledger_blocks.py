"""What the ledger shows of one claim, word by word: with all that a claim can have, and with as little as it may."""

import pytest
from superposition.book import claims, ledger
from superposition.book.declarations import Attack, Claim

WHOLE = Claim(
    "rug.eq5", "The Persian Rug, eq. 5", "It falls.", "printed", "formula", "corrected", "ch3", quote='it "rises"',
    right="It falls twice.", code="superposition.rug.meanfield:loss", proof="falling", coarse="five seeds",
    attack=Attack(rival="Another map", effort="An hour", result="Nothing found"),
)  # fmt: skip
BARE = Claim("rug.eq6", "Rugs, eq. 6", "It is.", "ours", "definition", "completed", "ch4", status="proved", symbol="r")
SHOWN = """<details class="claim" id="rug.eq5" data-id="rug.eq5" data-text="The Persian Rug" data-chapter="ch3" \
data-place="The Persian Rug, eq. 5" data-kind="formula" data-whose="printed" data-verdict="corrected" data-checks="1" \
data-resolution="0.125" data-statement="It falls." data-quote="it &quot;rises&quot;" data-sentences="4, 7" \
data-ours="It falls twice." data-code="superposition.rug.meanfield:loss"><summary>

<code>rug.eq5</code> eq. 5 · <b>corrected</b> · 12 %<br>It falls.

</summary>

*The text,* sentence 4, 7: it "rises"

*Ours:* It falls twice.

*Why no sharper:* five seeds

*Attacked with:* Another map. An hour. Nothing found

formula · [ch3](ch3.ipynb) · <a href="ch3.html#falling">proof</a> · \
<a href="reference/rug.html#superposition.rug.meanfield.loss">`rug.meanfield.loss`</a>

| case | prediction | measured | text's own form | resolution | outcome |
| --- | --- | --- | --- | --- | --- |
| <a href="ch3.html#claim-rug-eq5-e95e63bf">&lt;here&gt;</a> | = 1 | 1 | – | 12 % | confirmed |

</details>"""
SHOWN_BARE = """<details class="claim" id="rug.eq6" data-id="rug.eq6" data-text="The Persian Rug" data-chapter="ch4" \
data-place="Rugs, eq. 6" data-kind="definition" data-whose="ours" data-verdict="ours, proved" data-checks="0" \
data-resolution="" data-statement="It is." data-quote="" data-sentences="4, 7" data-ours="" data-code="r"><summary>

<code>rug.eq6</code> Rugs, eq. 6 · <b>ours, proved</b> · –<br>It is.

</summary>

definition · [ch4](ch4.ipynb) · r

</details>"""


@pytest.fixture
def row():
    return claims.check("rug.eq5", 1.0, 1.0, atol=0.25, scale=("span", 2.0), label="<here>")


def test_a_block_has_what_its_claim_has_and_nothing_else(monkeypatch, row):
    monkeypatch.setattr(ledger.sentences, "naming", lambda name: [4, 7])
    assert ledger._block(WHOLE, (row,)) == SHOWN
    assert ledger._block(BARE, ()) == SHOWN_BARE


def test_the_page_sets_ours_apart_with_a_sentence(row):
    shown = ledger.Page(((WHOLE, (row,)), (BARE, ())))._repr_mimebundle_()
    blocks = [ledger._block(WHOLE, (row,)), f'<div class="ours">\n\n{ledger.OURS}', ledger._block(BARE, ()), "</div>"]
    assert shown["text/markdown"] == "\n\n".join(blocks)
    assert shown["text/plain"] == "rug.eq5: corrected; 1 checks\nrug.eq6: ours, proved; 0 checks"
    assert ledger.Page(((WHOLE, ()),))._repr_mimebundle_()["text/markdown"] == ledger._block(WHOLE, ())


def test_resolutions_name_their_units_once(row):
    shown = ledger.Sharpness(((WHOLE, (row, claims.check("rug.eq5", 1.0, 1.0, rtol=0.02), row)), (BARE, ())))
    assert shown._repr_mimebundle_() == {
        "text/plain": "2 claims by resolution",
        "text/markdown": (
            "<details><summary>2 claims</summary>\n\n| claim | verdict | resolution | in units of | remark |\n"
            "| --- | --- | --- | --- | --- |\n"
            '| <a href="#rug.eq5">`rug.eq5`</a> | corrected | 12 % | span, prediction | five seeds |\n'
            '| <a href="#rug.eq6">`rug.eq6`</a> | ours, proved | – | – |  |\n\n</details>'
        ),
    }
