# Everything a developer types. Needs GNU make, a POSIX shell and Python 3.11, 3.12 or 3.13 with venv; no root, no Docker.
#
# The virtual environment and the packages are set up by whichever target comes first, and again only when a lock file
# changes. PYTHON names the interpreter: make test PYTHON=python3.13

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help run manage reset test demo bench blame lint new release

help: ## Show this list
	@grep -E '^[a-z]+:.*## ' Makefile | sed -e 's/:[^#]*## /\t/' | awk -F '\t' '{ printf "  make %-8s %s\n", $$1, $$2 }'

run: $(VENV)/.run-ready ## Start everything, in the foreground, until Ctrl-C
	@exec $(BIN)/python -m baton_dev.run

manage: $(VENV)/.run-ready ## Run manage.py with the servers of `make run`: make manage ARGS="help"
	@exec $(BIN)/python -m baton_dev.run manage $(ARGS)

reset: $(VENV)/.run-ready ## Delete the data that `make run` keeps; stop it first
	@exec $(BIN)/python -m baton_dev.run reset

# Each suite in its folder. With ARGS, one alone: the project's own unless SUITE says otherwise.
SUITES := packages/baton-messaging packages/baton-dev .
SUITE ?= $(if $(ARGS),.,$(SUITES))

test: $(VENV)/.dev-ready ## Run the tests: make test ARGS="tests/orders -x", make test SUITE=packages/baton-dev
	@status=0; python=$$PWD/$(BIN)/python; for suite in $(SUITE); do \
		echo "=== $$suite"; (cd $$suite && exec $$python -m pytest $(or $(ARGS),-n 5 --dist loadfile)) || status=1; \
	done; exit $$status

demo: $(VENV)/.run-ready ## Place orders, kill a worker midway, show that nothing got lost
	@exec $(BIN)/python -m orders.demo $(ARGS)

bench: $(VENV)/.run-ready ## Measure against a plain Django view and a plain Celery task
	@exec $(BIN)/python -m benchmarks $(ARGS)

blame: $(VENV)/.dev-ready ## Inject faults into a running system, on each broker: do all views name whose they are?
	@exec $(BIN)/python -m baton_dev.blame packages/baton-messaging . $(ARGS)

new: $(VENV)/.run-ready ## Make a project of your own: make new DIR=../billing NAME=billing APP=invoices
	@exec $(BIN)/python -m baton_dev.new --dir="$$DIR" --name="$$NAME" --app="$$APP"

release: $(VENV)/.run-ready ## Write wheels and locks for `make upgrade` of such a project: make release DIR=../baton-0.3
	@exec $(BIN)/python -m baton_dev.new --release="$$DIR"

LINT_IMPORTS := "from importlinter.cli import lint_imports_command; lint_imports_command()"

lint: $(VENV)/.dev-ready ## Check style, types, imports, migrations and the settings of a deployment
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check
	python=$$PWD/$(BIN)/python; for suite in $(SUITES); do (cd $$suite && DJANGO_DEBUG=true $$python -m mypy) || exit 1; done
	$(BIN)/python -c $(LINT_IMPORTS)
	cd packages/baton-messaging && ../../$(BIN)/python -c $(LINT_IMPORTS)
	DJANGO_DEBUG=true $(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run
	DJANGO_SECRET_KEY="$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(50))')" \
		DJANGO_ALLOWED_HOSTS=shop.example.com $(BIN)/python manage.py check --deploy --fail-level WARNING \
		--settings tests.deployment

# --- Set-up --------------------------------------------------------------------------------------------------------
# Stamp files say what has been done. An environment that does not work (its Python is gone), or that was made by
# another Python than the one asked for on the command line, is made anew. The checks run on any Python, however old.

VERSION_OF = -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
ifneq ($(wildcard $(VENV)),)
  VENV_VERSION := $(shell $(BIN)/python $(VERSION_OF))
  ifeq ($(origin PYTHON),command line)
    WANTED_VERSION := $(shell $(PYTHON) $(VERSION_OF))
  else
    WANTED_VERSION := $(VENV_VERSION)
  endif
  ifneq ($(or $(VENV_VERSION),none),$(WANTED_VERSION))
    $(shell rm -f $(VENV)/.python-ready $(VENV)/.run-ready $(VENV)/.dev-ready)
  endif
endif

$(VENV)/.python-ready:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Baton needs Python 3.11, 3.12 or 3.13, but \`$(PYTHON)\` is: $$($(PYTHON) -V 2>&1 | tail -n 1)." \
			"Name another: make $(MAKECMDGOALS) PYTHON=python3.13" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "Baton needs Python's module venv, which \`$(PYTHON)\` lacks (Debian, Ubuntu: apt install python3-venv)." >&2; exit 2; }
	@echo "Making the virtual environment $(VENV)."
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# The installer shows what pip is at; it runs from its source, for nothing is installed yet.
INSTALLER = PYTHONPATH=packages/baton-dev/src $(BIN)/python -m baton_dev.install

$(VENV)/.run-ready: requirements.lock packages/baton-messaging/pyproject.toml packages/baton-dev/pyproject.toml | $(VENV)/.python-ready
	@$(INSTALLER) requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --no-index \
		-e packages/baton-messaging -e packages/baton-dev
	@touch $@

$(VENV)/.dev-ready: requirements-dev.lock $(VENV)/.run-ready | $(VENV)/.python-ready
	@$(INSTALLER) requirements-dev.lock
	@touch $@
