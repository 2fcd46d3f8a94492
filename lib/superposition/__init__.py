"""A book that runs: theory and training behind the chapters."""
