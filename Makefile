# The commands of this repository. Everything goes through cargo; nothing has to be installed beside
# the Rust toolchain (with rustfmt and clippy) and a C compiler.

CARGO ?= cargo

.DEFAULT_GOAL := help
.PHONY: help demo dist test test-data bench bench-ablations clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Build tegula and show it on three real graphs and a generated one (5 minutes the first time)
	$(CARGO) build --locked --release --bin tegula
	$(CARGO) xtask demo

dist: ## Build tegula to be installed or handed on: target/dist/tegula, without debug information
	$(CARGO) build --locked --profile dist --bin tegula

# The cheap checks come first. clippy and rustdoc share the metadata of the dependencies; xtask and
# the tests share their code.
test: ## Check formatting, lints, style and documentation, and run all tests
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) xtask tidy
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --document-private-items
	$(CARGO) test --locked --workspace --no-fail-fast

# The data is no part of the repository; a test whose data is missing says that it is skipped.
test-data: ## Run the tests that go through all graphs of $TEGULA_DATA
	$(CARGO) test --locked --release --package tegula-testkit -- --ignored

bench: ## Measure, and write the figures to bench/RESULTS.md
	$(CARGO) build --locked --release --bin tegula
	$(CARGO) xtask bench

bench-ablations: ## Measure each choice against its alternatives, and write bench/ABLATIONS.md
	$(CARGO) build --locked --release --bin tegula
	$(CARGO) xtask bench-ablations

clean: ## Remove what was built
	$(CARGO) clean
