# Everything runs from here; `make help` lists the targets.
# Needed beforehand: Python 3.11 to 3.14, GNU make and git. Nothing is installed outside this folder.

UV_VERSION := $(shell sed -n 's/^uv==\([0-9.]*\).*/\1/p' workflow/uv.txt 2>/dev/null)
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 1)

BIN := .venv/bin
# A file's tests share what they set up, and run in one process. There is one more than cores where
# some tests wait, but not more: every process looks through all files of tests first.
DIST := --dist loadfile --no-loadscope-reorder
PARALLEL := -n $(shell expr $(CORES) + 1) $(DIST)
# Where tests of kernels are; the others run kernels to have something to show. test_forms.py compares
# compiled with interpreted, once and for all.
OF_KERNELS := engine policies library measures
INTERPRETED := tests/engine tests/policies tests/measures --ignore tests/policies/test_forms.py
INTERPRETED += $(addprefix tests/replication/test_,replay.py drawn_instances.py)
# What reads tables and draws: tests of other packages' versions. test_again.py draws a paper's figures.
NEWEST := $(addprefix tests/,report arena figures data library project/test_first_hour.py)
UV = .tools/uv-$(UV_VERSION)/bin/uv
STAMP := .venv/.setup-done
# Of rlberry the last with bandits; SMPyBandits needs what SciPy 1.14 no longer has.
PEERS := SMPyBandits==0.9.7 mabwiser==2.7.4 banditlab==1.1.0 bayesianbandits==0.7.0 \
  rlberry==0.6.0 'gymnasium<1' 'scipy<1.14'

# The project's own environment comes first for every command, and the caller's stays out of it.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_USER := 0
export UV_PROJECT_ENVIRONMENT := .venv
export UV_PYTHON_DOWNLOADS := never
export PYTHON
# What others cache in the user's home lies here where that cannot be written, or is none.
CACHES := d="$${XDG_CACHE_HOME:-$${HOME:-/nonexistent}/.cache}"; mkdir "$$d"; test -w "$$d" && echo yes
ifneq ($(shell ($(CACHES)) 2>/dev/null),yes)
export HOME := $(CURDIR)/.cache/home
unexport XDG_CACHE_HOME
endif
unexport VIRTUAL_ENV CONDA_PREFIX PYTHONHOME PYTHONPATH
# Every job is a process; without compiled modules each would start a second later.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.SUFFIXES:
.PHONY: help setup slurm replicate figures audit report report-pdf preview smoke verify archive test test-compiled \
  test-interpreted test-newest test-fast test-slurm packages faults bench bench-growth bench-peers sizes lint format clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo '  CORES=N sets the number of cores (here $(CORES)), PYTHON=... names the interpreter for setup.'

setup: $(STAMP) ## install the locked environment into .venv

slurm: setup ## install what sends jobs to a cluster (profiles/slurm)
	@$(UV) sync --frozen --inexact --extra replicate --group slurm

replicate: setup ## run all papers at the published scale: figures, audit and report
	@$(BIN)/fairbandits replicate --cores $(CORES)

figures: setup ## draw every figure, running what it needs
	@$(BIN)/fairbandits replicate --cores $(CORES) figures

audit: setup ## judge every claim, running what it needs
	@$(BIN)/fairbandits replicate --cores $(CORES) audit

report-pdf: setup ## write the reproduction report as a PDF, build/report.pdf
	@$(UV) sync --frozen --inexact --extra replicate --group pdf
	@$(BIN)/fairbandits article

report: setup ## build the report site, running what it needs
	@$(BIN)/fairbandits replicate --cores $(CORES) report

preview: setup ## run the published numbers of rounds with few replicates, in their own folders
	@$(BIN)/fairbandits replicate --preview --cores $(CORES)

smoke: setup ## run a small version of everything, in its own folders
	@$(BIN)/fairbandits replicate --smoke --cores $(CORES)

verify: setup ## check the results on disk against their records and results.lock
	@$(BIN)/fairbandits verify

