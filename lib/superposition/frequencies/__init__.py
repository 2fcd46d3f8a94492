"""Features that are not equally frequent: how they share the dimensions, and what that costs.

What stands here is theory, in float64. Behind it: `superposition.frequencies.allocations` (over phases and features of
any frequency), `superposition.frequencies.few_active_features` and, with torch,
`superposition.frequencies.unequal_training`.

Source: ours, beyond The Persian Rug.
"""

from superposition.frequencies.allocations import allocate
from superposition.frequencies.sharing import even_shares, power_law, rug_losses, shares, tied_shares, unequal_rug

__all__ = [
    "allocate",
    "even_shares",
    "power_law",
    "rug_losses",
    "shares",
    "tied_shares",
    "unequal_rug",
]
