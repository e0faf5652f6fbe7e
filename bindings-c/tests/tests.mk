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
WITH_attach := tests/loop.c
WITH_turns := tests/loop.c
WITH_late := tests/loop.c
WITH_close := tests/loop.c
WITH_lent := tests/loop.c
WITH_faults := tests/waiting.c
WITH_faults_zookeeper := tests/waiting.c
WITH_faults_redis := tests/waiting.c
WITH_verdicts_zookeeper := $(OBJ)/zookeeper/zookeeper/verdict.o
# The driver itself, so that what it tells the hub can be written down.
WITH_verdicts_redis := tests/loop.c $(OBJECTS_redis)
WITH_requests_zookeeper := $(OBJECTS_zookeeper)
LINK_verdicts_redis := $(foreach function,failed reply gone,-Wl,--wrap=fencepost_hub_$(function))
LINK_requests_zookeeper := $(foreach function,created children data done error failed watch,-Wl,--wrap=fencepost_hub_$(function))
LINK_attach := -lfencepost-zookeeper -lfencepost-redis
LINK_bad_input := -lfencepost-zookeeper -lfencepost-redis
LINK_turns := -lfencepost-redis
LINK_late := -lfencepost-redis
LINK_close := -lfencepost-redis
LINK_lent := -lfencepost-redis
LINK_lent_tls := -lfencepost-redis -lhiredis_ssl

# The tests' own ZooKeeper handles are of the library with threads. Where its names are in the program for all to see, fencepost takes that
# library too; where they are hidden in it, the one without threads.
THREADED_attach := yes
THREADED_bad_input := yes
THREADED_requests_zookeeper := yes
IN_SIGHT := -Wl,--no-as-needed -lzookeeper_mt
OUT_OF_SIGHT := -Wl,-Bstatic -lzookeeper_mt -Wl,-Bdynamic

BUILD_TEST = $(COMPILE) $(DEFINE_$*) -DTHREADED -D_GNU_SOURCE -DWITH_ST=$(if $(filter yes,$(ZOOKEEPER_ST)),1,0) -Iinclude $< $(WITH_$*) tests/support.c $(LINK) -lfencepost-client -lfencepost $(LINK_$*) \
    $(1) $(LINK_HIREDIS) -lcjson -ldl -lm -o $@

.SECONDEXPANSION:
$(TESTS)/%: tests/%.c $$(WITH_%) tests/support.c tests/support.h tests/check.h $(TESTS)/holder
	@mkdir -p $(@D)
	$(call BUILD_TEST,$(if $(THREADED_$*),$(IN_SIGHT),$(OUT_OF_SIGHT)))

$(TESTS)/%-threaded: tests/%.c $$(WITH_%) tests/support.c tests/support.h tests/check.h $(TESTS)/holder
	@mkdir -p $(@D)
	$(call BUILD_TEST,$(IN_SIGHT))

$(TESTS)/fuzz: tests/chance.h

$(TESTS)/header: tests/header.cc $(SHARED) $(HEADERS)
	@mkdir -p $(@D)
	$(CXX) -std=c++11 -DTHREADED $(WARNINGS) $(CXXFLAGS) $(SANITIZE) -Iinclude $< $(LINK) -lfencepost-client -lfencepost -o $@

# Options by their names, which C++ has since 2020.
$(TESTS)/header20: tests/header20.cc $(SHARED) $(HEADERS)
	@mkdir -p $(@D)
	$(CXX) -std=c++20 -DTHREADED $(WARNINGS) -Wno-missing-field-initializers $(CXXFLAGS) $(SANITIZE) -Iinclude $< $(LINK) -lfencepost-client -lfencepost -o $@

# Everything in one program, with no shared library of ours.
$(TESTS)/static: examples/blocking.c $(CORE) $(STATIC) $(HEADERS)
	@mkdir -p $(@D)
	$(COMPILE) -Iinclude examples/blocking.c -Wl,-u,fencepost_zookeeper_connect -Wl,-u,fencepost_redis_connect -rdynamic \
	    $(LIB)/libfencepost-zookeeper.a $(LIB)/libfencepost-redis.a $(LIB)/libfencepost-client.a $(LIB)/libfencepost.a \
	    -lzookeeper_mt -lhiredis -ldl -lm -o $@

