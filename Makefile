# Set-up and the usual tasks; only Python 3.11 or newer and make are needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-slow lint derived schema wheel-check lock storm storm-slice mutants bench bench-compare bench-judging docs linkcheck samples clean

demo: $(VENV)/.sim  ## run the example models on the simulated board; leaves report.html
	$(BIN)/pytest autodeploy --tflite=examples/models --html report.html --self-contained-html

# Some hundred processes of the tests would compile the package anew without its bytecode, and each
# would start a thread per core with NumPy.
test test-slow: export PYTHONDONTWRITEBYTECODE =
test test-slow: export OPENBLAS_NUM_THREADS = 1
test: $(VENV)/.dev  ## run the tests, on every core, but for the slow ones
	$(BIN)/pytest -n auto --dist worksteal -m 'not slow'

test-slow: $(VENV)/.dev  ## run the tests that take seconds each: many processes, fuzz, statistics
	$(BIN)/pytest -n auto --dist worksteal -m slow

lint: $(VENV)/.dev  ## lint, format, types and the tiers of the rooms
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

derived: $(VENV)/.dev  ## write anew what is derived and kept: options, markers, the JSON Schema of results
	$(BIN)/python -c 'from pytest_autodeploy.report.result_json import write_schema; write_schema()'
	$(BIN)/python -c 'from pytest_autodeploy.plugin.derived import write; write()'

schema: derived

docs: $(VENV)/.dev  ## build the site into build/docs; a warning is an error
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs

linkcheck: $(VENV)/.dev  ## try each link of the docs to another site; needs the network, which CI has not
	$(BIN)/python -m sphinx -q -b linkcheck docs build/linkcheck

samples: $(VENV)/.dev  ## run what the site shows anew, and keep what it printed
	$(BIN)/python docs/samples/make.py

wheel-check: $(VENV)/.dev  ## build the wheel and its SBOM into dist/, and use it outside the checkout
	$(BIN)/python .ci/wheel_check.py

lock: $(VENV)/.dev  ## write the versions that CI installs: the newest ones of today
	$(BIN)/python .ci/lock.py

storm: $(VENV)/.dev  ## faults by the thousand, against the truth; an hour and more
	$(BIN)/python -m tests.storm

storm-slice: $(VENV)/.dev  ## the part of the storm that CI runs
	$(BIN)/python -m tests.storm --slice

mutants: $(VENV)/.dev  ## whether tests notice mistakes in what judges; hours, or MOST=10 of each module
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'cosmic-ray>=8.7' 'pytest-cov>=7'
	$(BIN)/python .ci/mutants.py $(if $(MOST),--most $(MOST))

bench: $(VENV)/.dev  ## measure start-up, RPC and whole runs, with bounds; ONLY="rpc kws-10" for parts; into build/bench.json
	$(BIN)/python -m tests.benchmarks.speed $(if $(ONLY),--only $(ONLY))

bench-compare: $(VENV)/.dev  ## the same, held against KEPT=FILE, the JSON of an earlier one
	$(BIN)/python -m tests.benchmarks.speed $(if $(ONLY),--only $(ONLY)) --compare $(KEPT)

bench-judging: $(VENV)/.dev  ## how well gates, energies and searches for inputs judge: statistics, minutes
	$(BIN)/pytest tests/benchmarks -o python_files='bench_*.py' -s

clean:
	rm -rf $(VENV) build dist autodeploy-results report.html

$(VENV)/.sim: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[sim]'
	touch $@

$(VENV)/.dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@
