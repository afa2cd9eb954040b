# Two commands do everything: `make` (set up, then the whole paper) and `make test`.
PYTHON ?= python3
CORES ?= all
BIN := .venv/bin
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES)
SMOKE := --configfile config/smoke.yaml

.DEFAULT_GOAL := paper
.PHONY: paper smoke setup dev test test-quick test-all test-slurm bench mutants verdicts golden compare
.PHONY: docs lint format lock clean help
.PHONY: .unlock .bench-setup .environment .build .install .tools

paper: setup .unlock  ## the whole paper, at full statistics
	$(SNAKEMAKE)

smoke: setup .unlock  ## the whole workflow, small
	$(SNAKEMAKE) $(SMOKE)

PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
UNITS := tests workflow/localizer workflow/stage
test-quick: dev  ## the unit tests alone: no run of the workflow, no simulation
	$(PYTEST) -m "not slow and not simulation" $(UNITS) \
	  --ignore=tests/workflow --ignore=tests/project --ignore=tests/mutants

test: dev lint  ## the quality tools, the unit tests and the quick tests of the workflow
	$(PYTEST) -m "not slow" $(UNITS)

test-all: dev  ## the slow tests: kills, cluster, LaTeX, browser
	$(PYTEST) -m slow tests

test-slurm: dev  ## the workflow through a real SLURM on this machine (as root, on Debian)
	$(BIN)/python -m pytest -m slow tests/workflow/test_slurm.py

lint: dev  ## ruff, snakefmt, mypy, import-linter, snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/mypy
	PYTHONPATH=workflow $(BIN)/lint-imports
	$(BIN)/snakemake --lint

format: dev  ## let ruff and snakefmt rewrite the sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow/rules

bench: .bench-setup  ## speed against KeOps, scikit-learn and plain NumPy; growth of time and memory
	PYTHONPATH=workflow .venv-bench/bin/python tests/bench --csv results/bench/bench.csv

mutants: dev  ## plant bugs, print those no test finds: make mutants COUNT=200 SEED=7 ONLY="workflow/stage"
	PYTHONPATH=workflow $(BIN)/python tests/mutants $(if $(COUNT),--count $(COUNT)) \
	  $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--files $(ONLY)) $(if $(AT_LEAST),--at-least $(AT_LEAST))

docs: setup  ## regenerate config/schema.json, config/README.md, docs/dag.md
	PYTHONPATH=workflow $(BIN)/python -m stage.configuration.pages
	{ echo "# The rules"; echo; \
	  echo "This graph shows the inputs of each rule. \`make docs\` writes it with \`snakemake --rulegraph mermaid-js\`."; \
	  echo; echo '```mermaid'; $(BIN)/snakemake --rulegraph mermaid-js $(SMOKE); echo '```'; } > docs/dag.md

RUN ?= results/paper
verdicts: dev  ## the verdicts of a run against the golden ones [RUN=results/paper]
	@$(BIN)/python tests/workflow/golden.py "$(RUN)"

golden: dev  ## make the verdicts of a run the golden ones; the diff is part of the review
	@$(BIN)/python tests/workflow/golden.py "$(RUN)" --renew

compare: setup  ## two results folders: make compare A=results/one B=results/two [TOLERANCE=1e-9]
	@test -n "$(A)" -a -n "$(B)" || { echo "make compare needs two results folders: make compare A=results/one B=results/two"; exit 2; }
	@PYTHONPATH=workflow $(BIN)/python -m stage.compare "$(A)" "$(B)" $(if $(TOLERANCE),--tolerance "$(TOLERANCE)")

# A killed run leaves a lock, and no other run would begin: free it if nobody holds it.
.unlock:
	@test ! -d .snakemake/locks || PYTHONPATH=workflow $(BIN)/python -m stage.kills

# An environment is complete when it holds a copy of the lock it was built from. The run's lock is
# apart from that of the tools which only those who change the workflow need.
setup:
	@$(MAKE) --no-print-directory .environment ENV=.venv LOCK=envs/requirements.lock

dev: setup  ## the tools of the tests and of `make lint`, beside the workflow's packages
	@cmp -s envs/dev.lock .venv/dev.lock || $(MAKE) --no-print-directory .tools

.tools:
	@$(MAKE) --no-print-directory .install ENV=.venv LOCK=envs/dev.lock
	@cp envs/dev.lock .venv/dev.lock

.bench-setup:
	@$(MAKE) --no-print-directory .environment ENV=.venv-bench LOCK=envs/bench.lock

.environment:
	@cmp -s $(LOCK) $(ENV)/built-from.lock || $(MAKE) --no-print-directory .build ENV=$(ENV) LOCK=$(LOCK)

.build:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is older than Python 3.11; say which one to use: make PYTHON=python3.11"; exit 1; }
	@echo "Setting up $(ENV) (once)"
	@$(PYTHON) -m venv --clear $(ENV) || \
	  { echo "$(PYTHON) cannot make a virtual environment; on Debian: apt install python3-venv"; exit 1; }
	@$(MAKE) --no-print-directory .install ENV=$(ENV) LOCK=$(LOCK)
	@cp $(LOCK) $(ENV)/built-from.lock
	@echo "Set up."

# uv, itself from the package index, takes a quarter of pip's time. It ignores pip's own
# configuration, so where packages come from a mirror that only pip knows, pip takes over.
PIP = $(ENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r
.install:
	@echo "  installing $(LOCK)"
	@{ test -x $(ENV)/bin/uv || $(PIP) envs/installer.lock 2>/dev/null; } && \
	  $(ENV)/bin/uv pip install --quiet --python $(ENV)/bin/python --compile-bytecode \
	    --require-hashes -r $(LOCK) || \
	  { echo "  uv could not install it; trying pip (about a minute)"; $(PIP) $(LOCK); }

COMPILE := uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 \
  --generate-hashes --no-header --no-annotate --upgrade
lock:  ## resolve envs/*.in anew (needs uv)
	$(COMPILE) envs/installer.in -o envs/installer.lock
	$(COMPILE) envs/requirements.in -o envs/requirements.lock
	$(COMPILE) -c envs/requirements.lock envs/dev.in -o envs/dev.lock
	$(COMPILE) -c envs/requirements.lock envs/bench.in -o envs/bench.lock

# With RUN= the results of one run, else all of them; it names what it removes and asks first.
CLEAN = $(if $(filter command line,$(origin RUN)),$(RUN),$(wildcard results/*/) .snakemake .cache)
clean:  ## remove all results, or one run's: make clean RUN=results/mine [YES=1]
	@test -z "$(filter-out results/%,$(filter-out .snakemake .cache,$(CLEAN)))$(findstring ..,$(CLEAN))" || \
	  { echo "$(RUN) is not a folder of results: make clean RUN=results/mine"; exit 2; }
	@echo "This removes: $(CLEAN)"
	@test -n "$(YES)" || { printf "Go on? [y/N] "; read answer && test "$$answer" = y; } || \
	  { echo "Nothing was removed."; exit 1; }
	@rm -rf $(CLEAN)

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
