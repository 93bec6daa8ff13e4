# `make demo` and `make test` set up everything they need in .venv on a machine with Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Tests wait for servers, terminals and timers half of the time: more of them at once than there are processors.
WORKERS ?= 4
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.PHONY: demo test test-lowest test-pythons lock fuzz lint types coverage interop interop-page conformance bench wheel golden pictures clean

$(READY): pyproject.toml tests/versions/tested.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint tests/versions/tested.txt --editable '.[dev]'
	touch $(READY)

demo: $(READY) ## the interface on the built-in demo server
	$(BIN)/inspector demo

test: $(READY) ## the unit, property and interface tests
	$(PYTEST)

test-lowest: $(READY) ## all tests with Python 3.11 and the lowest dependencies that pyproject.toml allows
	tests/versions/run lowest

# A Python version breaks the language, the standard library and asyncio, which the engine and the command line use; the
# interface stands on Textual, and its tests are half of the time. So the newest Python runs everything, and 3.12, between
# two versions that do, runs all but those. 3.14 runs where the machine has it.
test-pythons: $(READY) ## the tests with the other Python versions and the newest dependencies
	tests/versions/run 3.12 --ignore tests/tui --ignore tests/benchmarks
	tests/versions/run 3.13
	tests/versions/run --if-present 3.14

lock: $(READY) ## write the versions that `make` installs, and the tests run with, anew
	tests/uv pip compile --quiet --universal --extra dev --python-version 3.11 --upgrade --no-header --no-annotate \
		--output-file tests/versions/tested.txt pyproject.toml

fuzz: $(READY) ## the property tests, on examples that were not tried before
	HYPOTHESIS_PROFILE=fuzz $(PYTEST) -m hypothesis

lint: $(READY) ## style, floors, known faults of dependencies
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python -m tests.versions.audit

types: $(READY)
	$(BIN)/mypy

coverage: $(READY) ## tests, with the coverage of floors 0 to 4 (95 % at least); a failure is told, and tried again
	$(PYTEST) --reruns 2 --cov --cov-report=term:skip-covered

interop: $(READY) ## real servers from PyPI and npm
	tests/interop/run -n 2 --dist loadgroup --reruns 2

interop-page: $(READY) ## the tables of docs/interop.md anew
	INSPECTOR_INTEROP_PAGE=1 tests/interop/run -k "test_corpus or test_authorization"

conformance: $(READY) ## the official conformance suite, from npm
	tests/conformance/run

bench: $(READY) ## the table of ratios against a raw loop and against peers
	benchmarks/run

wheel: $(READY) ## build, install into an empty environment, run from another folder
	tests/wheel/run

golden: $(READY) ## make the recordings in recordings/ anew
	$(BIN)/python -m tests.recordings.make_recordings
	$(BIN)/python -m tests.recordings.make_kinds

pictures: $(READY) ## make the pictures of the docs anew
	$(BIN)/python docs/pictures/make.py

clean:
	rm -rf $(VENV) build dist .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
