# Bare `make` lists the commands. Every command does the set-up it needs by itself.
.DEFAULT_GOAL := help
SHELL := /bin/sh
.DELETE_ON_ERROR:

venv := .venv
ready := $(venv)/.ready
python := $(venv)/bin/python
code := $(wildcard src tests bench demo scripts)
# The seed of the second, random run of the property tests; `make test SEED=123` repeats one.
ifndef SEED
SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
endif

# Compiled once, not anew by each of the processes that a test run starts.
unexport PYTHONDONTWRITEBYTECODE
pytest := $(python) -m pytest -n auto --maxschedchunk=1
mypy := $(python) -m mypy $(code)
properties = $(shell grep -rl --include='test_*.py' hypothesis tests)

.PHONY: help
help:
	@echo "Souvenance: make COMMAND"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{printf "%-14s %s\n", $$1, $$2}'

$(ready): requirements.lock pyproject.toml scripts/set_up
	@PYTHON="$(PYTHON)" scripts/set_up

.PHONY: serve
serve: $(ready) ## Start the server on 127.0.0.1:7411; flags by ARGS="--port 7500"
	@exec $(venv)/bin/souvenance serve $(ARGS)

.PHONY: test
test: lint ## Check everything as CI does: lint, types, tests on both databases
	scripts/beside "$(mypy)" $(pytest) $(ARGS)
	@echo "Property tests once more with the random seed $(SEED); repeat with: make test SEED=$(SEED)"
	$(pytest) -m hypothesis --hypothesis-profile=random --hypothesis-seed=$(SEED) $(or $(ARGS),$(properties))

.PHONY: test-fast
test-fast: $(ready) ## Run the tests of rules and stores only: no processes, no browser
	$(pytest) -q $(wildcard tests/unit tests/property tests/conformance) $(ARGS)

.PHONY: prove
prove: $(ready) ## Run the full counts (kills, state machines, fuzzes) and write docs/proofs.md
	$(python) scripts/prove.py $(ARGS)

.PHONY: lint
lint: $(ready) ## Check style, format and the rooms' import contracts
	$(python) -m ruff check $(code)
	$(python) -m ruff format --check $(code)
	$(venv)/bin/lint-imports

.PHONY: types
types: $(ready) ## Check types, strictly
	$(mypy)

.PHONY: fix
fix: $(ready) ## Format and mend what can be mended by itself
	$(python) -m ruff check --fix $(code)
	$(python) -m ruff format $(code)

.PHONY: bench
bench: $(ready) ## Measure turns, memories, the proxy, summaries and the start; one JSON line each
	$(python) -m bench.turn
	$(python) -m bench.memories
	$(python) -m bench.proxy
	$(python) -m bench.first_token
	$(python) -m bench.prefix
	$(python) -m bench.long
	$(python) -m bench.start

.PHONY: demo
demo: $(ready) ## Load the invented life (English and French) into an account of its own
	$(python) -m demo.load $(ARGS)

.PHONY: docs
docs: $(ready) ## Write the reference pages that are made from the code
	$(python) scripts/reference.py

.PHONY: dist
dist: $(ready) ## Build the wheel and the source archive into dist/
	rm -rf dist
	$(python) -m build --no-isolation

.PHONY: lock
lock: $(ready) ## Make requirements.lock anew from pyproject.toml
	$(python) -m uv pip compile pyproject.toml --universal --python-version 3.11 --extra all --group dev \
		--generate-hashes --no-header --no-annotate --quiet --upgrade --output-file requirements.lock

.PHONY: clean
clean: ## Remove everything that can be made again, the virtual environment too
	rm -rf $(venv) .venv-unfinished dist build .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
