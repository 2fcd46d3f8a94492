"""What the extra ``train`` brings: modules that train import torch from here, so that its absence is said once."""

try:
    import torch
except ModuleNotFoundError as error:
    sentence = "training needs torch, which comes with the extra `train`: pip install 'superposition[train]'"
    raise ModuleNotFoundError(sentence, name="torch") from error

__all__ = ["torch"]
