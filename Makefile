# Two commands matter: `make demo` shows it working, `make test` proves it. Both set up what they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
# uv ignores pip's settings; hand over the one that says where local builds are.
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)
REPLAY := ../shared/data/replay
INPUTS := pyproject.toml constraints.txt

ifneq ($(UV),)
INSTALL := $(UV) pip install --quiet --python $(BIN)/python -c constraints.txt
else
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
endif

# What comes from the system: the sandbox for programs; the browsers and the database that tests use. Installed where that is allowed,
# else named, once, loudly.
SANDBOX_PACKAGES := bubblewrap libseccomp2
BROWSER_PACKAGES := chromium-headless-shell fonts-dejavu-core
FIREFOX_PACKAGES := firefox-esr
DATABASE_PACKAGES := postgresql

.PHONY: help setup system browser database demo test lint format docs bench clients mutants clean

help:
	@echo "make demo    set up and see it work (no key, no GPU, no network beyond the package registry)"
	@echo "make test    set up and run linters, types and all tests"
	@echo "make lint    linters and types only;  make format  put the code into shape"
	@echo "make docs    the documentation as a site, in site/ (see it: python3 -m http.server -d site)"
	@echo "make bench   the benchmarks;  make clients  real agents (Codex, opencode, LangGraph, aider) against our server; needs node"
	@echo "make mutants do the tests notice small mistakes? (an hour);  make clean   remove what setup made"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Podium needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "making $(VENV) ..."
ifneq ($(UV),)
	@$(UV) venv --quiet --python $(PYTHON) $(VENV)
else
	@$(PYTHON) -m venv $(VENV)
endif

$(VENV)/.train: $(INPUTS) | $(BIN)/python
	@echo "installing podium with torch and its server ..."
	@$(INSTALL) -e '.[serve,train]'
	@touch $@

$(VENV)/.dev: $(INPUTS) | $(BIN)/python
	@echo "installing podium and what its tests need ..."
	@$(INSTALL) -e '.[dev]'
	@touch $@ $(VENV)/.train

setup: system browser database $(VENV)/.dev

# $(call from_the_system,command,packages,what is missing without them,where else the command may be)
define from_the_system
	@command -v $(1) >/dev/null 2>&1 || ls $(4) >/dev/null 2>&1 || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	    echo "installing $(2) ..."; \
	    { apt-get install -y -qq --no-install-recommends $(2) >/dev/null 2>&1 || \
	      { apt-get update -qq >/dev/null && apt-get install -y -qq --no-install-recommends $(2) >/dev/null; }; } \
	    || echo "COULD NOT INSTALL $(2): $(3)" >&2; \
	  else \
	    echo "MISSING: $(1). $(3). Install it: sudo apt-get install $(2)" >&2; \
	  fi; }
endef

system:
	$(call from_the_system,bwrap,$(SANDBOX_PACKAGES),Programs can not be judged and their tests are skipped,/nowhere)

browser:
	$(call from_the_system,chromium-headless-shell,$(BROWSER_PACKAGES),Pages can not be looked at and their tests are skipped,"$$(command -v chromium)")
	$(call from_the_system,firefox-esr,$(FIREFOX_PACKAGES),Pages can not be looked at in Firefox and those tests are skipped,/usr/bin/firefox)

database:
	$(call from_the_system,postgres,$(DATABASE_PACKAGES),Several servers can not be tested over one database,/usr/lib/postgresql/*/bin/postgres)

demo: $(VENV)/.train
	@$(BIN)/podium demo $(if $(wildcard $(REPLAY)),--replay $(REPLAY))

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Tests start hundreds of processes; each would compile all of it anew where bytecode is not kept.
test: export PYTHONDONTWRITEBYTECODE =
test: system browser database lint
	$(BIN)/python -m pytest -n 3 --dist loadfile # more than the two cores: many tests wait for a server or a browser

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/.docs: $(INPUTS) | $(BIN)/python
	@echo "installing podium and what builds its documentation ..."
	@$(INSTALL) -e '.[docs]'
	@touch $@

docs: $(VENV)/.docs
	@$(BIN)/python docs/generate.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@$(BIN)/python docs/check_site.py
	@echo "the site is in site/; see it: python3 -m http.server -d site"

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.parser
	$(BIN)/python -m benchmarks.executor
	$(BIN)/python -m benchmarks.gym
	$(BIN)/python -m benchmarks.sandbox
	$(BIN)/python -m benchmarks.training
	$(BIN)/python -m benchmarks.resume
	$(BIN)/python -m benchmarks.study
	$(BIN)/python -m benchmarks.server
	$(BIN)/python -m benchmarks.runs_list
	$(BIN)/python -m benchmarks.open_pages
	$(BIN)/python -m benchmarks.page_speed

clients: $(VENV)/.dev
	@command -v npm >/dev/null 2>&1 || { echo "make clients needs node and npm: https://nodejs.org" >&2; exit 1; }
	$(BIN)/python -m benchmarks.clients

mutants: system database $(VENV)/.dev
	$(BIN)/python -m benchmarks.mutants

clean:
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache .hypothesis
