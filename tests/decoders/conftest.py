"""The scores of SAELens are made in an environment of its own: that is no test."""

collect_ignore = ["sae_lens/make.py"]
