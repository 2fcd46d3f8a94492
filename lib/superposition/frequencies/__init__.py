"""Features that are not equally frequent: how they share the dimensions, and the loss of each.

Source: ours, beyond The Persian Rug.
"""

from superposition.frequencies.allocations import allocate
from superposition.frequencies.few_active_features import few_active_losses, tuned_losses
from superposition.frequencies.sharing import even_shares, power_law, rug_losses, shares, tied_shares, unequal_rug
from superposition.frequencies.unequal_training import train_unequal, train_unequal_alive

__all__ = [
    "allocate", "even_shares", "few_active_losses", "power_law", "rug_losses", "shares", "tied_shares", "train_unequal",
    "train_unequal_alive", "tuned_losses", "unequal_rug",
]  # fmt: skip
