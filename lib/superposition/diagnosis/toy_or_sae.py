"""Arrays in known roles, as the weights of a toy model or of a sparse autoencoder."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from superposition import checks
from superposition.diagnosis import forward_passes, layouts
from superposition.diagnosis.strangers import CONVERT
from superposition.diagnosis.weights import Weights

AS_SAE = {"W_in": "E", "hidden": "c", "W_out": "D", "b": "d"}  # roles of a toy model in a sparse autoencoder
B_DEC, ACTIVATIONS = ("taken", "kept"), ("relu", "topk", "jumprelu")  # answers to what a file leaves open


class Answers(NamedTuple):
    """The reader's answers to questions that a file leaves open; whether nothing says how often features are on."""

    instance: int | None
    reading: str | None
    b_dec: str | None
    activation: str | None
    k: int | None
    ignore: tuple[str, ...]
    lacking: bool


def read_as(row, parts, settings, said, problem, told):
    """A toy model or a sparse autoencoder, as the row says or, where it does not, the reader."""
    roles = {role.rstrip("?"): parts[name] for name, role in row.roles.items() if name in parts and role != "-"}
    if "one" in roles and not np.allclose(roles["one"], 1):
        raise forward_passes.refuse("scaling_factor", float(roles["one"].flat[0]), "1")
    if row.rule is not None and roles.keys() & {"W_in", "W_in'"}:
        if said.reading not in ("toy", "sae"):
            rest = _open(row.rule(settings, parts), said, np.any(roles.get("b", 0))).values()
            also = f"; for sae also {'; '.join(rest)}" if rest else ""
            raise ValueError(
                f"{problem}, and does not say whether a ReLU is on the hidden values, as in a sparse autoencoder, or "
                f"on the outputs, as in a toy model; allowed: --reading sae, toy{also}{_lacking(said)}"
            )
        if said.reading == "toy":
            return _toy(roles, settings, said, problem, told)
        roles = {AS_SAE[name.rstrip("'")] + "'" * name.endswith("'"): one for name, one in roles.items()}
    elif row.rule is None:
        return _toy(roles, settings, said, problem, told)
    if said.reading not in (None, "sae"):
        raise ValueError(f"{problem}, a sparse autoencoder and no toy model; allowed: toy models ReLU(W x + b), or "
                         "--reading sae for a diagnosis")  # fmt: skip
    weights = _sae(row, roles, row.rule(settings, parts), said, problem, told)
    _same_sizes(weights, settings)
    return weights


def _same_sizes(weights, settings):
    """Refuse settings that give other sizes than the arrays have: they are another model's. A zero leaves it open."""
    trainer = settings.get("trainer")
    given = settings | (trainer if isinstance(trainer, dict) else {})
    for size, names in layouts.SIZES.items():
        for name in names:
            if isinstance(given.get(name), int) and given[name] not in (0, getattr(weights, size)):
                raise ValueError(f"{name} = {given[name]}; allowed: {getattr(weights, size)}, as the arrays have it")


def _toy(roles, settings, said, problem, told):
    """A toy model ReLU(W_out W_in x + b)."""
    for name, allowed in layouts.TOY_MUST.items():
        if settings.get(name, allowed[0]) not in allowed:
            raise forward_passes.refuse(name, settings[name], str(allowed[0]))
    for name, value in (("b_dec", said.b_dec), ("activation", said.activation), ("k", said.k)):
        if value is not None:
            raise ValueError(f"{name} = {value} of a toy model, which has none; allowed: none")
    if said.reading == "sae":
        raise ValueError(f"{problem}, a toy model; allowed: --reading product, tied, toy")
    parts = {name.rstrip("'"): np.swapaxes(one, -1, -2) if name.endswith("'") else one for name, one in roles.items()}
    if parts.get("b", np.zeros(1)).shape[-1:] == (1,) and parts["b"].ndim > 1:
        parts["b"] = parts["b"][..., 0]
    parts = _one_instance(parts, said.instance, told)
    told.append("outputs pass a ReLU")
    if "W" in parts:
        return _single(parts, said.reading, problem, told)
    if said.reading in ("product", "tied"):
        raise ValueError(f"{problem}, an encoder and a decoder; allowed: --reading toy")
    return _pair(parts, problem, told)


