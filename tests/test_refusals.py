"""Refusals are one short sentence, however long what was refused."""

import pytest
from superposition import receptive, runs
from superposition.book import claims
from superposition.experiments import noisy_networks
from superposition.rug import rugs
from superposition.runs import store

LONG = "x" * 5000


def mark_of_another_format(folder):
    (folder / store.MARKER).write_text('{"format": "' + LONG + '"}')
    store.check(folder)


@pytest.mark.parametrize(
    ("call", "begins"),
    [
        (lambda _: rugs.Rug(2**13, 4000, indices=[3] * 4000), r"indices = \[3, 3, .*… are no index set; allowed: "),
        (
            lambda _: rugs.Rug(5001, 4000, indices=range(1, 4001)),
            "indices = .*… hold a frequency k without ns - k; allow",
        ),
        (
            lambda _: rugs.Rug(2**13, 4000, indices=range(4000), antipodal=True),
            "indices = .*… make no antipodal rug; al",
        ),
        (lambda _: receptive.pulse_support(10, [3], LONG), "version = 'xxx.*… is unknown; allowed: "),
        (lambda _: claims.check(LONG, 1, 1), "claim_id = 'xxx.*… is not declared; nearest: "),
        (lambda _: runs.find(LONG), "run = 'xxx.*… is unknown; nearest: "),
        (lambda _: noisy_networks.law(LONG, 0.1), "law = 'xxx.*… is unknown; allowed: "),
        (mark_of_another_format, "results = .* has format 'xxx.*…, this version reads and writes "),
    ],
)
def test_a_long_value_is_cut(tmp_path, call, begins):
    with pytest.raises(ValueError, match=f"^{begins}") as refusal:
        call(tmp_path)
    assert len(str(refusal.value)) < 1000 and LONG[:100] not in str(refusal.value)
