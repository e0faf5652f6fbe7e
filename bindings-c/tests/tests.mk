# The tests, which are part of the Makefile above.

TESTS := $(BUILD)/tests
TRANSCRIPTS := $(sort $(dir $(wildcard ../tests/transcripts/*/.)))
LINK := -Wl,-rpath,$(abspath $(LIB)) -L$(LIB)
RUN_TEST = HOLDER=$(TESTS)/holder $(RUNNER)

$(TESTS)/transcripts: $(wildcard tests/transcripts/*.[ch]) tests/check.h $(CORE) $(HEADERS)
	@mkdir -p $(@D)
	$(COMPILE) -D_GNU_SOURCE -Iinclude $(wildcard tests/transcripts/*.c) $(LINK) -lfencepost -lcjson -o $@

$(TESTS)/holder: tests/holder.c $(SHARED) $(HEADERS)
	@mkdir -p $(@D)
	$(COMPILE) -Iinclude $< $(LINK) -lfencepost-client -lfencepost -o $@

# What single tests need beside.
DEFINE_addresses := -DTABLE='"$(abspath ../tests/addresses.json)"'
DEFINE_options := -DTABLE='"$(abspath ../tests/options.json)"'
DEFINE_scopes := -DTABLE='"$(abspath ../tests/scopes.json)"'
DEFINE_process := -DWITH_TLS=$(if $(filter yes,$(TLS)),1,0)
WITH_attach := tests/loop.c
WITH_turns := tests/loop.c
WITH_late := tests/loop.c
WITH_close := tests/loop.c
WITH_given_redis := tests/loop.c tests/relay.c
WITH_silence_redis := tests/loop.c
WITH_failover_redis := tests/relay.c
WITH_reach_redis := tests/relay.c
WITH_faults := tests/waiting.c
WITH_faults_zookeeper := tests/waiting.c
WITH_faults_redis := tests/waiting.c tests/relay.c
WITH_ends := tests/relay.c
WITH_ipv6_zookeeper := tests/relay.c
WITH_verdicts_zookeeper := $(OBJ)/zookeeper/drivers/zookeeper/verdict.o
# The driver itself, so that the tests can record what it reports to the hub.
WITH_verdicts_redis := tests/loop.c tests/relay.c $(OBJECTS_redis)
WITH_requests_zookeeper := $(OBJECTS_zookeeper)
LINK_verdicts_redis := $(foreach function,failed reply gone,-Wl,--wrap=fencepost_hub_$(function))
LINK_requests_zookeeper := $(foreach function,created children data done error failed watch,-Wl,--wrap=fencepost_hub_$(function))
LINK_attach := -lfencepost-zookeeper -lfencepost-redis
LINK_given_zookeeper := -lfencepost-zookeeper
LINK_bad_input := -lfencepost-zookeeper -lfencepost-redis
LINK_turns := -lfencepost-redis
LINK_late := -lfencepost-redis
LINK_close := -lfencepost-redis
LINK_given_redis := -lfencepost-redis
LINK_silence_redis := -lfencepost-redis
LINK_given_redis_tls := -lfencepost-redis -lhiredis_ssl

# The tests' own ZooKeeper handles use the library with threads. If the program exports its names, fencepost uses that library, too; if the
# program hides them, fencepost uses the library without threads.
THREADED_attach := yes
THREADED_given_zookeeper := yes
THREADED_bad_input := yes
THREADED_requests_zookeeper := yes
IN_SIGHT := -Wl,--no-as-needed -lzookeeper_mt
OUT_OF_SIGHT := -Wl,-Bstatic -lzookeeper_mt -Wl,-Bdynamic

# With the newest hiredis, what concerns Redis.
BUILD_TEST = $(COMPILE) $(DEFINE_$*) $(if $(HIREDIS),-DONLY=REDIS) -DTHREADED -D_GNU_SOURCE -DWITH_ST=$(if $(filter yes,$(ZOOKEEPER_ST)),1,0) -Iinclude $< $(WITH_$*) tests/support.c $(LINK) -lfencepost-client -lfencepost $(LINK_$*) \
    $(1) $(LINK_HIREDIS) -lcjson -ldl -lm -o $@

.SECONDEXPANSION:
$(TESTS)/%: tests/%.c $$(WITH_%) tests/support.c tests/support.h tests/check.h $(TESTS)/holder
	@mkdir -p $(@D)
	$(call BUILD_TEST,$(if $(THREADED_$*),$(IN_SIGHT),$(OUT_OF_SIGHT)))

# What concerns ZooKeeper, which is all that the other library is used for.
$(TESTS)/%-threaded: tests/%.c $$(WITH_%) tests/support.c tests/support.h tests/check.h $(TESTS)/holder
	@mkdir -p $(@D)
	$(call BUILD_TEST,-DONLY=ZOOKEEPER $(IN_SIGHT))

# On ZooKeeper handles of the program's.
$(TESTS)/%-given: tests/%.c $$(WITH_%) tests/support.c tests/support.h tests/check.h $(TESTS)/holder
	@mkdir -p $(@D)
	$(call BUILD_TEST,-DGIVEN -lfencepost-zookeeper $(IN_SIGHT))

$(TESTS)/fuzz $(TESTS)/fuzz_values: tests/chance.h

$(TESTS)/idempotency $(TESTS)/ends $(TESTS)/limits $(TESTS)/single_steps $(TESTS)/sweep $(TESTS)/given_redis: tests/idempotency.h

$(TESTS)/header: tests/header.cc $(SHARED) $(HEADERS)
	@mkdir -p $(@D)
	$(CXX) -std=c++11 -DTHREADED $(WARNINGS) $(CXXFLAGS) $(SANITIZE) -Iinclude $< $(LINK) -lfencepost-client -lfencepost -o $@

# The writes of the driver, with each of the two ZooKeeper libraries. These programs contain the driver, and not the tests' own handles,
# which use the library with threads.
WRAP_writes := $(foreach function,created children data done error failed,-Wl,--wrap=fencepost_hub_$(function))
BUILD_writes = $(COMPILE) -D_GNU_SOURCE -Iinclude $< $(1) $(LINK) -lfencepost-client -lfencepost $(WRAP_writes) -o $@
$(TESTS)/writes_zookeeper: tests/writes_zookeeper.c tests/check.h tests/idle.h $(OBJECTS_zookeeper-st) $(SHARED)
	@mkdir -p $(@D)
	$(call BUILD_writes,-DWITHOUT_THREADS $(OBJECTS_zookeeper-st) $(ST_LIBRARY))

$(TESTS)/writes_zookeeper-threaded: tests/writes_zookeeper.c tests/check.h tests/idle.h $(OBJECTS_zookeeper) $(SHARED)
	@mkdir -p $(@D)
	$(call BUILD_writes,-DTHREADED $(OBJECTS_zookeeper) -lzookeeper_mt)

# Everything in one program, with no shared library of ours.
$(TESTS)/static: examples/blocking.c $(CORE) $(STATIC) $(HEADERS)
	@mkdir -p $(@D)
	$(COMPILE) -Iinclude examples/blocking.c -Wl,-u,fencepost_zookeeper_connect -Wl,-u,fencepost_redis_connect -rdynamic \
	    $(LIB)/libfencepost-zookeeper.a $(LIB)/libfencepost-redis.a $(LIB)/libfencepost-client.a $(LIB)/libfencepost.a \
	    -lzookeeper_mt -lhiredis -ldl -lm -o $@

# Linked with the flags of `pkg-config --static`, if only archives of fencepost are installed.
STATIC_ROWS := redis zookeeper $(if $(filter yes,$(ZOOKEEPER_ST)),zookeeper-st)
$(STATIC_ROWS:%=$(TESTS)/static-%): $(TESTS)/static-%: examples/blocking.c $(CORE) $(STATIC) $(PKGCONFIG) $(HEADERS:include/%=$(INCLUDE)/%)
	@mkdir -p $(@D) $(OBJ)/archives/lib
	@cp $(LIB)/*.a $(OBJ)/archives/lib
	$(COMPILE) -Iinclude $< -o $@ \
	    $$(PKG_CONFIG_PATH=$(LIB)/pkgconfig pkg-config --static --libs --define-variable=libdir=$(abspath $(OBJ))/archives/lib --define-variable=includedir=$(abspath $(INCLUDE)) fencepost-$*)

# With another static library in Rust, with the same standard library in it.
$(TESTS)/two_rust_libraries: tests/two_rust_libraries.c tests/other_library.rs $(CORE) $(STATIC) $(HEADERS)
	@mkdir -p $(@D)
	$(RUSTC) --crate-type staticlib -O tests/other_library.rs -o $(OBJ)/libother.a
	$(COMPILE) -Iinclude $< $(LIB)/libfencepost-client.a $(LIB)/libfencepost.a $(OBJ)/libother.a -ldl -lm -o $@

# Examples, built with the commands in their comments.
$(BUILD)/examples/%: examples/%.c $(SHARED) $(PKGCONFIG) $(HEADERS:include/%=$(INCLUDE)/%)
	@mkdir -p $(@D)
	$(CC) -std=c99 $(WARNINGS) $(CFLAGS) $(SANITIZE) $< -o $@ -Wl,-rpath,$(abspath $(LIB)) \
	    $$(PKG_CONFIG_PATH=$(LIB)/pkgconfig pkg-config --cflags --libs $$(sed -n 's/.*--libs \([a-z -]*\)).*/\1/p' $<))

EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))
# Those that wait for long come first, so that no line of the tests ends long after the others.
SUITES := silence_zookeeper-threaded silence_zookeeper overdue overdue-threaded faults_zookeeper faults_zookeeper-threaded \
    faults crowd-given attach verdicts_redis idempotency ends single_steps sweep turns silence_redis faults_redis close late close_again crowd-threaded scarce \
    close_again-threaded given_zookeeper poll_loop fork threads crowd faults-threaded close-threaded single kinds event_loop \
    client inspection owners downgrade late-threaded threads-threaded fork-threaded reach_redis \
    testing hub addresses options limits scopes fuzz fuzz_values owners_threads wakes wakes-threaded kinds_zookeeper given_redis bad_input names process verdicts_zookeeper requests_zookeeper watches_zookeeper \
    ipv6_zookeeper numbers_zookeeper failover_redis client-threaded process-threaded kinds-threaded kinds_zookeeper-threaded \
    event_loop-threaded watches_zookeeper-threaded ipv6_zookeeper-threaded numbers_zookeeper-threaded \
    writes_zookeeper-threaded $(if $(filter yes,$(ZOOKEEPER_ST)),writes_zookeeper) $(if $(filter yes,$(TLS)),tls)
PROGRAMS := $(SUITES:%=$(TESTS)/%) $(TESTS)/transcripts $(TESTS)/header $(TESTS)/static $(STATIC_ROWS:%=$(TESTS)/static-%) $(TESTS)/two_rust_libraries

.PHONY: test-programs test test-small test-crowds test-install test-local test-valgrind test-asan test-tsan check-hiredis
test-programs: check-hiredis $(PROGRAMS) $(EXAMPLES)

# The oldest hiredis that is supported is the system's. On a system with a later one, make fails with a message about it.
HIREDIS_EXPECTED := $(if $(HIREDIS),1.,0.14)
check-hiredis:
	@found=$$(printf '#include <hiredis/hiredis.h>\nHIREDIS_MAJOR.HIREDIS_MINOR\n' | \
	    $(CC) $(if $(HIREDIS),-isystem $(HIREDIS)/include) -E -P -x c - | tail -n 1 | tr -d ' '); \
	case $$found in $(HIREDIS_EXPECTED)*) ;; *) \
	    echo "the tests need hiredis $(HIREDIS_EXPECTED) $(if $(HIREDIS),in $(HIREDIS),as the system's: install libhiredis-dev of Debian 12), and find $${found:-none}" >&2; \
	    exit 1 ;; esac

