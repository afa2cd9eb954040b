# Two commands do everything: `make` (set up, then the whole paper) and `make test`.
PYTHON ?= python3
CORES ?= all
BIN := .venv/bin
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES)
SMOKE := --configfile config/smoke.yaml

.DEFAULT_GOAL := paper
.PHONY: paper smoke setup test test-quick test-all test-slurm bench mutants verdicts golden compare
.PHONY: docs-dag lint format lock clean help
.PHONY: .unlock .bench-setup .environment .build

paper: setup .unlock  ## the whole paper, at full statistics
	$(SNAKEMAKE)

smoke: setup .unlock  ## the whole workflow, small
	$(SNAKEMAKE) $(SMOKE)

PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
UNITS := tests workflow/localizer workflow/stage
test-quick: setup  ## the unit tests alone: no run of the workflow, no simulation
	$(PYTEST) -m "not slow and not simulation" $(UNITS) \
	  --ignore=tests/workflow --ignore=tests/project --ignore=tests/mutants

test: setup lint  ## the quality tools, the unit tests and the quick tests of the workflow
	$(PYTEST) -m "not slow" $(UNITS)

test-all: setup  ## the slow tests: kills, cluster, LaTeX, browser
	$(PYTEST) -m slow tests

test-slurm: setup  ## the workflow through a real SLURM on this machine (as root, on Debian)
	$(BIN)/python -m pytest -m slow tests/workflow/test_slurm.py

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

bench: .bench-setup  ## speed against KeOps, scikit-learn and plain NumPy, side by side
	PYTHONPATH=workflow .venv-bench/bin/python tests/bench --csv results/bench/bench.csv

mutants: setup  ## plant bugs, print those no test finds: make mutants COUNT=200 SEED=7 ONLY="workflow/stage"
	PYTHONPATH=workflow $(BIN)/python tests/mutants $(if $(COUNT),--count $(COUNT)) \
	  $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--files $(ONLY)) $(if $(AT_LEAST),--at-least $(AT_LEAST))

docs-dag: setup  ## draw docs/dag.svg, the picture of the stages, anew
	$(SNAKEMAKE) dag $(SMOKE)
	cp results/smoke/dag.svg docs/dag.svg

RUN ?= results/paper
verdicts: setup  ## the verdicts of a run against the golden ones [RUN=results/paper]
	@$(BIN)/python tests/workflow/golden.py "$(RUN)"

golden: setup  ## make the verdicts of a run the golden ones; the diff is part of the review
	@$(BIN)/python tests/workflow/golden.py "$(RUN)" --renew

compare: setup  ## two results folders: make compare A=results/one B=results/two [TOLERANCE=1e-9]
	@test -n "$(A)" -a -n "$(B)" || { echo "which ones? make compare A=results/one B=results/two"; exit 2; }
	@PYTHONPATH=workflow $(BIN)/python -m stage.compare "$(A)" "$(B)" $(if $(TOLERANCE),--tolerance "$(TOLERANCE)")

# A killed run leaves a lock, and no other run would begin: free it if nobody holds it.
.unlock:
	@test ! -d .snakemake/locks || PYTHONPATH=workflow $(BIN)/python -m stage.kills

# An environment is complete when it holds a copy of the lock it was built from.
setup:
	@$(MAKE) --no-print-directory .environment ENV=.venv LOCK=envs/requirements.lock

.bench-setup:
	@$(MAKE) --no-print-directory .environment ENV=.venv-bench LOCK=envs/bench.lock

.environment:
	@cmp -s $(LOCK) $(ENV)/built-from.lock || $(MAKE) --no-print-directory .build ENV=$(ENV) LOCK=$(LOCK)

.build:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is older than Python 3.11; say which one to use: make PYTHON=python3.11"; exit 1; }
	@echo "Setting up $(ENV) from $(LOCK) (once; about two minutes)"
	@$(PYTHON) -m venv --clear $(ENV) || \
	  { echo "$(PYTHON) cannot make a virtual environment; on Debian: apt install python3-venv"; exit 1; }
	@$(ENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	@cp $(LOCK) $(ENV)/built-from.lock
	@echo "Set up."

COMPILE := uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 \
  --generate-hashes --no-header --no-annotate --upgrade
lock:  ## resolve envs/*.in anew (needs uv)
	$(COMPILE) envs/requirements.in -o envs/requirements.lock
	$(COMPILE) -c envs/requirements.lock envs/bench.in -o envs/bench.lock

clean:  ## remove the results and what Snakemake remembers of them
	rm -rf results/*/ .snakemake .cache

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
