"""The result of a diagnosis: the numbers that were measured, and those that follow from them.

Source: as `superposition.diagnosis.autoencoder`, which measures them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from superposition.diagnosis import company, finished, names, report, yardsticks
from superposition.diagnosis.feature_laws import FeatureLaw, Population
from superposition.diagnosis.measures import Rows, Simulated
from superposition.diagnosis.weights import Weights
from superposition.features import Estimate
from superposition.rug.meanfield import Optimum
from superposition.rug.model import RowStatistics


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """The result of `diagnose`; `print` it for a report, whose first line names the code.

    ``ns``, ``nd``, ``rank`` (how many of the dimensions are used), ``p`` (the mean probability; None for another
    ``law``); ``weights`` (as `superposition.diagnosis.weights.Weights`); ``name``; ``rows``, the row statistics;
    ``kind`` of each feature ("heard", "dropped", "dead", "absent"); ``loudness`` of each (geometric mean 1, nan unless
    heard); ``partners``, the mean number of features that silence a feature, with ``mutual`` and ``clustering`` of
    these partners; ``capacity``, the sum over features of their share of a dimension; ``effective`` features per
    dimension. Losses per feature: ``gaussian`` (eq. 5 with each row's own gain, bias and noise), ``partner`` (the same
    with the strongest rival kept out of the noise), ``exact`` (over all sets of active features, for up to twelve
    features), ``simulated`` with its error, ``by_feature`` (from the same simulation), ``refitted`` (from the same
    simulation, with all biases moved and all outputs scaled together). Losses to compare with: ``theory`` (the rug),
    ``linear``, ``best`` known, ``finished`` (the end of training). ``partner`` and ``exact`` are None unless features
    are equal and have the text's distribution; ``best`` is None for another distribution. ``unit`` is the unit of
    features, twice their mean strength; ``importance`` of each feature or None; ``stands``, whether ReLU(W x + b), with
    its gate, is the forward pass; ``company``, the effect of dependence in given vectors.

    Examples
    --------
    >>> from superposition.diagnosis import diagnose
    >>> found = diagnose([[1, -1], [-1, 1]], [0, 0], 0.05, samples=100)
    >>> found.name, found.kind.tolist(), round(found.sigma / found.sigma_bound, 6)
    ('a digon', ['heard', 'heard'], 1.0)
    """

    ns: int
    nd: int
    rank: int
    p: float | None
    population: Population
    weights: Weights
    unit: float
    importance: NDArray[np.float64] | None
    measured: Rows
    behaviour: Simulated
    kind: np.ndarray
    loudness: NDArray[np.float64]
    mutual: float
    clustering: float
    capacity: float
    gaussian: float
    partner: float | None
    exact: float | None
    theory: Optimum
    linear: float
    best: yardsticks.Known | None
    spread: float
    relative: NDArray[np.float64] | None
    stands: bool
    company: company.Company | None
    loss_as: str | None

    @cached_property
    def name(self) -> str:
        """Name of the code."""
        return names.named(self)

    @property
    def law(self) -> FeatureLaw:
        """The law of the features."""
        return self.population.law

    @property
    def r(self) -> float:
        """Compression ratio nd / ns."""
        return self.nd / self.ns

    @property
    def rows(self) -> RowStatistics:
        """Statistics of each row."""
        return self.measured.rows

    @property
    def W(self) -> NDArray[np.floating]:  # noqa: N802 - the text's symbol
        """The product W_out W_in, shape (ns, ns), made when it is asked for."""
        return self.weights.rows(0, self.ns)

    @property
    def heard(self) -> NDArray[np.bool_]:
        """Mask of the features that are heard."""
        return self.kind == "heard"

    @property
    def simulated(self) -> Estimate:
        """The loss of the simulation."""
        return self.behaviour.loss

    @property
    def by_feature(self) -> NDArray[np.float64]:
        """The loss of each feature in it."""
        return self.behaviour.by_feature

    @property
    def refitted(self) -> float:
        """Its loss with all biases moved and all outputs scaled together; infinite where outputs are gated."""
        return self.behaviour.refitted

    @cached_property
    def finished(self) -> finished.Finished | None:
        """Final loss of trained networks of this p, r and size, as far as the stored table reaches."""
        others = self.importance is not None or self.company is not None or self.weights.is_sae
        if self.p is None or others or not self.population.equal:
            return None
        return finished.finished(self.p, self.nd, self.ns)

    @cached_property
    def sigma(self) -> float:
        """Root mean square over the heard features of the standard deviation of their interference, at gain one."""
        return float(np.sqrt(np.mean(self.measured.noise[self.heard] / self.rows.diagonal[self.heard] ** 2)))

    @property
    def sigma_bound(self) -> float:
        """The smallest sigma for this number of heard features in these dimensions (The Persian Rug, eq. 6)."""
        variance = float(self.population.variance[self.heard].mean())
        return float(np.sqrt(variance * max(self.heard.sum() / self.nd - 1, 0)))

    @property
    def loss(self) -> float:
        """The loss, exact where it is known, else simulated."""
        return self.simulated.mean if self.exact is None else self.exact

    def in_your_units(self, as_a: str) -> float:
        """The loss in units of the features as they came, as a "mean" over features or as their "sum"."""
        return float(self.loss) * self.unit**2 * (self.ns if as_a == "sum" else 1)

    @property
    def partners(self) -> float:
        """Mean number of features that silence a heard feature."""
        among = self.measured.partners[self.heard]
        return float(among.nnz / self.heard.sum())

    @property
    def triangle_free(self) -> bool:
        """Whether heard features silence one another both ways, but no three of them, as in a graph tile."""
        return self.mutual > 0 and self.clustering == 0

    @property
    def effective(self) -> float:
        """Effective features per dimension, e^H / nd, with H the entropy of the outputs' share of all activity."""
        share = self.behaviour.mean / max(self.behaviour.mean.sum(), 1e-300)
        share = share[share > 0]
        return float(np.exp(-np.sum(share * np.log(share))) / self.nd)

    def __str__(self) -> str:
        """A report of a dozen lines, the first of which is the answer."""
        return report.text(self)
