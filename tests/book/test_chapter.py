"""What every chapter's parameters have in common."""

from types import SimpleNamespace

import pytest
from pydantic import ValidationError
from superposition.book import parameters
from superposition.book.chapter import hidden_sizes

MODELS = parameters.Chapter.__subclasses__()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_no_unknown_names_and_no_changes(model):
    with pytest.raises(ValidationError, match="nss"):
        model(nss=1)
    with pytest.raises(ValidationError, match="frozen"):
        model().quick = True


def test_a_default_is_checked_too():
    class Wrong(parameters.Chapter):
        device: parameters.Device = "abacus"

    with pytest.raises(ValueError, match="abacus"):
        Wrong()


def test_a_quick_look_takes_fewer():
    assert parameters.Chapter().fewer(9, 2) == 9 and parameters.Chapter(quick=True).fewer(9, 2) == 2


def test_hidden_sizes_are_rounded_at_least_one_and_without_repetition():
    assert hidden_sizes(SimpleNamespace(ns=10, ratios=(0.26, 0.01, 0.3, 0.25))) == [1, 2, 3]
