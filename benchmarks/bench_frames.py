"""Applying a rug by fast transforms, against multiplying by its dense matrix."""

from superposition import features
from superposition.rug import rugs
from timing import compare

for ns in (1024, 4096, 3000):
    rug = rugs.Rug(ns, ns // 5, seed=0)
    R, x = rug.dense(), features.sample(ns, 0.05, 256, seed=0)
    compare(
        f"rug of {ns} features on 256 vectors",
        ours=lambda rug=rug, x=x: rug.apply(x),
        alternative=lambda R=R, x=x: x @ R,
        name="dense matrix product",
    )
