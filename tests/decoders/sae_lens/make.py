"""In an environment that has sae-lens: scores by its own evaluation, and what the recipe of the book trains with it."""

import json
import re
from importlib.metadata import version
from pathlib import Path

import torch
from cases import CASES, SAMPLES, case
from sae_lens import StandardSAE, StandardSAEConfig
from sae_lens.synthetic import FeatureDictionary
from sae_lens.synthetic.evals import eval_sae_on_synthetic_data
from safetensors.torch import save_file


class Given:
    """A generator that gives one batch, the one at hand."""

    def __init__(self, x):
        self.x = torch.from_numpy(x)

    def sample(self, batch):
        return self.x[:batch]


def scored(name):
    truth, x, arrays = case(name)
    sae = StandardSAE(StandardSAEConfig(d_in=24, d_sae=len(arrays["b_enc"]), dtype="float64"))
    sae.load_state_dict({key: torch.from_numpy(value) for key, value in arrays.items()})
    features = FeatureDictionary(num_features=64, hidden_dim=24, bias=False, initializer=None)
    features.feature_vectors.data = torch.from_numpy(truth.T.copy())
    features.bias.data = torch.zeros(24, dtype=torch.float64)
    return eval_sae_on_synthetic_data(sae, features, Given(x), num_samples=SAMPLES).to_dict()


if __name__ == "__main__":
    found = {"by": f"sae-lens {version('sae-lens')}", "scores": {name: scored(name) for name in CASES}}
    Path(__file__).with_name("scores.json").write_text(json.dumps(found, indent=1) + "\n")
    recipes = (Path(__file__).parents[3] / "book" / "recipes.md").read_text(encoding="utf-8")
    [block] = (code for code in re.findall(r"^```python\n(.*?)^```$", recipes, re.M | re.S) if "SAETrainer" in code)
    exec(block, names := {})
    weights = {name: value.detach().contiguous() for name, value in names["sae"].state_dict().items()}
    save_file(weights, Path(__file__).with_name("trained.safetensors"), metadata={"by": found["by"]})
