"""Diagnosis: a model of the size of a layer, and a sparse autoencoder, against one product of their factors."""

import resource
import subprocess
import sys
import time
from functools import partial

import numpy as np
from superposition.diagnosis import autoencoder
from timing import Row

BLOCK = 256
# features, dimensions, mean number of features that are on; seconds of a core and megabytes that a diagnosis may take
SIZES = ((4096, 512, 40, 10, 1000), (16384, 768, 34, 60, 2000), (16384, 2304, 34, 90, 2500))

LARGEST = (65536, 2304, 66)


def arrays(ns, nd):
    """Random directions as a sparse autoencoder's, in single precision."""
    D = np.random.default_rng(0).standard_normal((nd, ns), dtype=np.float32)
    D /= np.linalg.norm(D, axis=0)
    return {"W_enc": D, "W_dec": np.ascontiguousarray(D.T), "b_enc": np.full(ns, -0.2, np.float32)}


def product(given):
    """What cannot be saved: every weight of the product once, block by block."""
    return sum(
        float((given["W_dec"][i : i + BLOCK] @ given["W_enc"]).min()) for i in range(0, len(given["b_enc"]), BLOCK)
    )


def within(ns, nd, l0, seconds, megabytes):
    """In a process of its own, on one thread: seconds of a core, and the most memory that it holds."""
    program = f"import sys; sys.path.insert(0, {sys.path[0]!r}); import rows_diagnosis as r; r.alone({ns}, {nd}, {l0})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    passed, taken, held = map(float, done.stdout.split())
    print(f"        diagnose {ns} x {nd} alone: {taken:.1f} s of a core, {passed:.1f} s, {held:.0f} MB", flush=True)
    assert taken <= seconds and held <= megabytes, f"{taken:.1f} s, {held:.0f} MB; allowed: {seconds} s, {megabytes} MB"


def alone(ns, nd, l0):
    """Print seconds that pass, seconds of a core and megabytes of one diagnosis."""
    given, passed, taken = arrays(ns, nd), time.perf_counter(), time.process_time()
    autoencoder.diagnose(given, l0=l0, activation="relu")
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(time.perf_counter() - passed, time.process_time() - taken, megabytes)


def diagnoses():
    """A diagnosis is a few times as dear as one product; seconds and megabytes are what it promises."""
    # 6.3 to 7.8 products at 4096 x 512 on a machine with other work, 4.4 to 6.8 with kernels of older processors
    for ns, nd, l0, seconds, megabytes in SIZES:
        given = arrays(ns, nd)
        yield Row(
            f"diagnose {ns} x {nd}, at most {seconds} s and {megabytes} MB", "one product of encoder and decoder", 12,
            partial(autoencoder.diagnose, given, l0=l0, activation="relu"), partial(product, given),
            same=partial(within, ns, nd, l0, seconds, megabytes), pairs=2,
        )  # fmt: skip
    yield Row("diagnose 65536 x 2304", "one product of encoder and decoder", 12, partial(alone, *LARGEST),
              partial(product, {}), skip="too long; in November 2026 it took 572 s of a core and 5931 MB")  # fmt: skip


GROUPS = (diagnoses,)
