# Each target installs what it lacks, then does its job; `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help setup v8 build run test conform packages clients bench soak load fuzz

help: ## what can be made
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup: ## install what a build needs; instant when all is there
	@tools/setup.sh

v8: ## fetch or build V8's static library and keep it where cargo finds it
	@tools/v8.sh && echo "V8's library is in place"

run: ## build loaderd and run an example program with tools; PROGRAM="file.js --tools …" runs another
	@tools/run.sh $(PROGRAM)

build: setup ## build the debug binary, target/debug/loaderd
	cargo build --locked

test: ## format check, lints, all tests: what CI runs
	@tools/test.sh

conform: build ## compare the cases of tests/conform with workerd; ORACLE is its binary
	target/debug/loaderd conform --oracle "$(ORACLE)" tests/conform

packages: build ## serve packages from npm and compare; ORACLE, a workerd binary, serves them instead where it is given
	tools/packages.sh
	LOADERD_TEST_ORACLE="$(ORACLE)" cargo test --locked --test it -- packages::

clients: ## run the Rust and the Python client against an executor
	@tools/clients.sh

bench: ## measure loaderd beside workerd and the sandboxes of Node; QUICK=1 for a short look
	@tools/bench.sh $(if $(QUICK),--quick)

soak: setup ## 10,000 hostile and healthy passes in each mode: nothing breaks, nothing grows; PASSES=500 for a look
	LOADERD_SOAK="$(PASSES)" cargo test --locked --release --test it -- --ignored --nocapture --test-threads=1 soak::long

load: setup ## a minute of 50 clients whose requests each load a Worker, beside one that spins; says how fast and what it held
	cargo test --locked --release --test it -- --ignored --nocapture load::minute

fuzz: ## run each fuzz target for a minute, with a nightly compiler and cargo-fuzz; SECONDS=600 TARGET=plain_json say otherwise
	@tools/fuzz.sh $(or $(SECONDS),60) $(TARGET)
