# Needs Python 3.11 or newer, git and make; everything else is installed into .venv from requirements/test.lock.
PYTHON ?= python3
WORKERS ?= auto
BIN := .venv/bin
INSTALLED := .venv/.installed
PEERS := $(basename $(notdir $(wildcard benchmarks/peers/*.in)))
BENCHMARKS := $(filter-out harness,$(basename $(notdir $(wildcard benchmarks/*.py))))

# Compiled modules are kept: the tests start hundreds of processes, and without them each compiles all it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo test test-slow check lint format types layers docs checker peers bench lock clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS='	' read -r name text; do printf '  %-10s %s\n' "$$name" "$$text"; done

install: $(INSTALLED) ## create .venv with the locked packages and ourselves

$(INSTALLED): requirements/test.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "privately needs Python 3.11 or newer: make PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/test.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

demo: $(INSTALLED) ## show what it does
	$(BIN)/privately demo

test: $(INSTALLED) ## the fast suite, doctests and documents included
	$(BIN)/pytest -q -n $(WORKERS) -m "not slow"

test-slow: $(INSTALLED) ## the long statistical, fault and fuzz runs; SLICE=2/4 runs a part
	HYPOTHESIS_PROFILE=thorough $(BIN)/pytest -q -n $(WORKERS) -m slow $(if $(SLICE),--slow-slice $(SLICE)) \
		|| [ $$? -eq 5 ] # pytest's word for a slice without tests

check: lint types layers test ## all that must hold before a commit

lint: $(INSTALLED) ## ruff: rules and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: $(INSTALLED) ## let ruff repair what it can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

types: $(INSTALLED) ## mypy, strict
	$(BIN)/mypy src tests tools benchmarks

layers: $(INSTALLED) ## import-linter: who may import whom
	$(BIN)/lint-imports --no-logo --cache-dir .cache/import-linter

docs: $(INSTALLED) ## only the doctests and the documents' examples
	$(BIN)/pytest -q src tests/meta/test_docs_commands.py

checker: ## build dist/check.pyz, the certificate checker as one file
	$(PYTHON) tools/build_checker.py dist/check.pyz

peers: $(PEERS:%=benchmarks/peers/%/.installed) ## install each peer library into its own pinned environment

benchmarks/peers/%/.installed: benchmarks/peers/%.txt
	$(PYTHON) -m venv benchmarks/peers/$*
	benchmarks/peers/$*/bin/python -m pip install --quiet --require-hashes -r $<
	touch $@

bench: $(INSTALLED) ## run every benchmark; beside the peers if `make peers` was run
	for name in $(BENCHMARKS); do $(BIN)/python -m benchmarks.$$name || exit 1; done

COMPILE := .cache/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)

lock: .cache/uv/.installed ## bring the lock files up to date with pyproject.toml; UPGRADE=1 takes newer versions
	$(COMPILE) pyproject.toml --group test --output-file requirements/test.lock
	for peer in $(PEERS); do $(COMPILE) benchmarks/peers/$$peer.in --output-file benchmarks/peers/$$peer.txt || exit 1; done

.cache/uv/.installed:
	$(PYTHON) -m venv .cache/uv
	.cache/uv/bin/python -m pip install --quiet 'uv>=0.13,<0.14'
	touch $@

clean: ## remove all that was made
	rm -rf .venv .cache privately-demo .hypothesis .mypy_cache .pytest_cache .ruff_cache dist benchmarks/out $(PEERS:%=benchmarks/peers/%)
	find src tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
