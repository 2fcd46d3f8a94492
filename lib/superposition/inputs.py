"""Numbers as people type them: types that refuse true and false, and what is not finite."""

from typing import Annotated

from pydantic import BeforeValidator, Field


def _refuse_bool(value):
    if isinstance(value, bool):
        raise ValueError("true and false are no numbers")
    return value


Count = Annotated[int, BeforeValidator(_refuse_bool)]
Real = Annotated[float, BeforeValidator(_refuse_bool), Field(allow_inf_nan=False)]
