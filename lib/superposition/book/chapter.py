"""What the parameters of every chapter have in common: types that several use, no unknown names, no changes."""

import re
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from superposition import checks
from superposition.inputs import Ratio, Real

LIST = re.compile(r"\s*(\[[^][]*\]|\([^()]*\))\s*")


def _numbers(value):
    if isinstance(value, str) and LIST.fullmatch(value):  # as Python writes it: papermill -p sparsities "[0, 0.9]"
        value = value.strip()[1:-1]
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(part, (str, int, float)) and not isinstance(part, bool) for part in parts):
        raise ValueError("not a list of numbers")
    if not all(checks.plainly_written(part) for part in parts if isinstance(part, str)):
        raise ValueError("numbers are written with the digits 0 to 9, without separators")
    try:
        return sorted({float(part) for part in parts if str(part).strip()})
    except (OverflowError, ValueError):
        raise ValueError("not a list of numbers that float64 holds") from None


def _device(value):
    from superposition.devices import resolve_device  # imports torch: only when a chapter asks

    if not isinstance(value, str):
        raise ValueError(
            f"device = {checks.shown(value)} is not a name; allowed: auto, cpu, or cuda where there is one"
        )
    resolve_device(value)
    return value


AtLeastOne = (BeforeValidator(_numbers), Field(min_length=1))
Ratios = Annotated[tuple[Ratio, ...], *AtLeastOne]
Minutes = Annotated[Real, Field(gt=0, le=10**5)]
Size = TypeVar("Size")
Device = Annotated[str, BeforeValidator(_device), Field(description="auto, cpu, or cuda where there is one")]


class Chapter(BaseModel):
    """What every chapter's parameters have in common: no unknown names, no changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    quick: Annotated[bool, Field(description="true or false")] = False

    def fewer(self, full: Size, quick: Size) -> Size:
        """An amount: ``quick`` in a quick run, else ``full``."""
        return quick if self.quick else full

    @property
    def at_defaults(self) -> bool:
        """Whether every parameter but the device has its default value."""
        return self.model_dump(exclude={"device"}) == type(self)().model_dump(exclude={"device"})


def hidden_sizes(par: Any) -> list[int]:
    """Hidden dimensions of ``ns`` features, max(1, round(r ns)) for each of the ``ratios``, without repetition."""
    return sorted({max(1, round(ratio * par.ns)) for ratio in par.ratios})
