# fencepost. The two commands to know: `make demo` and `make test`. `make help` lists the rest.

SHELL := /bin/bash
PYTHON := .venv/bin/python
SUITE := $(CURDIR)/tools/suite
SEEDS := 500000
FIRST := 1
SERVERS := python3 $(CURDIR)/tests/servers run --
# For the tests with crowds, which have a time limit: ZooKeeper with the optimising compiler of the JVM.
FAST_SERVERS := python3 $(CURDIR)/tests/servers run --optimise --

.DEFAULT_GOAL := help
.PHONY: help demo test setup build lint bench site pages options soak deletions mutants matrix wheels dist test-dist api clean \
	suites computing-suites waiting-suites python-suite c-suite rust-suite rust-oldest-suite javascript-suite shared-suite conformance-suite bench-suite documents-suite servers-suite http-suite python-crowds crowds-suite faults-suite operations-suite interop-suite

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

demo: ## a flash sale that oversells without a lock and sells exactly the stock with one (embedded, no server)
	cargo run --quiet --package fencepost-cli -- demo

# With LINT=yes the linters run, too.
test: ## install what is missing, build all bindings, start the servers, run every suite
	$(MAKE) --no-print-directory setup
	$(MAKE) --no-print-directory build
	$(MAKE) --no-print-directory suites

setup: ## install what this machine lacks (apt, rustup, pip, npm)
	tools/setup all

# Two builds at a time: cargo alone uses only one processor while it links all crates into one.
build: ## build the bindings of all languages
	$(MAKE) --no-print-directory --jobs 2 build-debug build-release
	$(MAKE) --no-print-directory build-mixed build-interop build-conformance

# Cargo compiles a dependency once for all commands with the same packages and features, so the commands use these
# lists.
CORE := --package fencepost-core --package fencepost-models --package fencepost-tests --all-features
WITHOUT_TLS := --package fencepost --no-default-features --features zookeeper,redis --test memory
RUST := --package fencepost --package fencepost-cli --package fencepost-bench --features fencepost/servers,fencepost-cli/servers

.PHONY: build-debug build-release build-rust build-tests build-oldest build-py build-wheels build-wasm build-c build-mixed build-interop build-conformance build-bench
build-debug:
	$(SUITE) build-rust $(MAKE) --no-print-directory build-rust
	$(SUITE) build-tests $(MAKE) --no-print-directory build-tests
	$(SUITE) build-oldest $(MAKE) --no-print-directory build-oldest
	$(SUITE) build-wasm $(MAKE) --no-print-directory build-wasm

build-release:
	$(SUITE) build-py $(MAKE) --no-print-directory build-py
	$(SUITE) build-c $(MAKE) --no-print-directory build-c
	$(SUITE) build-bench $(MAKE) --no-print-directory build-bench-others

build-rust:
	cargo build $(RUST) --lib --bins --examples

# Compiles the test programs in Rust. A suite that compiles would make others wait for cargo's lock.
build-tests:
	cargo test --quiet $(RUST) --no-run
	cargo test --quiet $(WITHOUT_TLS) --no-run
	cargo test --quiet $(CORE) --no-run
	cargo test --quiet --profile proof --package fencepost-simulator --features servers --no-run

# The client's tests with the oldest versions of the client libraries, from a separate lock file, with the oldest
# compiler.
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
OLDEST := --quiet --locked --manifest-path bindings-rs/tests/oldest/Cargo.toml --target-dir build/rust-oldest --test servers --test outages
build-oldest:
	cargo +$(MSRV) test $(OLDEST) --no-run

# The tests and the benchmark use the wheel, as programs do. Some tests install it, or the source distribution, in a fresh environment.
build-py: build-wheels
	.venv/bin/pip install --quiet --no-deps --force-reinstall build/wheels/here/fencepost-*$(shell uname -m).whl

# The wheel for this machine, and the source distribution, in build/wheels/here: build/dist is only for a release.
build-wheels:
	$(PYTHON) tools/dist wheels here

wheels: ## build the Python wheels for all platforms, and the source distribution, into build/dist
	$(PYTHON) tools/dist wheels

dist: setup ## build all artefacts of a release into build/dist, from a clean tree; UNCLEAN=yes accepts any tree
	tools/setup release
	$(PYTHON) tools/dist $(if $(UNCLEAN),--unclean)

test-dist: setup ## install only what `make dist` has built, and test it; ARGS="again" builds it once more and compares the bytes
	tools/setup release
	$(PYTHON) tests/dist $(ARGS)

