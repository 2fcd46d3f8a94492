"""A book that runs: theory and training behind the chapters.

Four wings, one for each text; a wing lists its public functions:

* `superposition.toy`: Toy Models of Superposition
* `superposition.rug`: The Persian Rug
* `superposition.incidental`: Incidental Polysemanticity
* `superposition.receptive`: localization in gated linear networks

Four that go beyond the texts:

* `superposition.codes`: better codes than the rug, and how far down anyone can go
* `superposition.decoders`: more than one step of reading, and sparse autoencoders
* `superposition.frequencies`: features that are not equally frequent
* `superposition.correlated`: features that occur together, or never meet

And `superposition.diagnosis`, with `superposition.diagnose`, measures an autoencoder of yours against all of it.

Every public function checks its arguments where it computes. Training needs torch, the extra ``train``, which is
imported at the first call.

Examples
--------
>>> import superposition
>>> best = superposition.rug.optimum(p=0.05, r=0.2)
>>> print(f"gain {best.a:.3f}, bias {best.b:.3f}, loss {best.loss:.5f}")
gain 1.170, bias -0.465, loss 0.00743
"""

from importlib import import_module
from importlib.metadata import version

WINGS = ("toy", "rug", "incidental", "receptive", "codes", "decoders", "frequencies", "correlated", "diagnosis")
__version__ = version("superposition")


def __getattr__(name):
    """Import a wing, or `diagnose`, when it is first asked for."""
    if name in WINGS:
        return import_module(f"superposition.{name}")
    if name == "diagnose":
        return import_module("superposition.diagnosis").diagnose
    raise AttributeError(f"module 'superposition' has no attribute {name!r}; its wings: {', '.join(WINGS)}")


def __dir__():
    """List the wings, `diagnose` and the version."""
    return ["__version__", "diagnose", *WINGS]