# Runs all suites, LINES of them in parallel, each line with its own servers. Crowds run last and one at a time: a server with too little
# processor time does not release two thousand locks within the time limit of a close.
LINES ?= 3
# `install` checks the shipped libraries, which are built without sanitizers.
EVERY = $(addprefix $(TESTS)/,$(if $(SANITIZE),,install) $(notdir $(PROGRAMS)) examples) $(NEWEST:%=$(BUILD)-newest/tests/%)
CROWDS = $(foreach suite,$(EVERY),$(if $(filter crowd%,$(notdir $(suite))),$(suite)))
test: test-small test-crowds
test-small: test-programs newest-programs
	$(PYTHON) tests/lines $(LINES) $(filter-out $(CROWDS),$(EVERY))
test-crowds: test-programs newest-programs
	$(PYTHON) tests/lines 1 $(CROWDS)

# Tests the installed tree, without servers.
test-install: all
	tests/run $(TESTS) install

# Without servers.
test-local: test-programs
	tests/run $(TESTS) hub addresses options limits scopes fuzz fuzz_values transcripts header two_rust_libraries

# The same under memcheck. The tests of faults are slow even without it.
test-valgrind: test-programs
	RUNNER="valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible \
	    --child-silent-after-fork=yes --suppressions=tests/valgrind.supp" \
	    $(PYTHON) ../tests/servers run -- tests/run $(TESTS) $(filter-out static static-% header,$(notdir $(PROGRAMS)))

