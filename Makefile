# Two commands matter: `make up` and `make test`. `make help` lists the rest.
# Variables: PORT, HOST, PLAIN_HTTP, STATE, FIRST_RUN, BUNDLE, DATABASE_URL, CELERY_BROKER_URL (docs/operate/operations.md), PYTHON (3.11+).

PYTHON ?= python3
MAKEFLAGS += --no-print-directory
BOOTSTRAP = $(PYTHON) scripts/bootstrap.py
DEV = $(BOOTSTRAP) --dev
RUN = .venv/bin/python
BENCHMARKS = $(subst _,-,$(basename $(notdir $(wildcard benchmarks/bench_*))))

.PHONY: help up login token backup restore test proofs check lock bundle experiments $(BENCHMARKS) fuzz-api article-checks count-lines clean

help:
	@echo 'make up            install, start everything, run a first benchmark; stop with Ctrl-C'
	@echo '                   PORT=8000 HOST=127.0.0.1 STATE=./var FIRST_RUN=1'
	@echo 'make login         a new password for the operator'
	@echo 'make token         print an API token: NAME=laptop SCOPES=read,upload,schedule [DAYS=30]'
	@echo 'make backup FILE=…  all of the site in one file, while it runs; make restore FILE=… [ARGS=--replace]'
	@echo 'make test          all tests; LEGS="sqlite browser" for some'
	@echo 'make proofs        what make test does not run, each within an hour: ONLY="bundle durability" for some'
	@echo 'make check         linters, types, import rules, migrations, deployment check'
	@echo 'make lock          compile requirements.txt and requirements-dev.txt from pyproject.toml'
	@echo 'make bundle        TO=benchsite-bundle.tar: all that `make up BUNDLE=FILE` needs without a network'
	@echo 'make experiments   re-run the experiments of the four articles: QUICK=1 [ARGS="tpcb-2010 --part engines"]'
	@echo 'make bench-driver  the load generator against pgbench, on one PostgreSQL: ARGS="--pairs 5 --json FILE"'
	@echo 'make bench-sysbench  the same against sysbench, on one MariaDB'
	@echo 'make bench-sampling  what the agent costs in throughput by its samples'
	@echo 'make bench-confinement  what the walls around a job cost in throughput'
	@echo 'make fuzz-api      schemathesis over the whole API'
	@echo 'make bench-uploads  results and samples a second that one web process takes'
	@echo 'make bench-importers  MB/s and peak memory of each importer, or what becomes of your files: ARGS="--mb 100 --only pgbench_log", ARGS="--files DIR"'
	@echo 'make bench-imports  what others wait while large files are imported: ARGS="--postgresql"'
	@echo 'make bench-stream  a pgbench log of 1 GB through a running site: time and peak memory of every part'
	@echo 'make bench-servers  what people get from each web server while clients are slow or pages heavy'
	@echo 'make bench-pages   time of pages and lists with 10,000, 100,000 and 1,000,000 runs'
	@echo 'make bench-views   bytes of a first view, and time to a drawn chart, in Chromium'
	@echo 'make bench-journeys  functions and modules that one request passes'
	@echo 'make bench-truth   every sentence about numbers against worlds whose truth is known: ARGS="--worlds 300 --seed 1 --write"'
	@echo 'make bench-history  how often changes of benchmarks are found, and how often wrongly: ARGS="--series 40 --seed 1 --otava --write"'
	@echo 'make bench-stopping  how often a rule that ends repeats ends with an interval that misses the truth'
	@echo 'make bench-watch   changes of benchmarks made live: found, confirmed, explained, grouped, mailed?'
	@echo 'make bench-causes  planted causes of a change: is the right kind named first? ARGS="--seconds 3 --only lock"'
	@echo 'make bench-series  pages and updates of 1,000 benchmarks of 1,000 batches, on PostgreSQL'
	@echo 'make bench-fuzz    50,000 requests as nobody means them, as everybody: ARGS="--seed 1 --cases 50000 --postgresql --http"'
	@echo 'make bench-kills   200 kill -9 of any part under load: ARGS="--seed 1 --kills 200 --postgresql"'
	@echo 'make bench-fleet   simulated agents against a whole site on PostgreSQL: ARGS="--agents 50,500"'
	@echo 'make bench-lab     six agents, one experiment, a bad network and kill -9 of any part: ARGS="--seed 1 --kills 60"'
	@echo 'make bench-week    a week of schedules over both changes of the clock, with a beat that stops'
	@echo 'make article-checks  compute the checks of the articles from their numbers'
	@echo 'make count-lines  lines, types and functions by room: ARGS=COMMIT'
	@echo 'make clean         remove .venv and caches; STATE stays'

# `exec`, so that make is the parent: when it is killed, the supervisor knows.
up:
	@exec $(BOOTSTRAP) --parent $$PPID manage.py up

login:
	@exec $(BOOTSTRAP) manage.py login

token:
	@exec $(BOOTSTRAP) manage.py token --name="$$NAME" --scopes="$$SCOPES" --days="$$DAYS"

backup:
	@exec $(BOOTSTRAP) manage.py backup "$$FILE"

restore:
	@exec $(BOOTSTRAP) manage.py restore $(ARGS) "$$FILE"

# Where Python is told to write no compiled files, the bootstrap would compile 120 packages, most of which nobody imports.
test:
	@unset PYTHONDONTWRITEBYTECODE; exec $(DEV) scripts/test_legs.py $(LEGS)

proofs:
	@exec $(DEV) scripts/proofs.py $(ONLY)

check:
	@$(DEV)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(RUN) -m mypy scripts --exclude 'scripts/(article_checks|verdict_table)'
	cd agents/program && ../../$(RUN) -m mypy -p benchagent -p benchagent_unverified
	$(RUN) .venv/bin/lint-imports
	$(RUN) manage.py makemigrations --check --dry-run
	BEHIND_TLS=1 $(RUN) manage.py check --deploy --fail-level WARNING
	@$(RUN) scripts/proofs.py --stale

# For every Python from 3.11 and every system at once, with hashes and without download addresses: the user's index holds.
LOCK = .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-cache --upgrade

lock:
	@$(DEV)
	$(LOCK) --output-file requirements.txt pyproject.toml
	$(LOCK) --extra dev --constraints requirements.txt --output-file requirements-dev.txt pyproject.toml

bundle:
	@TO="$(TO)" exec $(BOOTSTRAP) scripts/bundle.py

# Engines that it lacks are installed first; a second storage is emulated where root allows it.
experiments:
	@QUICK=$(QUICK) exec $(BOOTSTRAP) scripts/experiments.py $(ARGS)

$(BENCHMARKS):
	@$(DEV)
	@exec $(RUN) -m benchmarks.$(subst -,_,$@) $(ARGS)

article-checks:
	@$(DEV)
	@exec $(RUN) -m scripts.article_checks

count-lines:
	@exec $(PYTHON) scripts/count_lines.py $(ARGS)

fuzz-api:
	@exec $(DEV) scripts/fuzz_api.py $(ARGS)

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache
	find . -name __pycache__ -not -path './var/*' -prune -exec rm -rf {} +
