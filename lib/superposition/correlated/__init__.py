"""Features that occur together, or never meet."""

__all__: list[str] = []