archive: verify ## write a finished run as one file for a repository, build/fairbandits.zip
	@$(BIN)/fairbandits archive

test: test-compiled test-interpreted ## run the tests except `faults`, then those of kernels again with the kernels interpreted

test-compiled: setup
	@$(BIN)/python -m pytest $(PARALLEL) -m "not campaign and not slurm"

test-interpreted: setup
	@NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(PARALLEL) $(INTERPRETED) \
	  -m "kernels and not workflow and not slow and not campaign and not slurm"

test-fast: setup ## run the tests that take no time, for daily work
	@$(BIN)/python -m pytest -n $(CORES) $(DIST) -q $(OF_KERNELS:%=--ignore tests/%) \
	  -m "not browser and not workflow and not slow and not kernels and not campaign and not slurm"

faults: setup ## run the tests of faults, and write docs/faults.md
	@PYTHONPATH=tests $(BIN)/python -m pytest $(PARALLEL) -q -p faults_page

test-newest: setup ## run quick tests with the newest allowed versions, in .tools/newest
	@rm -rf .tools/newest
	@$(UV) venv --quiet --python $(BIN)/python .tools/newest
	@$(UV) pip install --quiet --python .tools/newest --group build
	@$(UV) pip install --quiet --python .tools/newest --exclude-newer 2099-01-01 --editable '.[replicate]' --group test
	@.tools/newest/bin/python -m pytest $(PARALLEL) -q $(NEWEST) \
	  -m "not browser and not workflow and not slow and not kernels and not campaign and not slurm"
	@.tools/newest/bin/python -m pytest -q tests/report/test_again.py

packages: setup ## list the packages (build/packages.json, CycloneDX), and look for advisories about them
	@mkdir -p build
	@$(UV) export --quiet --frozen --extra replicate --format cyclonedx1.5 --output-file build/packages.json
	@$(UV) audit --frozen --preview-features audit-command

test-slurm: slurm ## run the tests that start a cluster of one node
	@$(BIN)/python -m pytest -q -m slurm tests/workflow/test_slurm.py

bench: setup ## measure the speed of the simulation
	@$(BIN)/python benchmarks/run.py

bench-peers: setup ## time other bandit libraries beside ours, in .tools/peers
	@rm -rf .tools/peers
	@$(UV) venv --quiet --python $(BIN)/python .tools/peers
	@$(UV) pip install --quiet --python .tools/peers $(PEERS)
	@$(BIN)/python benchmarks/peers.py --peers .tools/peers/bin/python

bench-growth: setup ## draw how a round's time grows with rounds and arms
	@$(BIN)/python benchmarks/growth.py

sizes: setup ## measure size and power of the audit's procedures, and write them into docs/procedures.md
	@$(BIN)/python benchmarks/sizes.py

lint: setup ## check style, spelling, formatting and the workflow
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/snakefmt --check Snakefile workflow
	@$(BIN)/codespell
	@$(BIN)/snakemake --lint

format: setup ## format the sources in place
	@$(BIN)/ruff check --fix-only --quiet
	@$(BIN)/ruff format
	@$(BIN)/snakefmt Snakefile workflow

clean: ## remove results, logs and caches; figures/ and .venv stay
	@rm -rf results logs build .snakemake .cache .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -not -path './.venv/*' -not -path './.tools/*' -prune -exec rm -rf {} +

# The environment is made again for a Python that is named, where its own is gone, and in a folder
# that was moved: its scripts name the folder.
SET_UP_IN := $(shell cat $(STAMP) 2>/dev/null)
$(STAMP): pyproject.toml uv.lock $(if $(PYTHON),again) $(if $(realpath $(BIN)/python),,again) \
  $(if $(filter-out $(SET_UP_IN),$(CURDIR)),again)
	@sh workflow/setup.sh $(UV_VERSION)
	@echo 'Set up. Next: `. $(BIN)/activate`, so that the shell finds fairbandits, then `make smoke`'

.PHONY: again
again:
