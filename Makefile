# Each target makes its own virtual environment, builds and installs: `make demo` and `make test` are all one needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src -name '*.cpp' -o -name '*.hpp' -o -name '*.inl' -o -name '*.py') CMakeLists.txt pyproject.toml
CXX_FILES = $(shell git ls-files 'src/*.cpp' 'src/*.hpp' 'src/*.inl' 'tests/*.cpp')

.PHONY: help demo test lint format bench bench-full sanitize dev clean
help:
	@echo "make demo | test | lint | format | bench | bench-full | sanitize | dev | clean"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

# one stamp an extra: installing again happens only when a source changed
$(VENV)/.%: $(BIN)/python $(SOURCES)
	$(BIN)/pip install --quiet ".[$*]"
	@touch $@

demo: $(VENV)/.plot
	$(BIN)/python examples/demo.py

test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 tests

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)
	$(BIN)/lint-imports

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks run
	$(BIN)/python -m benchmarks table plot

bench-full: $(VENV)/.bench
	$(BIN)/python -m benchmarks run --full
	$(BIN)/python -m benchmarks table plot

# in place, for work on the C++ parts: build/dev, linked into src/dualgap; then PYTHONPATH=src
dev:
	cmake -S . -B build/dev -G Ninja $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
	ninja -C build/dev
	ln -sf ../../build/dev/$$(cd build/dev && ls _core*.so) src/dualgap/

clean:
	rm -rf $(VENV) build dist demo-out bench-out lab-out