def _one_instance(parts, instance, told):
    """Arrays without the leading axis of instances, where the weights have one."""
    deep = {len(array) for name, array in parts.items() if array.ndim == (2 if name in ("b", "hidden") else 3)}
    if not deep:
        if instance is not None:
            raise ValueError(f"instance = {instance} of weights without instances; allowed: none")
        return parts
    [count, *more] = deep
    usual = {name: 2 if name in ("b", "hidden") else 3 for name in parts}
    if more or any(array.ndim > usual[name] for name, array in parts.items()):
        raise ValueError(f"weights have {' and '.join(map(str, sorted(deep)))} instances; allowed: one number")
    chosen = checks.whole("instance", 0 if instance is None else instance, 0, count - 1)
    if count > 1:
        told.append(f"instance {chosen} of {count}" + (" (another: --instance 1, …)" if instance is None else ""))
    return {name: array[chosen] if array.ndim == usual[name] else array for name, array in parts.items()}


def _single(parts, reading, problem, told):
    """One matrix: a product, or a tied encoder in either orientation."""
    W, b = parts["W"], parts["b"]
    if W.ndim != 2 or b.ndim != 1 or len(b) not in W.shape:
        raise ValueError(f"{problem}, which do not fit; allowed: W (ns, ns), or tied (nd, ns) or (ns, nd), and b (ns,)")
    square = W.shape[0] == W.shape[1]
    if square and reading != "tied":
        if reading is None:
            told.append("a square W is the product W_out W_in (a tied encoder: --reading tied)")
        return Weights(b, W=W)
    if reading == "product":
        raise ValueError(f"{problem}; a product is square; allowed: no reading, or tied")
    W_in = W if W.shape[1] == len(b) else W.T
    told.append(f"W {W.shape} is a tied encoder of {len(b)} features in {len(W_in)} dimensions")
    return Weights(b, W_in=W_in, W_out=W_in.T)


def _pair(parts, problem, told):
    """Encoder and decoder of a toy model, transposed where they are stored the other way round."""
    E, D, inner = parts["W_in"], parts["W_out"], parts.get("hidden")
    outer = parts.get("b", np.zeros(D.shape[:1]))
    ways = enumerate(((E, D), (E.T, D.T), (E.T, D), (E, D.T)))
    fits = [way for way in ways if way[1][0].ndim == outer.ndim + 1 == 2 and _fit(*way[1], outer)]
    if not fits:
        raise ValueError(
            f"{problem}, which do not fit; allowed: W_in (nd, ns), W_out (ns, nd) and b (ns,). Otherwise {CONVERT}"
        )
    turns, (one, two) = fits[0]
    if turns:
        told.append("matrices are turned to fit the biases")
    if inner is not None:
        if inner.shape != one.shape[:1]:
            raise ValueError(f"{problem}, a hidden bias which does not fit; allowed: ({len(one)},)")
        told.append("the hidden bias is taken into the output's")
    return Weights(outer if inner is None else outer + two @ inner, W_in=one, W_out=two)


def _fit(E, D, outer):
    return D.shape == E.shape[::-1] == (len(outer), len(E))


def _sae(row, roles, found, said, problem, told):
    """A sparse autoencoder: its latents are the features, and each writes a direction of the decoder."""
    if said.instance is not None:
        raise ValueError(f"instance = {said.instance} of weights without instances; allowed: none")
    parts = {name.rstrip("'"): one.T if name.endswith("'") else one for name, one in roles.items()}
    E, D = parts["E"], parts["D"]
    if "c" in parts and parts["c"].shape == E.shape[1:] != E.shape[:1]:  # as Qwen Scope has them
        E, D = E.T, D.T
        told.append("matrices are turned to fit the biases")
    c, d = parts.get("c", np.zeros(len(E))), parts.get("d", np.zeros(len(D)))
    if E.ndim != 2 or D.shape != E.shape[::-1] or c.shape != E.shape[:1] or d.shape != D.shape[:1]:
        raise ValueError(f"{problem}, which do not fit as {row.formula}; a transcoder has other outputs than inputs; "
                         "allowed: arrays that fit")  # fmt: skip
    found = _answered(found, said, np.any(d), problem)
    told += [*found.told, f"a sparse autoencoder: its {len(E)} latents are the features, its {len(D)} inputs the "
             "dimensions", f"latents are {row.formula.rpartition(', or ')[2]}"]  # fmt: skip
    weights = _gated(E, D, c, d, found, told)
    if said.b_dec is None or not np.any(d):
        return weights
    other = _gated(E, D, c, d, found._replace(taken=not found.taken), [])
    return replace(weights, otherwise=(f"b_dec {B_DEC[bool(found.taken)]}", other))


