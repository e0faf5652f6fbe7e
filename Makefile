# fencepost. The two commands to know: `make demo` and `make test`. `make help` lists the rest.

SHELL := /bin/bash
PYTHON := .venv/bin/python
SUITE := tools/suite
SEEDS := 500000
FIRST := 1
SERVERS := python3 tests/servers run --

.DEFAULT_GOAL := help
.PHONY: help demo test setup build lint bench soak clean \
	suites local-suites server-suites closing-lines

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

demo: ## a flash sale that oversells without a lock and sells exactly the stock with one (embedded, no server)
	cargo run --quiet --package fencepost-cli -- demo

test: setup build suites ## install what is missing, build all bindings, start the servers, run every suite

setup: ## install what this machine lacks (apt, rustup, pip, npm)
	tools/setup all

build: ## build the bindings of all languages
	cargo build
	$(MAKE) --no-print-directory build-py build-wasm build-c build-mixed build-interop build-bench

.PHONY: build-py build-wasm build-c build-mixed build-interop build-bench
build-py:
	cd bindings-py && VIRTUAL_ENV=../.venv ../.venv/bin/maturin develop --release --quiet

build-wasm:
	cd bindings-wasm && npm run --silent build

build-c:
	$(MAKE) --no-print-directory -C bindings-c

build-mixed: build-c
	cargo build --package fencepost --features servers --example contender
	mkdir -p build/mixed
	$(CC) -std=c99 -Wall -Wextra -Wpedantic -Werror -O2 tests/mixed/contender.c -o build/mixed/contender \
	    $$(PKG_CONFIG_PATH=build/c/lib/pkgconfig pkg-config --cflags --libs fencepost-client) -Wl,-rpath,$(CURDIR)/build/c/lib

build-interop: build-c
	cargo build --package fencepost --features servers --example peer
	javac -Xlint:all -Werror --release 17 -d build/interop -cp 'build/jars/*' tests/interop/peers/curator/*.java
	$(CC) -std=c99 -Wall -Wextra -Wpedantic -Werror -O2 tests/interop/peers/c/*.c -o build/interop/c_peer -pthread \
	    $$(PKG_CONFIG_PATH=build/c/lib/pkgconfig pkg-config --cflags --libs fencepost-client) -Wl,-rpath,$(CURDIR)/build/c/lib

build-bench: build-c
	cargo build --release --package fencepost-bench
	$(MAKE) --no-print-directory -C bench/c
	$(MAKE) --no-print-directory build-bench-java

.PHONY: build-bench-java
build-bench-java:
	javac -Xlint:all -Werror --release 17 -d build/bench/java -cp 'build/jars/*' bench/java/*.java

suites:
	rm -rf build/logs
	$(MAKE) --no-print-directory local-suites
	$(SERVERS) $(MAKE) --no-print-directory server-suites
	tools/closing-lines

# What needs no server.
local-suites:
	$(SUITE) no-std cargo build --quiet --package fencepost-core --package fencepost-models --target thumbv7m-none-eabi
	$(SUITE) core cargo test --quiet --package fencepost-core --package fencepost-models --package fencepost-tests --all-features
	$(SUITE) simulator cargo test --quiet --profile proof --package fencepost-simulator
	$(SUITE) wasi node tests/wasi/run.mjs
	$(SUITE) servers $(PYTHON) -m pytest -q tests/servers
	$(SUITE) interop $(PYTHON) -m pytest -q tests/interop
	$(SUITE) faults $(PYTHON) -m pytest -q tests/faults

# What talks to real servers, whose addresses are in the environment.
server-suites:
	$(SUITE) models cargo test --quiet --profile proof --package fencepost-simulator --features servers --test models
	$(SUITE) rust cargo test --package fencepost --package fencepost-cli --features fencepost/servers,fencepost-cli/servers -- --test-threads 1
	cd bindings-py && ../$(SUITE) python ../$(PYTHON) -m pytest -q
	$(SUITE) javascript npm --prefix bindings-wasm test --silent
	$(SUITE) c $(MAKE) --no-print-directory -C bindings-c test
	$(SUITE) replay $(PYTHON) -m pytest -q tests/replay
	$(SUITE) replay-js node tests/replay/replay.mjs
	$(SUITE) mixed $(PYTHON) -m pytest -q tests/mixed
	$(SUITE) readme $(PYTHON) -m pytest -q tests/readme
	$(SUITE) bench $(PYTHON) -m pytest -q bench/tests

lint: ## formatting and lints of every language
	cargo fmt --all --check
	cargo clippy --workspace --exclude fencepost-wasm --all-targets --all-features -- -D warnings
	cargo clippy --package fencepost-wasm --target wasm32-unknown-unknown -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps --workspace --exclude fencepost-py --exclude fencepost-c --exclude fencepost-wasm
	.venv/bin/ruff format --check
	.venv/bin/ruff check
	cd tests/servers && ../../.venv/bin/mypy --strict .
	cd tests/mixed && ../../.venv/bin/mypy --strict counter.py test_mixed.py
	cd tests/interop && MYPYPATH=../mixed:tests:peers ../../.venv/bin/mypy --strict tests peers/*.py
	cd tests/faults && MYPYPATH=../mixed:../interop/tests:. ../../.venv/bin/mypy --strict *.py
	.venv/bin/mypy --strict tests/readme tools/closing-lines --scripts-are-modules
	cd bindings-py && ../.venv/bin/mypy && ../.venv/bin/python -m mypy.stubtest fencepost._fencepost
	cd bench && ../.venv/bin/mypy
	cd bindings-wasm && npm run --silent lint
	$(MAKE) --no-print-directory -C bindings-c check-format check-header
	$(MAKE) --no-print-directory -C bench/c check-format
	clang-format --dry-run -Werror --style=file:bindings-c/.clang-format tests/interop/peers/c/*.[ch]
	shellcheck tools/setup tools/suite tools/jars/fetch .ci/run

soak: ## run SEEDS seeds (500000) of every machine in the simulator, and add to the report
	cargo run --quiet --profile proof --package fencepost-simulator -- soak --first $(FIRST) --seeds $(SEEDS) --report tests/simulator/REPORT.md

bench: build ## measure side by side with the raw clients and the peers
	python3 tests/servers run --zookeeper --redis 1 -- $(PYTHON) bench $(ARGS)

clean: ## remove what was built
	cargo clean
	rm -rf build .venv bindings-wasm/node_modules bindings-wasm/dist