# The tests of Redis with the newest hiredis. The other tests use the system's hiredis, which is the oldest supported version.
NEWEST := given_redis given_redis_tls idempotency ends single_steps attach turns close client wakes late overdue crowd bad_input event_loop threads verdicts_redis faults_redis silence_redis \
    failover_redis reach_redis $(if $(filter yes,$(TLS)),tls)
HIREDIS_NEWEST := $(abspath ../build/hiredis)
.PHONY: test-newest newest-programs build-newest
build-newest: check-hiredis $(SHARED) $(NEWEST:%=$(TESTS)/%)
newest-programs:
	PYTHON="$(PYTHON)" CC="$(CC)" tests/newest-hiredis $(HIREDIS_NEWEST)
	$(MAKE) --no-print-directory BUILD=$(BUILD)-newest HIREDIS=$(HIREDIS_NEWEST) build-newest
test-newest: newest-programs
	$(PYTHON) tests/lines $(LINES) $(NEWEST:%=$(BUILD)-newest/tests/%)

# The same with the C libraries built for AddressSanitizer and UndefinedBehaviorSanitizer, in a separate folder. With AddressSanitizer,
# dlopen does not search the folder of our libraries.
test-asan:
	LD_LIBRARY_PATH=$(abspath $(BUILD)-asan/lib) $(MAKE) BUILD=$(BUILD)-asan \
	    SANITIZE="-fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined" test

# The tests that use threads, with the C libraries built for ThreadSanitizer.
THREADED_TESTS := client wakes faults_zookeeper silence_zookeeper watches_zookeeper threads crowd late overdue close close_again
THREADED_TESTS += $(THREADED_TESTS:%=%-threaded) crowd-given given_zookeeper given_redis faults_redis idempotency ends
test-tsan:
	LD_LIBRARY_PATH=$(abspath $(BUILD)-tsan/lib) $(MAKE) --no-print-directory BUILD=$(BUILD)-tsan SANITIZE="-fsanitize=thread -fno-omit-frame-pointer" \
	    $(THREADED_TESTS:%=$(BUILD)-tsan/tests/%)
	LD_LIBRARY_PATH=$(abspath $(BUILD)-tsan/lib) TSAN_OPTIONS=suppressions=$(abspath tests/tsan.supp) \
	    $(PYTHON) tests/lines $(LINES) $(THREADED_TESTS:%=$(BUILD)-tsan/tests/%)
