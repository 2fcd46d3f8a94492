"""Bounds that more than one part of the library needs, each in one place."""

MOST_FEATURES = 16384  # a trained autoencoder: beyond, W alone is over a gigabyte
MOST_STEPS = 10**6
LARGEST_SEED = 2**32 - 1
