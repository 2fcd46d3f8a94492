"""Activations of the hidden neurons that `train_fields` trains, by name; apart, because they need torch."""

from superposition.devices import torch

ACTIVATIONS = {"relu": torch.relu, "erf": lambda h: torch.erf(h / 2**0.5), "sigmoid": torch.sigmoid, "tanh": torch.tanh}
