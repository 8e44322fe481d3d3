# `make run` starts the product, `make test` proves it, `make test-faults` goes deeper, `make check` is the quick gate.
PYTHON ?= $(firstword $(foreach name,python3 python3.12 python3.11,$(shell command -v $(name))))
NO_PYTHON = echo "Python 3.11 or 3.12 is needed, and none was found: apt-get install python3 python3-venv" >&2; exit 1;
BOOT = $(if $(PYTHON),$(PYTHON),$(NO_PYTHON)) scripts/bootstrap.py
.PHONY: run check test test-faults locks

run:
	@$(BOOT) run scripts.run

check:
	@$(BOOT) test scripts.check

test:
	@$(BOOT) test scripts.test

# Every case of the matrices of which `make test` runs each pair, and kills of each server: for a change in checkpoints, sources or sinks.
test-faults:
	@$(BOOT) test scripts.test_faults

# After a change in requirements/*.in (PyPI's own index, hashes of every wheel, no host names).
UV := .venv/bin/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --no-header --universal --python-version 3.11
locks:
	$(UV) requirements/uv.in -o requirements/uv.lock
	$(UV) requirements/run.in -o requirements/run.lock
	$(UV) requirements/test.in -c requirements/run.lock -o requirements/test.lock
