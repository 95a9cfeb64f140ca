# The commands of this repository. Everything goes through cargo; nothing has to be installed beside
# the Rust toolchain (with rustfmt and clippy) and a C compiler. The Python package needs Python too.

CARGO ?= cargo

.DEFAULT_GOAL := help
.PHONY: help demo dist mpi test test-rust test-python test-long test-mpi lint python python-build python-networkx \
    wheels bench bench-ablations bench-jobs bench-ranks bench-peers clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Build tegula and show it on three real graphs and a generated one (5 minutes the first time)
	$(CARGO) build --locked --release --bin tegula
	$(CARGO) xtask demo

dist: ## Build tegula to be installed or handed on: target/dist/tegula, without debug information
	$(CARGO) build --locked --profile dist --bin tegula

mpi: ## Build tegula-mpi, whose ranks exchange messages by MPI (needs an MPI library and libclang)
	$(CARGO) build --locked --release --features tegula-mpi/mpi --bin tegula-mpi

# `FEATURES='--features tegula-mpi/mpi'` makes `lint`, `test-rust` and `test-long` take in tegula-mpi.
# That is quicker than `test-mpi` after them, for which cargo compiles most of the workspace once more.
FEATURES ?=

# A failure hides no other one.
TEST = $(CARGO) test --locked --workspace $(FEATURES) --no-fail-fast

# Many quick tests write small files, and wait for the disk half of their time. So these files are
# in memory if 4 GiB are free there. Long tests use the disk. Tests of the documentation are programs in
# the same folder, so it must not be mounted `noexec`. Some tests run tegula as a user other than
# root, so all users may enter the folder.
FOLDER_IN_MEMORY = /dev/shm
HAS_ROOM = ! grep -q ' $(FOLDER_IN_MEMORY) .*noexec' /proc/mounts && \
    [ "$$(df -k --output=avail $(FOLDER_IN_MEMORY) | tail -n 1)" -gt 4194304 ] && \
    [ "$$(awk '/^MemAvailable:/ { print $$2 }' /proc/meminfo)" -gt 8388608 ]
# A shell that a signal ends runs its EXIT trap only if the signal has a trap too.
IN_MEMORY = if { $(HAS_ROOM); } 2>/dev/null && \
    folder=$$(mktemp -d -p $(FOLDER_IN_MEMORY) tegula-tests-XXXXXX) && chmod 755 "$$folder"; then \
    trap 'rm -rf "$$folder"' EXIT; trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM; \
    export TMPDIR="$$folder"; fi;

test: test-rust test-python ## Run the tests that are quick; most of the time is building

test-rust:
	@$(IN_MEMORY) $(TEST)

test-long: ## Run the tests that are long: large grids, every budget, many kills
	$(TEST) --lib --bins --tests -- --ignored

# The scenarios are built for the sake of `tegula`, with which answers are compared; after
# `make test-rust` they are there.
test-mpi: ## Check tegula-mpi, and test it under mpirun (needs Open MPI and libclang)
	$(CARGO) clippy --locked --workspace --features tegula-mpi/mpi --all-targets -- -D warnings
	$(CARGO) test --locked --workspace --features tegula-mpi/mpi --test scenarios --no-run
	$(CARGO) test --locked --workspace --features tegula-mpi/mpi --test ranks --test command

# clippy and rustdoc share the metadata of the dependencies.
lint: ## Check formatting, lints, style and documentation
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace $(FEATURES) --all-targets -- -D warnings
	$(CARGO) xtask tidy
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --document-private-items

# Python has an environment of its own. Nothing is installed elsewhere.
PYTHON ?= python3
PYTHON_ENVIRONMENT = .venv-python
IN_ENVIRONMENT = VIRTUAL_ENV=$(CURDIR)/$(PYTHON_ENVIRONMENT) $(PYTHON_ENVIRONMENT)/bin/

$(PYTHON_ENVIRONMENT): pyproject.toml python/constraints.txt
	$(PYTHON) -m venv $@
	$@/bin/pip install --quiet --upgrade 'pip>=25.1'
	$@/bin/pip install --quiet --constraint python/constraints.txt maturin --group test
	@touch $@

