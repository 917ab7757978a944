# Each target makes its own virtual environment, builds and installs: `make demo` and `make test` are all one needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src -name '*.cpp' -o -name '*.hpp' -o -name '*.inl' -o -name '*.py') CMakeLists.txt pyproject.toml
CXX_FILES = $(shell git ls-files 'src/*.cpp' 'src/*.hpp' 'src/*.inl' 'tests/*.cpp')

.PHONY: help demo test lint format bench bench-full sanitize fuzz dev clean
help:
	@echo "make demo | test | lint | format | bench | bench-full | sanitize | fuzz | dev | clean"

# the build's own tools, so that the second build of a checkout compiles only what changed; setuptools and wheel build
# the peers that come as source (LIBLINEAR, LIBSVM)
$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet "scikit-build-core>=0.10" "nanobind>=2.4" cmake ninja setuptools wheel

# one stamp an extra: installing again happens only when a source changed
$(VENV)/.%: $(BIN)/python $(SOURCES)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/pip install --quiet --no-build-isolation ".[$*]"
	@touch $@

demo: $(VENV)/.plot
	$(BIN)/python examples/demo.py

test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 tests

# mypy reads the sources beside the types that the build took from the bindings
lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -c "import dualgap._core as c, shutil; shutil.copy(c.__file__.split('_core')[0] + '_core.pyi', '$(VENV)/_core.pyi')"
	ln -sf $(abspath $(VENV))/_core.pyi src/dualgap/_core.pyi
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

# The core built with address and undefined-behaviour sanitizers, then with the thread sanitizer, under the tests that
# drive it hardest.
sanitize: $(VENV)/.test
	$(BIN)/python tests/sanitize.py address,undefined
	$(BIN)/python tests/sanitize.py thread

# in place, for work on the C++ parts: build/dev, linked into src/dualgap; then PYTHONPATH=src
dev:
	cmake -S . -B build/dev -G Ninja $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
	ninja -C build/dev
	cd src/dualgap && ln -sf ../../build/dev/_core*.so ../../build/dev/_core.pyi .

# libFuzzer (clang) on the svmlight reader, FUZZ_SECONDS long, started from the malformed files that the tests keep
FUZZ_SECONDS ?= 60
fuzz:
	mkdir -p build/fuzz/corpus
	clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Isrc/core \
	    tests/fuzz/svmlight.cpp src/core/text/*.cpp src/core/base/team.cpp -o build/fuzz/svmlight -pthread
	build/fuzz/svmlight -max_total_time=$(FUZZ_SECONDS) -timeout=10 -dict=tests/fuzz/svmlight.dict -print_final_stats=1 \
	    build/fuzz/corpus tests/malformed

clean:
	rm -rf $(VENV) build dist demo-out bench-out lab-out
