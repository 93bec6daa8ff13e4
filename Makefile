# `make demo` and `make test` set up everything they need in .venv on a machine with Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
UV := .cache/uv/bin/uv
# Tests wait for processes and sockets for more than a third of their time: three workers keep two cores busy. Each
# worker imports and collects all tests, which takes 5 seconds of CPU time.
WORKERS ?= 3
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.PHONY: demo test smoke test-all test-lowest test-pythons lock fuzz lint types coverage interop browser windows interop-page conformance bench wheel zipapp golden docs pictures release clean

$(READY): pyproject.toml tests/versions/tested.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint tests/versions/tested.txt --editable '.[dev,web]'
	touch $(READY)

# Two runs at the same time would install it twice.
$(UV): $(READY)
	tests/uv --version

demo: $(READY) ## the interface on the built-in demo server
	$(BIN)/inspector demo

test: $(READY) ## the unit, property and interface tests that start no process and take less than a quarter of a second
	$(PYTEST) -m "not slow"

smoke: $(READY) ## each verb once, and the interface in a terminal
	$(BIN)/python -m tests.smoke

test-all: $(READY) ## all tests
	$(PYTEST)

# `make coverage` runs every test. The runs below change one thing, and run the tests that this can break;
# `tests/versions/run lowest` and `tests/versions/run 3.13` without more words run all of them.
#
# A low version of a dependency breaks the modules that import it. Each package that imports one is here, with the tests
# of those modules (tests/versions/test_runs.py); the interface with a whole screen, a real terminal, themes and lists.
LOWEST_TESTS := tests/test_addresses.py tests/test_documents.py tests/transports tests/client tests/protocol tests/config \
	tests/serving \
	$(filter-out tests/auth/test_leaks.py,$(wildcard tests/auth/test_*.py)) \
	$(patsubst %,tests/calls/test_%.py,files schema writing) tests/doctor/test_urls.py tests/formats/test_otlp_stream.py \
	$(patsubst %,tests/cli/test_%.py,call completion failures help login) tests/features/api_clients/test_collections.py \
	$(patsubst %,tests/library/test_%.py,apps session sync) tests/redact/test_rules.py tests/features/skills/test_frontmatter.py \
	tests/tap/test_http.py tests/features/web \
	$(patsubst %,tests/tui/test_%.py,main_screen terminal themes driver key_order palette virtual_list text_view editor)

test-lowest: $(READY) $(UV) ## with Python 3.11 and the lowest dependencies that pyproject.toml allows: the tests of what calls them
	tests/versions/run lowest $(LOWEST_TESTS)

# A version of Python breaks the language (every module is imported), asyncio, subprocesses, files and the standard
# library's parsers: the folders that stand on them run whole, and the others with the test file that goes through most.
PYTHON_TESTS := tests/system tests/addons/test_session.py tests/transports tests/client tests/journal tests/protocol tests/library/test_sync.py \
	tests/library/test_session.py tests/serving tests/config/test_settings.py tests/config/test_paths.py \
	tests/auth/test_authorize.py tests/auth/test_store.py tests/check/test_judge.py tests/check/test_run.py tests/calls/test_files.py \
	tests/cli/test_processes.py tests/cli/test_program_name.py tests/cli/test_call.py tests/compare/test_values.py \
	tests/demo/test_demo_stdio.py tests/demo/test_demo_http.py tests/doctor/test_commands.py \
	tests/formats/test_formats.py tests/formats/test_foreign_files.py tests/recordings tests/redact/test_recording.py \
	tests/replay/mock/test_server.py tests/tap/test_stdio.py tests/features/web \
	tests/tui/test_main_screen.py tests/tui/test_terminal.py \
	tests/features/apps/test_page.py tests/features/cards/test_discovery.py tests/features/context tests/features/events/test_subscription.py \
	tests/hosts/test_facts.py tests/features/load/test_plan.py tests/features/load/test_report.py tests/features/skills/test_saving.py tests/journal/test_statistics.py \
	tests/test_text.py tests/test_imports.py \
	tests/test_pytest_plugin.py::test_tests_record_first_and_replay_afterwards tests/versions

PYTHONS := 3.12 3.13 3.14

test-pythons: $(PYTHONS:%=test-python-%) ## with the other Python versions and the newest dependencies: every package

test-python-%: $(READY) $(UV)
	tests/versions/run $* $(PYTHON_TESTS)

lock: $(READY) ## write the versions that `make` installs and the tests use
	tests/uv pip compile --quiet --universal --extra dev --extra docs --extra web --python-version 3.11 --upgrade --no-header --no-annotate \
		--output-file tests/versions/tested.txt pyproject.toml

MINUTES := 60
fuzz: $(READY) ## the property tests, on examples that were not tried before, for MINUTES=60
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

lint: $(READY) ## style, layers, known faults of dependencies
	$(BIN)/ruff check .
	$(BIN)/ruff check --preview --select PLW1514 inspector
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python -m tests.words
	$(BIN)/python -m tests.code_size
	$(BIN)/python -m tests.versions.audit

# What differs between systems stands in inspector/system (tests/system/test_seam.py), and the rest of the program is
# checked for each of them too: with a cache of its own, a run takes as long as the first.
types: $(READY) ## types, as on Linux, macOS and Windows
	$(BIN)/mypy
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32

# The tests of the interface run without the tracer: it triples their CPU time, and the engine has tests of its own.
coverage: $(READY) ## all tests with more examples, and the coverage of the engine (95 % at least)
	HYPOTHESIS_PROFILE=ci $(PYTEST) --cov --cov-report=term:skip-covered --ignore=tests/tui
	HYPOTHESIS_PROFILE=ci $(PYTEST) tests/tui

interop: $(READY) ## real servers from PyPI and npm
	tests/interop/run -n 2 --dist loadgroup

windows: $(READY) ## under Windows' own Python and Wine, which root gets from Debian: each verb, trees of processes, unit tests
	tests/windows/run

browser: $(READY) ## `inspector web` in Chromium, which root gets from Debian
	tests/browser/run

interop-page: $(READY) ## write the tables of docs/explanation/interop.md
	INSPECTOR_INTEROP_PAGE=1 tests/interop/run -k "test_corpus or test_authorization"

conformance: $(READY) ## the official conformance suite, from npm
	tests/conformance/run

bench: $(READY) ## the table of ratios against a raw loop and against peers
	benchmarks/run

wheel: $(READY) ## build, install into an empty environment, run from another folder
	tests/wheel/run

zipapp: $(READY) ## dist/inspector.pyz: one file for this system and this Python, tried in an empty folder
	tests/zipapp/run dist/inspector.pyz

golden: $(READY) ## make the recordings in recordings/ anew
	$(BIN)/python -m tests.recordings.make_recordings
	$(BIN)/python -m tests.recordings.make_kinds

docs: $(READY) ## the site of the docs, in build/site
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint tests/versions/tested.txt --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

pictures: $(READY) ## make the pictures of the docs
	$(BIN)/python docs/pictures/make.py

release: $(READY) ## VERSION=0.3.0: cut the changelog, run the checks, build the wheel and the sdist, commit and tag
	$(BIN)/python -m tests.release "$(VERSION)"

clean:
	rm -rf $(VENV) build dist .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