# Alone, the module is built without optimisation. With `AFTER_TESTS=yes` it has the profile and the
# features of the Rust tests, so cargo takes what it has compiled for them.
AFTER_TESTS ?=
MODULE = $(if $(AFTER_TESTS),--profile dev --features beside-tests,--profile python)

python-build: $(PYTHON_ENVIRONMENT)
	$(IN_ENVIRONMENT)maturin develop --locked $(MODULE)

# The quick part of `make python`.
test-python:
	@if $(PYTHON) -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))'; then \
	    $(MAKE) --no-print-directory python-build AFTER_TESTS=yes && \
	    { $(IN_MEMORY) $(IN_ENVIRONMENT)pytest -m 'not long'; }; \
	else \
	    echo 'NOT TESTED: the Python package, which needs Python 3.11 or later with venv' >&2; \
	fi

python: python-build ## Build the Python package in an environment of its own, and test it
	$(IN_ENVIRONMENT)python python/generate.py --check
	$(IN_ENVIRONMENT)ruff check python
	$(IN_ENVIRONMENT)ruff format --check python
	$(IN_ENVIRONMENT)mypy
	$(IN_ENVIRONMENT)basedpyright --pythonpath $(PYTHON_ENVIRONMENT)/bin/python
	$(IN_ENVIRONMENT)pytest

python-networkx: $(PYTHON_ENVIRONMENT) ## Run NetworkX's own tests with tegula as their backend (long)
	$(IN_ENVIRONMENT)python python/networkx_tests.py

# Zig links against the glibc of 2014, however new the one of this machine is. It is 450 MB, so it
# has an environment of its own.
WHEEL_ENVIRONMENT = .venv-wheels
WHEEL_PROFILE ?= dist
WHEELS = $(CURDIR)/target/wheels
IN_WHEELS = PATH=$(CURDIR)/$(WHEEL_ENVIRONMENT)/bin:$$PATH $(WHEEL_ENVIRONMENT)/bin/
BUILD_WHEEL = $(IN_WHEELS)maturin build --locked --profile $(WHEEL_PROFILE) --zig \
    --compatibility manylinux2014 --out $(WHEELS)

$(WHEEL_ENVIRONMENT): pyproject.toml python/constraints.txt
	$(PYTHON) -m venv $@
	$@/bin/pip install --quiet --upgrade 'pip>=25.1'
	$@/bin/pip install --quiet --constraint python/constraints.txt --group wheels
	@touch $@

# PyO3 and maturin learn about free-threaded Python 3.14 from cp314t.txt, so that no machine needs it.
wheels: $(WHEEL_ENVIRONMENT) ## Build wheels for Linux in target/wheels, check them, and install them
	rm -rf $(WHEELS)
	$(BUILD_WHEEL)
	PYO3_CONFIG_FILE=$(CURDIR)/python/wheels/cp314t.txt $(BUILD_WHEEL) --no-default-features
	$(IN_WHEELS)abi3audit --strict $(WHEELS)/*abi3*.whl
	$(IN_WHEELS)twine check --strict $(WHEELS)/*.whl
	TEGULA_WHEELS=$(WHEELS) $(IN_WHEELS)pytest python/wheels

bench: ## Measure, and write the figures to bench/RESULTS.md
	$(CARGO) build --locked --release --bin tegula
	$(CARGO) xtask bench

bench-ablations: ## Measure each choice against its alternatives, and write bench/ABLATIONS.md
	$(CARGO) build --locked --release --bin tegula
	$(CARGO) xtask bench-ablations

bench-jobs: ## Measure many jobs on one graph, and write bench/JOBS.md
	$(CARGO) build --locked --release --bin tegula
	$(CARGO) xtask bench-jobs

bench-ranks: mpi ## Measure runs on ranks, and write bench/RANKS.md
	$(CARGO) build --locked --release --bin tegula
	$(CARGO) xtask bench-ranks

bench-peers: ## Measure real graphs beside igraph and NetworKit, and write bench/PEERS.md
	$(CARGO) build --locked --release --bin tegula
	$(CARGO) xtask bench-peers

clean: ## Remove what was built
	$(CARGO) clean
