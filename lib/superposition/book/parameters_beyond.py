"""The parameters of the chapters beyond the texts."""

from typing import Annotated

from pydantic import AfterValidator, Field

from superposition.book.chapter import AtLeastOne, Chapter, Device, Minutes, hidden_sizes
from superposition.inputs import Count, Even, Real, Seed, Steps, UpTo


class Phases(Chapter):
    """Parameters of the page on the phases that training finds."""

    ns: Annotated[Count, Field(ge=16, le=4096)] = 128
    p: Annotated[Real, Field(ge=1e-3, le=1)] = 0.05
    ratios: Annotated[tuple[Annotated[Real, Field(gt=0, lt=1)], ...], *AtLeastOne] = (0.2, 0.3, 0.5)
    steps: Steps = 500
    minutes: Minutes = 5.0
    seed: Seed = 0
    device: Device = "auto"
    nds = property(hidden_sizes)


class BestCodes(Chapter):
    """Parameters of chapter 7."""

    p: Annotated[Real, Field(ge=1e-4, le=0.1)] = 0.05
    B: Annotated[Count, Field(ge=5, le=12)] = 10
    ratio: Annotated[Real, Field(ge=2, le=10**4)] = 100.0
    samples: Annotated[Count, Field(ge=1000, le=10**7)] = 100_000
    seed: Seed = 0


class BelowTheFan(Chapter):
    """Parameters of the page on bounds below the best codes."""

    r: Annotated[Real, Field(ge=0.05, le=0.4)] = 0.2
    tries: Annotated[Count, Field(ge=1, le=100)] = 16
    seed: Seed = 0


class SearchedCodes(Chapter):
    """Parameters of the page on what searches and training find."""

    samples: Annotated[Count, Field(ge=1000, le=10**7)] = 20_000
    seed: Seed = 0


class Frequencies(Chapter):
    """Parameters of chapter 9."""

    ns: Annotated[Count, Field(ge=200, le=4000)] = 1000
    exponent: Annotated[Real, Field(ge=0, le=3)] = 1.5
    nd: Annotated[Count, Field(ge=10, le=100)] = 32
    samples: Annotated[Count, Field(ge=400, le=10**6)] = 4000
    seed: Seed = 0


class Together(Chapter):
    """Parameters of chapter 10."""

    p: Annotated[Real, Field(ge=0.01, le=0.2)] = 0.05
    r: Annotated[Real, Field(ge=0.05, le=0.9)] = 0.25
    G: Annotated[Count, Field(ge=2, le=5)] = 4  # exclusive groups need G p up to 1
    groups: Annotated[Count, Field(ge=128, le=2**14)] = 1024
    samples: Annotated[Count, Field(ge=100, le=10**5)] = 800
    seed: Seed = 0


class NeverMeet(Chapter):
    """Parameters of the page on features that never meet."""

    G: Annotated[Count, Field(ge=7, le=60)] = 12
    n: Annotated[Count, Field(ge=20, le=2000)] = 2000
    meets: Annotated[Count, Field(ge=2, le=8), AfterValidator(Even("it is made of rings through all features"))] = 4
    samples: Annotated[Count, Field(ge=1000, le=10**7)] = 200_000
    seed: Seed = 0


class PlanePairs(Chapter):
    """Parameters of the page on four features in the plane."""

    p: Annotated[Real, Field(ge=0.01, le=0.5)] = 0.1
    starts: Annotated[Count, Field(ge=2, le=100)] = 12
    seed: Seed = 0


class KeptCompany(Chapter):
    """Parameters of the page on incidental polysemanticity with company."""

    n: Annotated[Count, Field(ge=4, le=48)] = 24
    strength: Annotated[Real, Field(ge=1e-3, le=0.05)] = 0.02
    seed: Seed = 0


class Dictionaries(Chapter):
    """Parameters of the page on a ground truth for sparse autoencoders."""

    ns: Annotated[Count, Field(ge=32, le=256)] = 64
    nd: Annotated[Count, Field(ge=8), AfterValidator(UpTo("ns", "ns"))] = 24
    p: Annotated[Real, Field(ge=0.01, le=0.1)] = 0.05
    steps: Steps = 1500
    seed: Seed = 2000


class Narrow(Chapter):
    """Parameters of the page on parents and children."""

    children: Annotated[Real, Field(ge=0.1, le=0.9)] = 0.5
    price: Annotated[Real, Field(ge=0.01, le=0.1)] = 0.1
    steps: Steps = 3000
    seed: Seed = 3000


class Decoders(Chapter):
    """Parameters of chapter 8."""

    p: Annotated[Real, Field(ge=0.005, le=0.3)] = 0.05
    r: Annotated[Real, Field(ge=0.05, le=0.5)] = 0.2
    ns: Annotated[Count, Field(ge=2**10, le=2**20)] = 2**16
    samples: Annotated[Count, Field(ge=4, le=10**4)] = 8
    iterations: Annotated[Count, Field(ge=3, le=30)] = 6
    seed: Seed = 0


class Coupled(Chapter):
    """Parameters of the page on coupled rugs."""

    p: Annotated[Real, Field(ge=0.01, le=0.2)] = 0.05
    density: Annotated[Real, Field(ge=0.7, le=1)] = 0.85
    blocks: Annotated[Count, Field(ge=4, le=100)] = 32
    width: Annotated[Count, Field(ge=1), AfterValidator(UpTo("blocks", "blocks"))] = 4
    size: Annotated[Count, Field(ge=256, le=2**16)] = 4096
    seed: Seed = 0


class Depth(Chapter):
    """Parameters of the page on layers of ReLUs."""

    p: Annotated[Real, Field(ge=0.005, le=0.3)] = 0.05
    r: Annotated[Real, Field(ge=0.05, le=0.5)] = 0.2
    layers: Annotated[Count, Field(ge=2, le=12)] = 5
    ns: Annotated[Count, Field(ge=2**10, le=2**20)] = 2**16
    samples: Annotated[Count, Field(ge=4, le=10**4)] = 16
    seed: Seed = 0


class Ands(Chapter):
    """Parameters of the page on computing with superposed features."""

    m: Annotated[Count, Field(ge=16, le=96)] = 64
    p: Annotated[Real, Field(ge=0.005, le=0.05)] = 0.015
    samples: Annotated[Count, Field(ge=50, le=2000)] = 200
    seed: Seed = 0


class RealNetwork(Chapter):
    """Parameters of chapter 12."""

    n: Annotated[Count, Field(ge=200, le=2000)] = 600
    d: Annotated[Count, Field(ge=16, le=128)] = 64
    samples: Annotated[Count, Field(ge=1000, le=20_000)] = 4000
    seed: Seed = 0