api: build-wasm ## write the public API of each language into tests/api
	$(PYTHON) tools/api

build-wasm:
	cd bindings-wasm && npm run --silent build

build-c:
	$(MAKE) --no-print-directory -C bindings-c

build-mixed: build-c build-rust
	mkdir -p build/mixed
	$(CC) -std=c99 -Wall -Wextra -Wpedantic -Werror -O2 tests/mixed/contender.c -o build/mixed/contender \
	    $$(PKG_CONFIG_PATH=build/c/lib/pkgconfig pkg-config --cflags --libs fencepost-client) -Wl,-rpath,$(CURDIR)/build/c/lib

build-interop: build-c build-rust
	javac -Xlint:all -Werror --release 17 -d build/interop -cp 'build/jars/*' tests/interop/peers/curator/*.java
	$(CC) -std=c99 -Wall -Wextra -Wpedantic -Werror -O2 tests/interop/peers/c/*.c -o build/interop/c_peer -pthread \
	    $$(PKG_CONFIG_PATH=build/c/lib/pkgconfig pkg-config --cflags --libs fencepost-client) -Wl,-rpath,$(CURDIR)/build/c/lib
	$(CC) -std=c99 -Wall -Wextra -Wpedantic -Werror -O2 tests/interop/peers/c/*.c -o build/interop/c_mt_peer -pthread \
	    $$(PKG_CONFIG_PATH=build/c/lib/pkgconfig pkg-config --cflags --libs fencepost-client) -Wl,--no-as-needed -lzookeeper_mt -Wl,-rpath,$(CURDIR)/build/c/lib
	$(CC) -std=c99 -Wall -Wextra -Wpedantic -Werror -O2 -DGIVEN tests/interop/peers/c/*.c -o build/interop/c_given_peer -pthread \
	    $$(PKG_CONFIG_PATH=build/c/lib/pkgconfig pkg-config --cflags --libs fencepost-zookeeper) -lzookeeper_mt -Wl,-rpath,$(CURDIR)/build/c/lib

build-conformance: build-c build-rust
	mkdir -p build/conformance
	$(CC) -std=c99 -Wall -Wextra -Wpedantic -Werror -O2 tests/conformance/peers/c/*.c -o build/conformance/c_peer -pthread \
	    $$(PKG_CONFIG_PATH=build/c/lib/pkgconfig pkg-config --cflags --libs fencepost-client) -Wl,-rpath,$(CURDIR)/build/c/lib

# The tests use the worker that build-rust has built: they need no optimised one.
build-bench: build-bench-others
	cargo build --release --package fencepost-bench

.PHONY: build-bench-others build-bench-java
build-bench-others: build-c build-bench-java
	$(MAKE) --no-print-directory -C bench/c

build-bench-java:
	javac -Xlint:all -Werror --release 17 -d build/bench/java -cp 'build/jars/*' bench/java/*.java

# The suites of the languages mostly wait (for sessions to end), so up to four of them run at a time, the longest first.
# On a slow machine, servers and clients could then get no processor for so long that sessions end. So the next suite
# starts only while the load average is below LOAD. The suites that compute run at low priority, on the processor time
# that the others leave.
LOAD := 6
# A suite that fails does not stop the others. tools/closing-lines then fails, and names all suites that have failed.
suites: export GO_ON := yes
suites:
	rm -rf build/logs
	$(MAKE) --no-print-directory --jobs 2 computing-suites waiting-suites
	tools/closing-lines

waiting-suites: # the suites of the languages; those with server faults; thousands of locks
	$(MAKE) --no-print-directory --jobs 4 --load-average $(LOAD) --output-sync=line c-suite python-suite javascript-suite http-suite \
	    rust-suite servers-suite rust-oldest-suite bench-suite documents-suite conformance-suite shared-suite
	$(MAKE) --no-print-directory --jobs 2 --load-average $(LOAD) --output-sync=line faults-suite interop-suite
	$(MAKE) --no-print-directory --jobs 2 python-crowds crowds-suite

COMPUTE := nice -n 19
computing-suites:
	$(SERVERS) $(SUITE) simulator $(COMPUTE) cargo test --no-fail-fast --quiet --profile proof --package fencepost-simulator --features servers
	$(SUITE) no-std $(COMPUTE) cargo build --quiet --package fencepost-core --package fencepost-models --target thumbv7m-none-eabi
	$(SUITE) core $(COMPUTE) cargo test --no-fail-fast --quiet $(CORE)
	$(SUITE) deletions $(PYTHON) -m pytest -q tests/deletions
	$(SUITE) wasi $(COMPUTE) node tests/wasi/run.mjs
	$(if $(filter yes,$(LINT)),$(SUITE) lint $(COMPUTE) make --no-print-directory lint)

# Its tests wait more than they compute: six at a time, the longest first. Each worker has servers of its own.
python-suite:
	cd bindings-py && $(SUITE) python ../$(PYTHON) -m pytest -q -n 6 --maxschedchunk 1 --ignore tests/test_crowd.py

c-suite:
	$(SUITE) c make --no-print-directory -C bindings-c test-small

rust-suite:
	$(SERVERS) $(SUITE) rust cargo test --no-fail-fast $(RUST) -- --test-threads 4 --skip crowd::
	$(SUITE) rust-without-tls cargo test $(WITHOUT_TLS) an_address_with_tls

rust-oldest-suite:
	$(SERVERS) $(SUITE) rust-oldest cargo +$(MSRV) test --no-fail-fast $(OLDEST) -- --test-threads 4 --skip crowd::

javascript-suite:
	$(SUITE) javascript npm --prefix bindings-wasm test --silent -- --workers 2 -crowd -silence

shared-suite:
	$(SUITE) replay $(PYTHON) -m pytest -q tests/replay
	$(SUITE) replay-js node tests/replay/replay.mjs
	$(SERVERS) $(SUITE) mixed $(PYTHON) -m pytest -q tests/mixed

# Three at a time, on the same servers.
conformance-suite:
	$(SERVERS) $(SUITE) conformance $(PYTHON) -m pytest -q -n 3 tests/conformance

# Two at a time: each of the two long tests runs all programs for a moment.
bench-suite:
	$(SERVERS) $(SUITE) bench $(PYTHON) -m pytest -q -n 2 --maxschedchunk 1 bench/tests

# Tests of what users install and read: packages, documents and the site.
documents-suite:
	CARGO_PROFILE_DEV_DEBUG=line-tables-only $(SERVERS) $(SUITE) readme $(PYTHON) -m pytest -q tests/readme
	$(SERVERS) $(SUITE) terminal $(PYTHON) -m pytest -q cli/tests/terminal
	$(SUITE) site $(PYTHON) -m pytest -q tests/site
	$(SUITE) release $(PYTHON) -m pytest -q tests/release
	$(SUITE) playground node site/playground/test.mjs

# Tests of the servers that the other tests use, and tests with other servers than Redis itself.
servers-suite:
	$(SUITE) servers $(PYTHON) -m pytest -q tests/servers
	$(SUITE) redis-servers $(PYTHON) -m pytest -q tests/redis-servers

# The middleware of all languages, over real HTTP.
http-suite:
	python3 tests/servers run --redis 2 -- $(SUITE) http $(PYTHON) -m pytest -q tests/http

# Two of them at a time, and no other suites except those that compute. They hold two thousand locks at once and release
# them within the time limit of a close, and close a client in time over a silent connection. `make matrix` runs Rust's
# with the oldest versions of the client libraries, too. Rust's suite is last, because cargo waits while the linters
# compile.
python-crowds:
	cd bindings-py && $(FAST_SERVERS) $(SUITE) python-crowds ../$(PYTHON) -m pytest -q tests/test_crowd.py
	$(FAST_SERVERS) $(SUITE) rust-crowds cargo test $(RUST) --test outages -- --test-threads 2 crowd::

crowds-suite:
	$(FAST_SERVERS) $(SUITE) javascript-crowds npm --prefix bindings-wasm test --silent -- crowd silence
	$(SUITE) c-crowds make --no-print-directory -C bindings-c test-crowds

# In these tests, members and sessions must end only by injected faults. So at most one other suite runs at the same
# time, and none while the machine is busy.
faults-suite:
	$(SUITE) faults $(PYTHON) -m pytest -q tests/faults

# Interop: four at a time, each with servers of its own. They wait for each other, and start many processes.
interop-suite:
	$(SUITE) interop $(PYTHON) -m pytest -q -n 4 tests/interop
	$(SERVERS) $(SUITE) operations $(PYTHON) -m pytest -q tests/operations

matrix: ## the explorer's largest cases; all pairs of clients with all kinds of locks; all versions of ZooKeeper and of Python's client libraries; more random inputs
	$(SUITE) explorer cargo test --quiet --profile proof --package fencepost-simulator --test explorer --test operations -- --ignored
	$(SUITE) faults $(PYTHON) -m pytest -q --full-product tests/faults
	$(SUITE) interop $(PYTHON) -m pytest -q -n 4 --full-product tests/interop
	cd bindings-py && $(SUITE) python-versions ../$(PYTHON) -m pytest -q -n 3 -m '' tests/test_versions.py
	cd bindings-py && FENCEPOST_CASES=1000 $(SUITE) python-fuzz ../$(PYTHON) -m pytest -q tests/test_fuzz.py
	FENCEPOST_CASES=3000 $(SUITE) javascript-fuzz npm --prefix bindings-wasm test --silent -- fuzz
	$(FAST_SERVERS) $(SUITE) rust-oldest-crowds cargo +$(MSRV) test $(OLDEST) -- --test-threads 2 crowd::

# Pages that people write. The simulator writes REPORT.md.
GUIDES = $(shell find . \( -name node_modules -o -name target -o -name '.?*' -o -name build \) -prune -o -name '*.md' -not -name REPORT.md -print)

site: build-py build-wasm ## build the documentation's site into build/site
	.venv/bin/python site/build.py build/site

pages: ## write the pages that show runs of the simulator: the gallery of wrong locks and the sequence diagrams
	tools/pages

options: ## write the lock options of all languages, and the reference's options and errors, from the core's tables
	cargo run --quiet --package fencepost-bindgen -- options
	cargo fmt --package fencepost

NPM := $(CURDIR)/bindings-wasm/node_modules/.bin
lint: export MYPY_CACHE_DIR := $(CURDIR)/build/mypy
lint: ## formatting and lints of every language
	cargo run --quiet --package fencepost-bindgen -- options --check
	tools/pages --check
	$(PYTHON) tools/api --check
	cargo fmt --all --check
	cargo fmt --check --manifest-path bindings-rs/tests/oldest/Cargo.toml
	cargo clippy --workspace --exclude fencepost-wasm --exclude fencepost-wasm-memory --all-targets --all-features -- -D warnings
	cargo clippy --package fencepost --lib --no-default-features --features zookeeper -- -D warnings
	cargo clippy --package fencepost --lib --no-default-features --features redis -- -D warnings
	cargo clippy --package fencepost-wasm --package fencepost-wasm-memory --target wasm32-unknown-unknown -- -D warnings
	cargo clippy --package fencepost-wasm --features redis --target wasm32-unknown-unknown -- -D warnings
	cargo package --quiet --no-verify --allow-dirty --target-dir build/packages --package fencepost-core --package fencepost-models --package fencepost --package fencepost-cli
	RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps --workspace --features fencepost/tower --exclude fencepost-py --exclude fencepost-c --exclude fencepost-wasm --exclude fencepost-wasm-memory
	.venv/bin/ruff format --check
	.venv/bin/ruff check
	cd tests/servers && ../../.venv/bin/mypy --strict .
	cd tests/mixed && ../../.venv/bin/mypy --strict counter.py test_mixed.py
	cd tests/interop && MYPYPATH=../mixed:../selection:tests:peers ../../.venv/bin/mypy --strict tests peers/*.py
	cd tests/conformance && MYPYPATH=peers ../../.venv/bin/mypy --strict *.py peers/*.py
	cd tests/operations && MYPYPATH=../conformance ../../.venv/bin/mypy --strict *.py
	cd tests/redis-servers && MYPYPATH=../mixed ../../.venv/bin/mypy --strict *.py
	cd tests/deletions && ../../.venv/bin/mypy --strict .
	cd tests/faults && MYPYPATH=../mixed:../selection:../interop/tests:. ../../.venv/bin/mypy --strict *.py
	cd tests/http && ../../.venv/bin/mypy *.py apps/*.py
	cd site && MYPYPATH=../tools/api ../.venv/bin/mypy --strict *.py ../tests/site
	cd bindings-c/tests/install && ../../../.venv/bin/mypy --strict .
	.venv/bin/mypy --strict --scripts-are-modules bindings-c/man/pages
	.venv/bin/mypy --strict tests/readme tests/selection tools/closing-lines tools/pages tools/stutter tests/release/test_version.py tests/release/test_changes.py --scripts-are-modules
	cd tools/api && ../../.venv/bin/mypy --strict . ../../tests/release/test_rust_api.py
	.venv/bin/mypy --strict cli/tests/terminal
	cd tools/dist && ../../.venv/bin/mypy --strict . ../../tests/release/test_pages.py ../../tests/release/test_parts.py ../../tests/release/test_readmes.py ../../tests/release/test_wheels.py
	cd tests/dist && MYPYPATH=../readme ../../.venv/bin/mypy --strict . ../release/test_again.py
	cd bindings-py && ../.venv/bin/mypy && ../.venv/bin/python -m mypy.stubtest fencepost._fencepost
	cd bench && ../.venv/bin/mypy
	cd bindings-wasm && npm run --silent lint
	cd site/playground && $(NPM)/prettier --config $(NPM)/../../.prettierrc.json --check . && $(NPM)/eslint . && $(NPM)/tsc --project .
	$(MAKE) --no-print-directory -C bindings-c check-format check-header
	$(MAKE) --no-print-directory -C bench/c check-format
	clang-format --dry-run -Werror --style=file:bindings-c/.clang-format tests/interop/peers/c/*.[ch] tests/conformance/peers/c/*.[ch]
	.venv/bin/pymarkdown --config .pymarkdown.json scan $(GUIDES)
	shellcheck tools/setup tools/suite tools/jars/fetch .ci/run bindings-c/tests/newest-hiredis

soak: ## run SEEDS seeds (500000) of every machine in the simulator, and add to the report
	cargo run --quiet --release --package fencepost-simulator -- soak --first $(FIRST) --seeds $(SEEDS) --report tests/simulator/REPORT.md

deletions: ## delete one safety check after the other in a copy, and check that the proof detects each
	$(PYTHON) tests/deletions

# Two steps: suites of some seconds run on every mutant, and the simulator runs on the mutants that survive. First, both
# must pass on the unchanged core. With this profile, compiling and running together take the least time.
MUTATED := PATH=$(CURDIR)/build/cargo-mutants/bin:$$PATH CARGO_INCREMENTAL=1 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_OPT_LEVEL=1 FENCEPOST_CASES=1000
MUTATE := $(MUTATED) cargo mutants --package fencepost-core --colors never --baseline skip
SIMULATED := --test explorer --test scenarios --test simulator --test states --test operations --test claims -- every_machine every_scenario \
    contender session_lease semaphore multi_lock inspection string shared_grant single_step list_of_names redis_two single_three \
    zookeeper_three_without machines_on an_operation rare_things the_scripts the_machines
# --re alone does not exclude the fields of other files, so --file names the files. Exit codes 2 and 3 mean that mutants
# survived or timed out: no failure of the tool.
UNLESS_BROKEN := || [ $$? -eq 2 -o $$? -eq 3 ]

mutants: ## change each place of the core in a copy, and list the changes that the tests do not detect; SHARD=k/n runs a part
	tools/setup mutants
	rm -rf build/mutants
	mkdir -p build/mutants/quick build/mutants/simulated
	$(MUTATED) CARGO_TARGET_DIR=build/cargo-mutants/target cargo test --quiet $(CORE) --tests
	$(MUTATED) CARGO_TARGET_DIR=build/cargo-mutants/target cargo test --quiet --package fencepost-simulator $(SIMULATED)
	$(MUTATE) --output build/mutants/quick --timeout 60 --all-features --test-package fencepost-core,fencepost-models,fencepost-tests \
	    $(if $(SHARD),--sharding round-robin --shard $(SHARD)) $(ARGS) -- --tests $(UNLESS_BROKEN)
	@cd build/mutants/quick/mutants.out && sed 's/[][\.*^$$(){}|+?]/\\&/g' missed.txt | paste -sd '|' > ../names && cut -d : -f 1 missed.txt | sort -u | sed 's/^/--file /' > ../files
	@[ ! -s build/mutants/quick/files ] || $(MUTATE) --output build/mutants/simulated --timeout 300 --test-package fencepost-simulator \
	    --re "$$(cat build/mutants/quick/names)" $$(cat build/mutants/quick/files) -- $(SIMULATED) $(UNLESS_BROKEN)
	@cd build/mutants && cat simulated/mutants.out/{caught,timeout}.txt 2>/dev/null | grep -vxFf - quick/mutants.out/missed.txt > survivors.txt; \
	    cat survivors.txt quick/mutants.out/{caught,missed,timeout}.txt | awk -v left="$$(wc -l < survivors.txt)" \
	    'END { all = NR - left; printf "%d of %d mutants killed: %.1f %%. The others are in build/mutants/survivors.txt.\n", all - left, all, 100 * (all - left) / all }'

bench: build build-bench ## measure a step of a machine, and compare with the raw clients and the peers
	cargo bench --quiet --package fencepost-tests
	python3 tests/servers run --optimise --zookeeper --redis 1 -- $(PYTHON) bench $(ARGS)

clean: ## remove what was built
	cargo clean
	rm -rf build .venv bindings-wasm/node_modules bindings-wasm/dist
