# Everything runs in .venv, made from pyproject.toml in two steps: what users install, which is all
# that the demo needs, and then what tests and checks need besides.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
FULL := $(VENV)/.full
# One thread per BLAS call: the test workers share the cores.
QUIET_BLAS := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

LOCK := requirements.lock

.PHONY: help setup browser postgres java demo test test-slow fuzz check changelog bench picture results docs lock audit-deps sbom wheel clean

help:
	@echo "make demo       private principal components of made-up visits, with pictures and a report"
	@echo "make test       tests, below 10 minutes"
	@echo "make test-slow  statistical tests and audits"
	@echo "make fuzz       a million hostile inputs for every reader together"
	@echo "make browser    Chromium for the tests of the report, where it is missing"
	@echo "make postgres   PostgreSQL for the tests of the ledger, where it is missing"
	@echo "make java       Java for the tests of Spark, where it is missing"
	@echo "make check      linters, types, doors between rooms"
	@echo "make changelog  the notes in changes/ as a release will have them"
	@echo "make bench      time and memory against scikit-learn, numpy and others; writes docs/scaling"
	@echo "make picture    the picture of README and documentation, drawn again"
	@echo "make results    keeps what full studies in FROM=studies found, for the documentation"
	@echo "make docs       documentation in docs/_build/html"
	@echo "make setup LOCKED=1  the versions of $(LOCK), by their hashes; make lock writes it anew"
	@echo "make audit-deps known weaknesses of what is installed, where their list can be reached"
	@echo "make sbom       what is installed, as CycloneDX, in dist/sbom.json"
	@echo "make wheel      the wheel in dist, the same bytes every time"

setup: $(FULL)

$(CORE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gdppca needs Python 3.11 or later; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
ifdef LOCKED
	$(BIN)/python -m pip install --quiet --require-hashes -r $(LOCK)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(CORE) $(FULL)
else
	$(BIN)/python -m pip install --quiet --editable .
	@touch $(CORE)
endif

# Groups need a later pip than some Pythons bring.
$(FULL): $(CORE)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group test --group check
	@touch $(FULL)

demo: $(CORE)
	$(BIN)/gdppca demo

# Debian's package; elsewhere the tests of the report take any chromium on the path, or skip.
browser:
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y chromium fonts-liberation; } || \
	  { echo "Install chromium by your system's own means."; exit 1; }

# Debian's package; the tests start a server of their own, in a folder of their own.
postgres:
	@ls /usr/lib/postgresql/*/bin/postgres > /dev/null 2>&1 || command -v postgres > /dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y postgresql; } || \
	  { echo "Install postgresql by your system's own means."; exit 1; }

# Debian's package; Spark runs on Java 17 or later.
java:
	@command -v java > /dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y openjdk-17-jre-headless; } || \
	  { echo "Install Java 17 by your system's own means."; exit 1; }

test: setup
	$(QUIET_BLAS) $(BIN)/python -m pytest -n auto --dist worksteal

test-slow: setup
	$(QUIET_BLAS) $(BIN)/python -m pytest -m slow -n auto --dist worksteal --durations 10

# Coverage-guided; a finding stops the run and leaves its input in a file that is named.
fuzz: setup
	$(BIN)/python -m pip install --quiet --group fuzz
	for door in csv:300000 parquet:400000 release:250000 sealed:100000 description:20000 \
	  dialects:20000 workbook:50000 spss:50000 stata:50000 \
	  csv-in-parts:5000 parquet-in-parts:5000; do \
	  $(QUIET_BLAS) PYTHONPATH=tests $(BIN)/python tests/fuzz/atheris_doors.py \
	    $${door%:*} -runs=$${door#*:} -seed=1 || exit 1; \
	done

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

changelog: setup
	$(BIN)/towncrier build --draft --version next

bench: setup
	$(BIN)/python bench/scaling.py

picture: setup
	$(BIN)/python docs/pictures/first_look.py

# FROM is the folder that `gdppca study NAME --full` wrote into.
results: setup
	$(BIN)/python docs/paper/keep.py $(or $(FROM),studies)

docs: setup
	$(BIN)/python -m pip install --quiet --group docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

# Versions and hashes, no addresses: whoever installs from it takes them from where he takes packages.
lock: setup
	$(BIN)/python -m pip install --quiet --group supply
	$(BIN)/uv pip compile pyproject.toml --extra all --group test --group check --group build \
	  --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --quiet \
	  --upgrade -o $(LOCK)

audit-deps: setup
	$(BIN)/python -m pip install --quiet --group supply
	$(BIN)/pip-audit --requirement $(LOCK) --disable-pip

sbom: setup
	$(BIN)/python -m pip install --quiet --group supply
	@mkdir -p dist
	$(BIN)/cyclonedx-py environment $(BIN)/python --pyproject pyproject.toml --output-reproducible -o dist/sbom.json

wheel: setup
	$(BIN)/python -m hatchling build -t wheel -d dist

clean:
	rm -rf $(VENV) docs/_build docs/auto_examples docs/auto_paper docs/sg_execution_times.rst build dist
