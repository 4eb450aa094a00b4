# What a developer types; CI runs the same targets. Everything installs into .venv and build/.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
PIP := $(BIN)/pip --quiet --disable-pip-version-check

FUZZ := build/asan/bpe_fuzz
CORPUS := cpp/fuzz/corpus/bpe
FUZZ_SECONDS ?= 1800

# What scikit-build-core fetches because the machine has none (cmake) is found here.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell getconf _NPROCESSORS_ONLN)

# With the folders, so that a file that goes away counts as a change too.
SOURCES := pyproject.toml README.md CMakeLists.txt $(shell find cpp/include cpp/src cpp/bindings python -not -name '*.pyc' \
  -not -name __pycache__)

.PHONY: help demo test exhaustive bench lint format types sanitize fuzz tidy clean

help:
	@echo "make demo      render the example conversations and show one"
	@echo "make test      run the tests"
	@echo "make exhaustive  the encoder against other packages on every code point and the whole corpus (an hour)"
	@echo "make bench     check against the renderers package, measure beside other packages"
	@echo "make lint      check style: ruff, clang-format"
	@echo "make format    rewrite the sources in that style"
	@echo "make types     mypy, and stubtest on the native module"
	@echo "make sanitize  the core's own tests under the address, undefined-behaviour and thread sanitizers; fuzzing"
	@echo "make fuzz      the encoder against a simple one on random vocabularies and texts (FUZZ_SECONDS=1800)"
	@echo "make tidy      clang-tidy on the core"
	@echo "make clean     remove .venv, .venv-bench and build"

demo: $(VENV)/with-cli
	mkdir -p build
	$(BIN)/turnloom render examples/*.jsonl -o build/demo.parquet --tokenizer builtin --family qwen3
	$(BIN)/turnloom show build/demo.parquet --row 0 --tokenizer builtin

test: $(VENV)/with-test
	$(BIN)/python -m pytest

exhaustive: $(VENV)/with-test
	$(BIN)/python -m pytest tests/test_exhaustive.py --exhaustive

bench: $(BENCH)/with-bench
	$(BENCH)/bin/python bench/differential_renderers.py
	$(BENCH)/bin/python bench/differential_bridge.py
	$(BENCH)/bin/python bench/compare.py --python-1-0 $(BENCH)-1.0/bin/python

lint: $(VENV)/with-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	find cpp -name '*.[ch]pp' | xargs $(BIN)/clang-format --dry-run --Werror

format: $(VENV)/with-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	find cpp -name '*.[ch]pp' | xargs $(BIN)/clang-format -i

types: $(VENV)/with-dev
	$(BIN)/mypy python/turnloom
	$(BIN)/stubtest --mypy-config-file pyproject.toml --allowlist scripts/stubtest_allowlist.txt turnloom._core

sanitize: $(VENV)/tools
	cmake --preset asan
	cmake --build --preset asan
	ctest --preset asan
	$(FUZZ) $(CORPUS) 60
	cmake --preset tsan
	cmake --build --preset tsan --target threads_test
	ctest --preset tsan --tests-regex threads_test

# Inputs that reach new code are added to the corpus.
fuzz: $(VENV)/tools
	cmake --preset asan
	cmake --build --preset asan --target bpe_fuzz
	$(FUZZ) $(CORPUS) $(FUZZ_SECONDS) $$RANDOM keep

tidy: $(VENV)/with-dev
	cmake --preset dev
	find cpp/src -name '*.cpp' -print0 \
	  | xargs -0 -n 1 -P $${CMAKE_BUILD_PARALLEL_LEVEL} $(BIN)/clang-tidy --quiet -p build/dev

clean:
	rm -rf $(VENV) $(BENCH) $(BENCH)-1.0 build

# The package with one of its extras. Not an editable install: tests run what a user gets. The build
# runs in the venv, not in a new environment each time, so that cmake compiles only what changed.
$(VENV)/with-%: $(SOURCES) | $(VENV)/tools
	$(PIP) install --no-build-isolation '.[$*]'
	@touch $@

$(VENV)/tools:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
	  | $(PIP) install -r /dev/stdin
	$(BIN)/python -c 'from scikit_build_core.build import get_requires_for_build_wheel as needs; print(*needs())' \
	  | xargs -r $(PIP) install
	@touch $@

# What it is compared with has an environment of its own, and tokenizers 1.0 another one.
$(BENCH)/with-bench: $(SOURCES) bench/requirements.txt bench/requirements-1.0.txt | $(VENV)/tools
	test -d $(BENCH) || $(PYTHON) -m venv $(BENCH)
	test -d $(BENCH)-1.0 || $(PYTHON) -m venv $(BENCH)-1.0
	$(PIP) wheel --no-build-isolation --no-deps --wheel-dir build/bench .
	$(BENCH)/bin/pip --quiet install -r bench/requirements.txt
	$(BENCH)/bin/pip --quiet install --force-reinstall --no-deps build/bench/turnloom-*.whl
	$(BENCH)-1.0/bin/pip --quiet install -r bench/requirements-1.0.txt
	@touch $@
