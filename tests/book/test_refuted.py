"""For every sentence of a text that is called refuted or not reproduced: does its check measure this sentence?"""

from superposition.book import declarations

ANSWERS = {
    "gdln.eq47C": (
        "Yes: the sentence says that a constant exists; the check counts numbers that would be its exponential and "
        "are negative."
    ),
    "gdln.race": (
        "Yes, in both readings of the race: the gates with the smallest eigenvalues, opposite pairs and a shut "
        "gate, have neither the largest initial speed nor the lowest limiting loss."
    ),
    "incidental.appC.alone": (
        "Yes: rows are trained under the assumptions of the appendix, without shut outputs, from a dense and from "
        "a sparse start, for long. The whole model, which the text trains, is judged in `incidental.fig4`."
    ),
    "incidental.fig6": (
        "Yes: the noise, sizes and steps of the caption, at the learning rate of the public code and at ten times "
        "this rate. Ten times the noise gives the figure, so the caption may be misprinted: not reproduced, and "
        "not refuted."
    ),
    "incidental.only.more": (
        "In part: the sentence reports networks of other texts; the check takes the text's own model without its "
        "penalty, which satisfies the conditions that the sentence names."
    ),
    "rug.fig5.spot": (
        "In part: the check shows another reason for the same spot in our models of up to 1024 features; why the "
        "text's own networks have it is not measured: not reproduced, and not refuted."
    ),
}


def test_somebody_has_asked_whether_the_check_measures_the_sentence():
    verdicts = {name: claim.verdict for name, claim in declarations.declared().items()}
    assert {name for name, verdict in verdicts.items() if verdict in {"refuted", "not reproduced"}} == ANSWERS.keys()
