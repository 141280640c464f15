# make demo   a small model on this machine calls a script and a sandboxed module
# make test   the tests
# Both need Python 3.11 or newer, make and a package index; everything else is installed into .venv.

PYTHON ?= python3
VENV := .venv
MM := $(VENV)/bin/mm
MODEL := qwen2.5-coder-0.5b
READY := $(VENV)/.ready-run
READY_DEV := $(VENV)/.ready-dev

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types weights modules bench clean

help: ## Show the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("mm needs Python 3.11 or newer: make PYTHON=python3.12 …" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }  # half of one would be taken for whole next time

$(READY): pyproject.toml constraints.txt | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[local]'
	@touch $@

$(READY_DEV): $(READY)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[local,mcp,dev]'
	@touch $@

demo: $(READY) ## Run the main job with a real model on this machine
	@sh examples/demo.sh $(MM) $(MODEL)

weights: $(READY) ## Fetch the small model (about half a gigabyte)
	@$(MM) model pull $(MODEL) || echo "The weights could not be fetched: tests that need them are skipped."

modules: $(READY_DEV) ## Build the wasm modules of the examples
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(MAKE) --no-print-directory -C wasm-modules PYTHON=$(CURDIR)/$(VENV)/bin/python

test: modules weights ## Run the tests
	$(VENV)/bin/python -m pytest

lint: $(READY_DEV) ## Lint and check the format
	$(VENV)/bin/ruff check mm tests benchmarks examples docs
	$(VENV)/bin/ruff format --check mm tests benchmarks docs

types: $(READY_DEV) ## Check the types
	$(VENV)/bin/mypy

check: lint types test ## Everything that CI runs

bench: modules ## Run the benchmarks (half an hour with both models)
	$(VENV)/bin/python benchmarks/run_all.py

clean: ## Remove the virtual environment and what was built
	rm -rf $(VENV) build *.egg-info
	@$(MAKE) --no-print-directory -C wasm-modules clean
