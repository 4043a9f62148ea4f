# On a new machine, run make demo or make test. Both install the dependencies first.
PYTHON ?= python3.11
PORT ?= 8000
VENV := .venv
RUN := $(VENV)/bin/python
UV_COMPILE = $(VENV)/bin/uv pip compile -q --universal --no-header --no-annotate --generate-hashes --python-version
STAMP := $(VENV)/.installed
DEMO_STAMP := $(VENV)/.installed-demo
export SECRET_KEY ?= only-for-this-checkout
export INSECURE_HTTP ?= 1
# With this variable set, every process of the tests and the demo would compile all sources again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.PHONY: setup
setup: $(STAMP) messages ## Create .venv with the locked dependencies and compile the message catalogs

define INSTALL
@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 is required. Install it, or set its path with PYTHON=..."; exit 1; }
@echo "Installing the locked packages of $< into $(VENV) ..." >&2
@$(PYTHON) -P scheduler_admin/demo/install.py $(VENV) $<
@touch $@
endef

$(STAMP): requirements-dev.lock
	$(INSTALL)
	@touch $(DEMO_STAMP)

# The demo needs a third of the packages. Those of the tests contain them.
$(DEMO_STAMP): requirements-demo.lock
	$(INSTALL)

CLIENT_LOCALE := scheduler_admin_client/locale
CATALOGS := $(patsubst %.po,%.mo,$(wildcard locale/*/LC_MESSAGES/django.po $(CLIENT_LOCALE)/*/LC_MESSAGES/*.po))
.PHONY: messages
messages: $(CATALOGS)

%.mo: %.po | $(DEMO_STAMP)
	@echo "Compiling the message catalog $< ..." >&2
	@$(VENV)/bin/pybabel -q compile -i $< -o $@

.PHONY: catalogues
catalogues: $(STAMP) ## Add new texts to the message catalogs for translation (needs GNU gettext)
	$(RUN) manage.py makemessages -l zh_Hans --no-location --no-obsolete -i .venv -i 'tests/*' -i docs -i 'var/*' \
	  -i 'scheduler_admin_client/*'
	@mkdir -p var
	$(VENV)/bin/pybabel -q extract -k ngettext:1,2 --no-location --omit-header -o var/client.pot scheduler_admin_client
	$(VENV)/bin/pybabel -q update -D scheduler_admin_client -d $(CLIENT_LOCALE) -i var/client.pot --no-fuzzy-matching \
	  --ignore-obsolete --ignore-pot-creation-date

.PHONY: demo
demo: $(DEMO_STAMP) messages ## Run Scheduler Admin on this machine with a simulated cluster
	@$(RUN) manage.py demo --port $(PORT)

.PHONY: browser
browser: setup
	@(command -v chromium-headless-shell || command -v chromium) >/dev/null || $(VENV)/bin/playwright install chromium

.PHONY: quick
quick: setup ## Lint and test what your changes affect (SINCE=main: all changes since main)
	@$(RUN) -m tests.runner.quick $(SINCE)

.PHONY: test
test: setup lint browser ## Run all linters and tests, except the long suites
	$(RUN) -m tests.runner.parts

.PHONY: test-long
test-long: setup browser ## Run the long test suites, such as soak, fuzz and PostgreSQL (SUITE=soak: only this one)
	$(RUN) -m tests.runner.suites $(or $(SUITE),all)

.PHONY: test-peers
test-peers: setup ## Test with the real YuniKorn, Kueue and Volcano, built from checkouts in PEERS_SRC (not run in CI)
	$(RUN) -m tests.runner.suites peers

.PHONY: ci-suite
ci-suite: $(STAMP) ## Print the long test suite that CI runs for this commit
	@$(RUN) -m tests.runner.suites next

.PHONY: lint
lint: setup ## Check style, types, layers, migrations and deployment settings
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint-types lint-style lint-templates lint-layers lint-django

.PHONY: lint-style lint-templates lint-types lint-layers lint-django
lint-style:
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(RUN) -m tests.house
lint-templates:
	$(VENV)/bin/djade --check --target-version 5.2 $$(find templates -type f ! -name '*.yml')
	$(VENV)/bin/djlint --lint --quiet templates
lint-types:
	$(VENV)/bin/mypy
lint-layers:
	$(VENV)/bin/lint-imports
lint-django:
	$(RUN) manage.py makemigrations --check --dry-run
	@SECRET_KEY=$$($(RUN) -c 'import secrets; print(secrets.token_urlsafe(64))') INSECURE_HTTP=0 \
	  $(RUN) manage.py check --deploy --fail-level WARNING

.PHONY: fuzz
fuzz: setup ## Fuzz every parser with a million documents (for fewer: python -m tests.fuzz --examples)
	$(RUN) -m tests.fuzz --examples 1000000

.PHONY: soak
soak: setup ## Run in mode enforce on a simulated cluster with random faults (MINUTES=60 SEED=1 DATABASE=sqlite)
	@mkdir -p var
	$(RUN) -m tests.soak --minutes $(or $(MINUTES),60) --seed $(or $(SEED),1) --database $(or $(DATABASE),sqlite) --out var/soak.json

.PHONY: bench
bench: setup browser ## Run all benchmarks at a tenth of full size and compare with stored runs (SCALE=1: full size)
	$(RUN) -m benchmarks all --scale $(or $(SCALE),0.1) --out var/bench.json

.PHONY: screenshots
screenshots: setup browser ## Take screenshots of every page of the demo, light and dark, in three widths
	$(RUN) -m tests.browser.screenshots var/screenshots
	@mkdir -p docs/screenshots
	cp $(addprefix var/screenshots/,queues-light-1280.png queue-light-1280.png decision-light-1280.png history-dark-1280.png draft-light-1280.png fences-light-1280.png pod-preempted-light-360.png) docs/screenshots

.PHONY: settings-page
settings-page: setup ## Regenerate docs/settings.md from the sources
	$(RUN) -m tests.deploy.settings_page

.PHONY: chart-readme
chart-readme: setup ## Regenerate the README of the chart from its schema
	$(RUN) -m tests.deploy.chart_page

.PHONY: docs
docs: setup ## Build the documentation site into var/documentation/site, with all its links checked
	@$(RUN) -m tests.documentation.site

.PHONY: lock
lock: $(STAMP) ## Update the lock files from pyproject.toml
	$(VENV)/bin/pip install --quiet uv
	$(UV_COMPILE) 3.11 --group server -o requirements.lock
	$(UV_COMPILE) 3.11 -c requirements.lock --group assets -o requirements-assets.lock
	$(UV_COMPILE) 3.11 -c requirements.lock -c requirements-assets.lock --group server --group assets --group demo -o requirements-demo.lock
	$(UV_COMPILE) 3.11 -c requirements-demo.lock --group server --group assets --group demo --group docs --group dev -o requirements-dev.lock
	$(UV_COMPILE) 3.9 scheduler_admin_client/pyproject.toml -o scheduler_admin_client/requirements.lock

.PHONY: client
client: setup ## Build the command line into dist/, as a wheel and as one file that any Python from 3.9 runs
	$(RUN) -m tests.deploy.release --client

.PHONY: release
release: setup ## Build everything that a release consists of into dist/ (TAG=v1.2.3 also checks that it may be released)
	$(RUN) -m tests.deploy.release $(if $(TAG),--tag $(TAG))

.PHONY: sbom
sbom: setup ## Write a CycloneDX SBOM of the image to var/sbom.json
	@mkdir -p var
	$(VENV)/bin/cyclonedx-py requirements --pyproject pyproject.toml --mc-type application --output-reproducible \
	  --sv 1.6 --of JSON -o var/sbom.json requirements.lock

.PHONY: audit
audit: setup ## Check the locked dependencies for known vulnerabilities (needs the network)
	$(VENV)/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off -r requirements-dev.lock

.PHONY: clean
clean: ## Remove all generated files
	rm -rf $(VENV) var dist staticfiles .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find locale $(CLIENT_LOCALE) -name '*.mo' -delete
