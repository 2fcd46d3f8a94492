"""Make the certificates of Theorem F again: `python scripts/bound_certificates.py [P ...]`, about two minutes each.

Those of probabilities that are not named stay as they are. Every certificate is verified before it is kept.
"""

import sys

import numpy as np
from superposition.codes import stored_bounds, verified_bounds
from superposition.codes.frequency_programs import certificate

CREDITS = np.array([0, 1, 2, 3, 4.5, 7, 11, 18, 30, 60, 150, 400.0])


def settled(certificate):
    """The certificate with constants and phi lowered as far as verification asks for."""
    p, A, phi = certificate.p, certificate.A, certificate.phi
    steps = [
        tuple(_lowered(p, cell, 1e-3 * max(float(end), 1e-4)) for cell in step)
        for step, end in zip(certificate.cells, phi[1:], strict=True)
    ]
    for share in (0, 0.004, 0.01, 0.02, 0.04, 0.08):
        found = certificate._replace(phi=phi - share * (phi + phi[1]), cells=tuple(steps))
        if all(
            verified_bounds.proves(p, cell, float(A[at]), float(found.phi[at]))
            for k, step in enumerate(steps)
            for cell in step
            for at in (k, k + 1)
        ):
            return found
    return certificate


def _lowered(p, cell, step):
    """A cell with its constant lowered, in up to 20 steps, until the cosines lie below h."""
    for _ in range(20):
        if verified_bounds.lies_below(p, cell):
            break
        cell = cell._replace(c=cell.c - step)
    return cell


def main(chosen):
    path = stored_bounds.stored_file()
    kept = {one.p: one for one in stored_bounds.certificates()} if path.exists() else {}
    for p in chosen or sorted(kept):
        kept[p] = settled(certificate(p, CREDITS[CREDITS <= 30 / p]))
        new = path.with_suffix(".new")
        stored_bounds.saved(new, kept.values())
        one = next(one for one in stored_bounds.certificates_in(new) if one.p == p)  # in the precision that is kept
        if failures := verified_bounds.failures(one):
            new.unlink()
            raise SystemExit(f"p = {p:g}: {failures[0]}")
        new.replace(path)
        print(f"p = {p:g}: phi = {one.phi.round(5).tolist()}", flush=True)


if __name__ == "__main__":
    main([float(p) for p in sys.argv[1:]])