# Beside another static library in Rust, with the same standard library in it.
$(TESTS)/beside: tests/beside.c tests/beside.rs $(CORE) $(STATIC) $(HEADERS)
	@mkdir -p $(@D)
	$(RUSTC) --crate-type staticlib -O tests/beside.rs -o $(OBJ)/libbeside.a
	$(COMPILE) -Iinclude $< $(LIB)/libfencepost-client.a $(LIB)/libfencepost.a $(OBJ)/libbeside.a -ldl -lm -o $@

# Examples, built as their own comments say.
$(BUILD)/examples/%: examples/%.c $(SHARED) $(PKGCONFIG) $(HEADERS:include/%=$(INCLUDE)/%)
	@mkdir -p $(@D)
	$(CC) -std=c99 $(WARNINGS) $(CFLAGS) $(SANITIZE) $< -o $@ -Wl,-rpath,$(abspath $(LIB)) \
	    $$(PKG_CONFIG_PATH=$(LIB)/pkgconfig pkg-config --cflags --libs $$(sed -n 's/.*--libs \([a-z -]*\)).*/\1/p' $<))

EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))
SUITES := hub addresses fuzz client kinds kinds_zookeeper owners downgrade single inspection event_loop \
    turns late scarce crowd threads lent close overdue bad_input attach verdicts_zookeeper requests_zookeeper verdicts_redis faults faults_zookeeper faults_redis \
    client-threaded crowd-threaded late-threaded threads-threaded close-threaded overdue-threaded kinds-threaded kinds_zookeeper-threaded event_loop-threaded faults-threaded \
    faults_zookeeper-threaded \
    $(if $(filter yes,$(TLS)),tls)
PROGRAMS := $(SUITES:%=$(TESTS)/%) $(TESTS)/transcripts $(TESTS)/header $(TESTS)/header20 $(TESTS)/static $(TESTS)/beside

.PHONY: test-programs test test-local test-servers test-valgrind test-asan
test-programs: $(PROGRAMS) $(EXAMPLES)

# All suites; starts the servers by itself, unless they run already.
test: test-programs
	$(if $(FENCEPOST_SERVERS),$(MAKE) --no-print-directory test-servers,$(PYTHON) ../tests/servers run -- $(MAKE) --no-print-directory test-servers)
	$(MAKE) --no-print-directory test-newest

# Without servers.
test-local: test-programs
	tests/run $(TESTS) hub addresses fuzz transcripts header beside

# On the servers that the environment names.
test-servers: test-programs
	tests/run $(TESTS) $(notdir $(PROGRAMS)) examples

# The same under memcheck. (The faults take their time even without it.)
test-valgrind: test-programs
	RUNNER="valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible \
	    --child-silent-after-fork=yes --suppressions=tests/valgrind.supp" \
	    $(PYTHON) ../tests/servers run -- tests/run $(TESTS) $(filter-out static header,$(notdir $(PROGRAMS)))

# What concerns Redis with the newest hiredis, beside the oldest that is supported, which is the system's.
NEWEST := lent lent_tls attach turns close client verdicts_redis $(if $(filter yes,$(TLS)),tls)
HIREDIS_NEWEST := $(abspath ../build/hiredis)
.PHONY: test-newest test-newest-programs test-newest-servers
test-newest-programs: $(SHARED) $(NEWEST:%=$(TESTS)/%)
test-newest:
	PYTHON="$(PYTHON)" CC="$(CC)" tests/newest-hiredis $(HIREDIS_NEWEST)
	$(MAKE) --no-print-directory BUILD=$(BUILD)-newest HIREDIS=$(HIREDIS_NEWEST) test-newest-programs
	$(if $(FENCEPOST_SERVERS),,$(PYTHON) ../tests/servers run --) $(MAKE) --no-print-directory BUILD=$(BUILD)-newest test-newest-servers
test-newest-servers:
	tests/run $(TESTS) $(NEWEST)

# The same with the C libraries built for AddressSanitizer and UndefinedBehaviorSanitizer, in a folder of their own. Their dlopen does not
# look where our libraries lie.
test-asan:
	LD_LIBRARY_PATH=$(abspath $(BUILD)-asan/lib) $(MAKE) BUILD=$(BUILD)-asan \
	    SANITIZE="-fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined" test
