"""Pages that say "always" or "never", run at ends of their parameters, where the sentence should show its limits."""

from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parent.parent / "book"
ENDS = [
    ("ch5-cumulants", {"n": 2, "m": 8, "sigma": 0.4}),  # the open output decides: every law does the reverse
    ("ch5-cumulants", {"n": 3, "m": 8, "sigma": 0.5}),  # shut and open outputs nearly cancel
    ("ch5-cumulants", {"n": 8, "m": 16, "sigma": 0.02}),  # frozen under the coin
]


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "given"), ENDS, ids=lambda part: part if isinstance(part, str) else str(part))
def test_a_page_holds_at_the_ends_of_its_parameters(page, given, tmp_path):
    import papermill

    # a check whose measurement contradicts its verdict raises in its cell, also in a quick run
    papermill.execute_notebook(
        BOOK / f"{page}.ipynb", tmp_path / "run.ipynb", {**given, "quick": True, "steps": 20_000}, cwd=BOOK,
        kernel_name="python3", progress_bar=False,
    )  # fmt: skip
