# Every target does its own set-up: nothing has to be installed or activated first.

# The pins are made for Python 3.11; a newer one works too.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
RUN := PATH="$(CURDIR)/$(BIN):$$PATH"
# Kept by `make lock`, since newer releases bring gigabytes of CUDA packages. To move: make lock TORCH=x.y.z
TORCH ?= $(shell sed -n 's/^torch==//p' constraints.txt)

.PHONY: book book-newest real test test-more test-lowest test-notorch bench mutants reference lock refresh quick packages archive pdf figures manifest release clean

# -n and --all: without them broken references pass, and a second build reads nothing again.
book: .venv/.ready
	$(RUN) jupyter-book build book -W -n --keep-going --all
	@echo "The book is at file://$(CURDIR)/_build/html/index.html"

# The way out, should jupyter-book 1 end: the same pages by Sphinx alone, on the newest releases of all that makes pages.
# These lie in a folder of their own, which Python looks into before .venv.
NEWEST := sphinx myst-parser myst-nb sphinx-book-theme sphinx-comments sphinx-copybutton sphinx-design sphinx-exercise \
	sphinx-external-toc sphinx-mathjax-offline sphinx-multitoc-numbering sphinx-proof sphinx-thebe sphinx-togglebutton \
	sphinxcontrib-bibtex
book-newest: .venv/.ready
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	$(BIN)/pip install --quiet --disable-pip-version-check --no-warn-conflicts --target "$$dir/newest" $(NEWEST) || \
	{ echo "skipped: the book on the newest Sphinx, myst-parser and theme, which pip cannot get here"; exit 0; }; \
	$(BIN)/pip list --path "$$dir/newest" | grep -iE "^(sphinx|myst-parser|myst-nb|sphinx-book-theme|docutils) "; \
	cp -r book _config.yml "$$dir"; \
	$(RUN) jupyter-book config sphinx "$$dir/book"; mv "$$dir/conf.py" "$$dir/book"; \
	PYTHONPATH="$$dir/newest:$(CURDIR)/scripts:$(CURDIR)/lib" \
	$(BIN)/python -c "import gc; gc.set_threshold(100_000); from sphinx.cmd.build import main; raise SystemExit(main())" \
	-W -n --keep-going -q "$$dir/book" _build/newest

# Every chapter against its stored outputs, the theory, the runs: files side by side, the longest first (conftest.py).
# After large changes, on a quiet machine: make test TESTFLAGS=--measure keeps how long each takes.
test: .venv/.ready
	$(RUN) pytest --nbval $(TESTFLAGS)

# What is left, and takes longer: pages in Chromium, JupyterLab, whole replays, fingerprints of all runs under all rewritings.
test-more: .venv/.ready
	$(RUN) pytest --nbval -m "look or thorough" $(TESTFLAGS)

# The theory alone, in environments of their own. Another Python: make test-notorch PYTHON=python3.13
test-lowest:
	"$(PYTHON)" scripts/theory_alone.py lowest

test-notorch:
	"$(PYTHON)" scripts/theory_alone.py newest

# Random faults in the library, each against the tests that import its module: make mutants MUTANTS="--seed 3 superposition.rug"
mutants: .venv/.ready
	$(RUN) python scripts/mutants.py $(MUTANTS)

# The pages of the reference, after a module or a name on a face came or went
reference: .venv/.ready
	$(RUN) python scripts/reference.py

# The material of chapter 12, in real/: two networks and three texts, by name, version and SHA-256; it resumes
real: .venv/.ready
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[real]'
	$(RUN) python scripts/real.py $(ARRAYS)

bench: .venv/.ready
	$(RUN) python benchmarks/bench.py $(BENCHFLAGS)

# Store the chapters with their outputs, run where code, library or tables changed; one of them: make refresh
# CHAPTERS=ch3, in any case: CHAPTERS='--again ch3'
refresh: .venv/.ready
	$(RUN) python scripts/refresh.py $(CHAPTERS)

# A quick look at every chapter, as a reader would take it, with the seconds each takes
quick: .venv/.ready
	@mkdir -p _build/quick
	@ls book/ch*.ipynb | $(RUN) OMP_NUM_THREADS=1 xargs -P $$($(BIN)/python -c "import os; print(os.cpu_count() or 1)") -I{} sh -ec \
	'start=$$(date +%s); papermill --no-progress-bar --log-level ERROR -p quick true {} _build/quick/$$(basename {}); \
	echo "{}: $$(($$(date +%s) - start)) s"'

# A fresh resolve of pyproject.toml's loose names in an environment of its own, never in .venv.
lock:
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	"$(PYTHON)" -m venv "$$dir/venv"; \
	echo "torch==$(TORCH)" > "$$dir/held.txt"; \
	"$$dir/venv/bin/pip" install --quiet --disable-pip-version-check -c "$$dir/held.txt" -e '.[book,release,real]'; \
	"$$dir/venv/bin/pip" freeze --exclude-editable > "$$dir/frozen.txt"; \
	sed 's/+cpu$$//' "$$dir/frozen.txt" > constraints.txt
	@echo "constraints.txt: $$(wc -l < constraints.txt) pins"

# What a reader takes away, in dist/: wheel and sdist, the built book in one archive, and as PDF, the reference apart
packages: .venv/.release
	$(RUN) python scripts/take_away.py packages

archive: book
	$(RUN) python scripts/take_away.py archive

# Needs Chromium (Debian: apt-get install chromium); ten minutes on two cores
pdf: book .venv/.release
	$(RUN) python scripts/take_away.py pdf

figures manifest: .venv/.ready
	$(RUN) python scripts/take_away.py $@

release:
	.ci/run
	$(MAKE) packages archive pdf figures
	@$(RUN) python scripts/take_away.py by_hand

clean:
	rm -rf _build dist

.venv/.ready: pyproject.toml constraints.txt scripts/ipython_kernel_config.py $(wildcard scripts/jupyter/*.* scripts/jupyter/*/*.*)
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	@echo "Setting up .venv: a minute or two, about 1.5 GB"
	"$(PYTHON)" -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[book]'
	mkdir -p .venv/etc/ipython .venv/etc/jupyter
	cp scripts/ipython_kernel_config.py .venv/etc/ipython/
	cp -r scripts/jupyter/. .venv/etc/jupyter/
	$(BIN)/python -m compileall -q lib
	@touch $@

.venv/.release: .venv/.ready
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[release]'
	@touch $@
