"""Time two ways to do one thing, in turn, in one run on one machine."""

import statistics
import time


def compare(what, *, ours, alternative, name, runs=7):
    """Print the median of each and their ratio; the two take turns, so that a slow moment hits both."""
    seconds = {"ours": [], "alternative": []}
    for _ in range(runs + 1):
        for key, function in (("ours", ours), ("alternative", alternative)):
            start = time.perf_counter()
            function()
            seconds[key].append(time.perf_counter() - start)
    own, other = (statistics.median(times[1:]) for times in seconds.values())  # the first round warms up
    ratio = f"alternative / ours = {other / own:.2g}"
    print(f"{what}: {own * 1e3:.3g} ms; {name}: {other * 1e3:.3g} ms; {ratio}", flush=True)