def _open(found, said, matters):
    """What neither the file nor the reader says of the forward pass, and the options that do."""
    asked = {}
    if found.taken is None and matters and not said.b_dec:
        asked["whether b_dec is taken off before the encoder"] = "--b-dec taken, kept"
    gate = found.gate or said.activation
    ways = ACTIVATIONS if found.threshold is not None else ACTIVATIONS[:2]
    if gate == "jumprelu" and gate not in ways and not found.gate:
        raise ValueError(f"activation = jumprelu of a file without thresholds; allowed: --activation {', '.join(ways)}")
    if gate not in ACTIVATIONS:
        number = " (topk with --k NUMBER)" if found.k is None and said.k is None else ""
        asked["which latents pass"] = f"--activation {', '.join(ways)}{number}"
    if gate == "topk" and found.k is None and said.k is None:
        asked["how many latents pass"] = "--k NUMBER"
    return asked


def _lacking(said):
    """Where nothing says how often features are on, what to say of it: only k of a TopK is enough."""
    return "; and, unless k latents pass, one of --p, --l0, --firing, --features, --x" if said.lacking else ""


def _answered(found, said, matters, problem):
    """The forward pass, with the reader's answers where the file has none."""
    if asked := _open(found, said, matters):
        raise ValueError(f"{problem}, and neither they nor settings beside them say {' or '.join(asked)}; allowed: "
                         f"{'; '.join(asked.values())}{_lacking(said)}")  # fmt: skip
    gate = found.gate or said.activation
    for name, value, own in (
        ("b_dec", said.b_dec, found.taken if found.taken is None else B_DEC[not found.taken]),
        ("activation", said.activation, found.gate),
    ):
        if value is not None and own is not None:
            raise ValueError(f"{name} = {value} of a file that says it itself ({own}); allowed: none")
    if said.k is not None and (found.k is not None or gate != "topk"):
        raise ValueError(f"k = {said.k} of a file that says it itself, or of no TopK; allowed: none")
    taken = said.b_dec == "taken" if found.taken is None else found.taken
    return found._replace(taken=taken, gate=gate, k=said.k if found.k is None else found.k)


def _gated(E, D, c, d, found, told):
    """Weights of an autoencoder whose forward pass is known: the bias, the scale, and which latents pass."""
    b = c if found.taken else c + E @ d
    if np.any(d):
        told.append("b_dec is taken off before the encoder, so it drops out" if found.taken
                    else "b_dec stays in the encoder's input, so it is part of the bias")  # fmt: skip
    if found.rescaled:
        length = np.linalg.norm(D, axis=0)
        E, D, b = E * length[:, None], D / np.where(length > 0, length, 1), b * length
        told.append("latents are multiplied by the lengths of their directions")
    threshold, k = None, None
    if found.gate == "jumprelu" and np.any(np.asarray(found.threshold) > 0):
        threshold = np.broadcast_to(np.asarray(found.threshold, float).squeeze(), (len(E),))
        told.append("JumpReLU: only the simulation knows its thresholds, the formulas are those of ReLU")
    if found.gate == "topk":
        k = checks.whole("k", np.squeeze(found.k) if isinstance(found.k, np.ndarray) else found.k, 1, len(E))
        told.append(f"TopK: only the simulation knows that {k} latents pass, the formulas are those of ReLU")
    return Weights(b, W_in=D, W_out=E, threshold=threshold, k=k, l0=_aim(found.k), offset=d, is_sae=True)


def _aim(k):
    """How many latents the settings want on, if they say a number."""
    whole = np.size(k) == 1 and isinstance(np.squeeze(k).item(), (int, float)) and float(np.squeeze(k)) % 1 == 0
    return int(np.squeeze(k)) if whole and np.squeeze(k) > 0 else None
