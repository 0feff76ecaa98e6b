# `make demo` and `make test` need Python 3.11 or later and make, nothing else.
PYTHON ?= python3
# Another Python gets an environment of its own: make test PYTHON=python3.13
VENV := .venv$(if $(filter-out python3,$(PYTHON)),-$(notdir $(PYTHON)))
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Tests run side by side, on as many cores as there are, up to four.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal

.PHONY: demo check test browser lint wheel test-wheel test-oldest test-newest bench clean help

help:
	@echo "make demo    set up .venv and find the similar documents in examples/"
	@echo "make check   what a change needs: style, types, and every test but the long ones"
	@echo "make test    set up .venv and run every test"
	@echo "make lint    check style and types"
	@echo "make wheel   build the package into dist/"
	@echo "make test-wheel   install that into fresh environments, with the oldest and the newest"
	@echo "                  versions of what it needs, and use it there"
	@echo "make bench   measure speed, with accuracy and the peers beside it"
	@echo "make clean   remove .venv and caches"

demo: $(VENV)/installed
	$(BIN)/lookalike find examples/documents

# Kernels run three times: compiled, compiled with bounds checks, and as plain Python. Tests on Spark
# share one cluster, and so one process.
test: $(VENV)/tested browser
	$(PYTEST) -m "not spark"
	$(BIN)/python -m pytest -m spark
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=.cache/bounds $(PYTEST) -m kernels
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m kernels

# Pages are tested in Chromium: found on the path, or installed where that may be done.
browser: $(VENV)/made
	@$(BIN)/python tools/browser.py

# What a change needs, in two minutes on two cores.
check: lint
	$(PYTEST) -m "not long and not spark"

lint: $(VENV)/tested
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

wheel: $(VENV)/made
	rm -rf dist
	$(PIP) wheel --quiet --no-deps --wheel-dir dist .

test-wheel: test-oldest test-newest

test-oldest test-newest: test-%: wheel
	$(BIN)/python tools/fresh_install.py dist/*.whl $*

bench: $(VENV)/benched
	$(BIN)/python -m benchmarks texts --documents 10000 --limit 60

clean:
	rm -rf .venv .venv-* .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist benchmarks/.corpora benchmarks/.environments
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp for each set of packages, so that a second run downloads nothing.
$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/installed: pyproject.toml constraints.txt | $(VENV)/made
	$(PIP) install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/tested: $(VENV)/installed
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

$(VENV)/benched: $(VENV)/installed
	$(PIP) install --quiet --constraint constraints.txt --editable '.[bench]'
	touch $@
