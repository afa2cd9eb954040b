# Two commands do everything: `make` (set up, then the whole paper) and `make test`.
PYTHON ?= python3
CORES ?= all
BIN := .venv/bin
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES)
SMOKE := --configfile config/smoke.yaml

.DEFAULT_GOAL := paper
.PHONY: paper smoke setup test test-all lint format lock clean help

paper: setup  ## the whole paper, at full statistics
	$(SNAKEMAKE)

smoke: setup  ## the whole workflow, small
	$(SNAKEMAKE) $(SMOKE)

test: setup lint  ## the quality tools and the quick tests
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" tests workflow/localizer workflow/stage

test-all: setup  ## the slow tests: kills, cluster, LaTeX, browser
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow tests

lint: setup  ## ruff, snakefmt, mypy, snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/mypy
	$(BIN)/snakemake --lint

format: setup  ## let ruff and snakefmt rewrite the sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow/rules

# The environment is complete when it holds a copy of the lock it was built from.
setup:
	@cmp -s envs/requirements.lock .venv/requirements.lock || $(MAKE) --no-print-directory .venv/requirements.lock

.PHONY: .venv/requirements.lock
.venv/requirements.lock:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is older than Python 3.11; say which one to use: make PYTHON=python3.11"; exit 1; }
	@echo "Setting up .venv from envs/requirements.lock (once; about two minutes)"
	@$(PYTHON) -m venv --clear .venv || \
	  { echo "$(PYTHON) cannot make a virtual environment; on Debian: apt install python3-venv"; exit 1; }
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r envs/requirements.lock
	@cp envs/requirements.lock $@
	@echo "Set up."

lock:  ## resolve envs/requirements.in anew (needs uv)
	uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate --upgrade envs/requirements.in -o envs/requirements.lock

clean:  ## remove the results and what Snakemake remembers of them
	rm -rf results/*/ .snakemake .cache

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
