"""The wing of Incidental Polysemanticity."""
