# `make help` lists the targets. A build writes only to .venv and build/, and rebuilds only what has changed.
SCENARIO ?= scenarios/dlrm_hier.yaml
ARGS     ?=
VENV     := .venv
BIN      := $(VENV)/bin
PIP      := $(BIN)/python -m pip install -qq --no-input --disable-pip-version-check -c constraints.txt
# All but `scripting`, which compiles for minutes.
EXTRAS   := cluster,pandas,parquet,plot,report
BUILD     = echo "Building the package (minutes the first time)" && \
            $(PIP) --no-build-isolation -e '.[$(EXTRAS)]' $(if $(WERROR),-Ccmake.define.COSIM_WERROR=$(WERROR)) && \
            $(BIN)/python -m compileall -q bridge cosim frontend topology_gen

CXX_FILES := $(shell find ns3-scratch bridge/src topology_gen/src frontend/src -name '*.cc' -o -name '*.cpp' -o -name '*.h')
SOURCES   := $(filter-out %-test.cc,$(CXX_FILES)) $(wildcard cmake/*.cmake */CMakeLists.txt */src/CMakeLists.txt) CMakeLists.txt pyproject.toml

.NOTPARALLEL:
.PHONY: help setup run test cosim-tests lint format tidy regression-update replay bench bench-compare fidelity fuzz docs reproduce wheel pins sbom scripting test-scripting test-sanitize coverage test-docker clean
help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 26

setup: $(VENV)/.built ## create .venv with the built package and .venv/bin/cosim

run: setup ## simulate SCENARIO=scenarios/x.yaml; options in ARGS="--set a.b=c --out DIR"
	@$(BIN)/cosim run $(SCENARIO) $(ARGS)

test: WERROR = ON
test: lint cosim-tests ## run lint, type checks, C++ warnings as errors, and all tests
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

cosim-tests: setup ## build the unit tests in C++ that `make test` runs
	@$(BIN)/cmake --build $$(ls -td build/cp3*/ | head -1) --target cosim-tests

lint: WERROR = ON
lint: setup $(VENV)/.dev $(VENV)/.strict
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	@echo clang-format --dry-run && $(BIN)/clang-format --dry-run -Werror $(CXX_FILES)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell
	$(BIN)/hadolint docker/Dockerfile

format: $(VENV)/.dev ## format the sources
	@$(BIN)/ruff check --quiet --fix-only && $(BIN)/ruff format && $(BIN)/clang-format -i $(CXX_FILES)

