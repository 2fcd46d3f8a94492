"""How many dimensions features that exclude each other need."""


def least_dimensions(G: int) -> int:
    """Dimensions that G exclusive features need for loss zero: 1, 2 or 3."""
    return min(3, -(-G // 2))