tidy: setup $(VENV)/.dev ## run clang-tidy on the C++ sources (slow)
	$(BIN)/clang-tidy -p $$(dirname $$(ls -t build/*/compile_commands.json | head -1)) --quiet $(filter-out %.h,$(CXX_FILES))

regression-update: setup $(VENV)/.dev ## rewrite the stored results of tests/regression
	$(BIN)/python -m pytest tests/regression --regen-all $(ARGS)

bench: setup $(VENV)/.dev ## measure speed; ARGS=--full for the full-size scenarios
	$(BIN)/python -m tests.bench $(ARGS)

bench-compare: $(VENV)/.dev ## compare the newest of benchmarks/ with the one before, or two files: ARGS="OLD NEW"
	@$(BIN)/python -m tests.bench.compare $(ARGS)

fidelity: setup $(VENV)/.dev ## compare the estimators with packets for docs/fidelity.md; ARGS="--only ring" prints these alone
	@$(BIN)/python -m tests.fidelity $(or $(ARGS),--native --write docs --store bridge/simulator/estimate_errors.json)

fuzz: setup $(VENV)/.dev ## give altered files to cosim for two minutes; ARGS="--seconds 600 --seed 2 --kind stream"
	@$(BIN)/python -m tests.fuzz $(ARGS)

docs: setup $(VENV)/.dev ## build the pages as a site, build/docs/index.html; warnings are errors
	$(BIN)/sphinx-build -qW --keep-going -c docs -d build/docs/.doctrees . build/docs

reproduce: setup $(VENV)/.dev ## repeat the published studies at full size for docs/reproduction*.md and docs/measured.md (100 minutes of CPU time)
	$(BIN)/cosim study astra-ns3-dlrm --scale full --page docs/reproduction.md $(ARGS)
	$(BIN)/cosim study topoopt --scale full --page docs/reproduction_topoopt.md $(ARGS)
	$(BIN)/cosim study tcp-clusters --scale full --page docs/reproduction_tcp_clusters.md $(ARGS)
	$(BIN)/cosim study roce --scale full --page docs/reproduction_roce.md $(ARGS)
	$(BIN)/cosim study schedulers --scale full --page docs/reproduction_schedulers.md $(ARGS)
	$(BIN)/cosim study direct-connect --scale full --page docs/reproduction_direct_connect.md $(ARGS)
	$(BIN)/cosim study measured-training --scale full --page docs/measured.md $(ARGS)
	$(BIN)/cosim study measured-collectives --scale full --page docs/measured_collectives.md $(ARGS)

replay: setup ## build ns3-scratch/replay, the simulator without Python
	@ln -sfn "../$$(ls -t build/*/ns3-scratch/replay | head -1)" ns3-scratch/replay && ls -l ns3-scratch/replay

wheel: $(VENV)/.base ## build and test a manylinux wheel for each Python, dist/*.whl; ARGS=/path/to/python3.12 for one
	@cmake/build-wheels.sh $(VENV) $(ARGS)

pins: $(VENV)/.base ## write docker/pins/, the hashes of what the image and the wheels need, after a change of constraints.txt
	@$(PIP) --group pins && docker/pin.sh $(VENV)

sbom: $(VENV)/.base ## write dist/cosim.cdx.json, the bill of materials of the image (CycloneDX)
	@$(PIP) --group sbom && docker/sbom.sh $(VENV)

scripting: setup ## install the extra `scripting`, ns-3's Python bindings (compiles for minutes)
	@$(PIP) "$$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["scripting"])')"

test-scripting: scripting $(VENV)/.dev ## install the extra `scripting` and run its tests, with the examples of docs/scripting.md
	$(BIN)/python -m pytest -n 0 -m scripting tests/bridge/test_scripting.py $(ARGS)

test-sanitize: setup $(VENV)/.dev ## run small streams, unit tests and altered files with memory errors and undefined behaviour as failures
	@cmake/build-instrumented.sh $(VENV) sanitize
	@tests/run-sanitized.sh $(VENV) $(ARGS)

coverage: setup $(VENV)/.dev ## measure which lines of C++ and Python the tests run; ARGS=tests/frontend for a part of them
	@$(PIP) --group coverage && cmake/build-instrumented.sh $(VENV) coverage
	@tests/measure-coverage.sh $(VENV) $(ARGS)

test-docker: setup ## build the Docker image and run it on a Docker engine
	docker/test-docker.sh

clean: ## remove .venv and everything built
	rm -rf $(VENV) build dist ns3-scratch/replay .*_cache

# Stamp files: the environment, the developer tools, the built package, and the package built with warnings as errors.
$(VENV)/.base: constraints.txt
	@python=$$(cmake/check-machine.sh $(PYTHON)) && echo "Creating $(VENV) with $$python" && $$python -m venv $(VENV)
	@$(PIP) --upgrade pip && $(PIP) --group build
	@$(if $(NS3_ROOT),,$(PIP) --no-deps ns3)
	@touch $@

$(VENV)/.dev: $(VENV)/.base pyproject.toml
	@echo "Installing the developer tools into $(VENV)"
	@$(PIP) --group dev
	@touch $@

$(VENV)/.built: $(VENV)/.base $(SOURCES)
	@$(BUILD)
	@touch $@

$(VENV)/.strict: $(VENV)/.built
	@grep -qs COSIM_WERROR:BOOL=ON build/*/CMakeCache.txt || { $(BUILD); }
	@touch $@
