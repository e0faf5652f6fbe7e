# The tests, which are part of the Makefile above.

TESTS := $(BUILD)/tests
TRANSCRIPTS := $(sort $(dir $(wildcard ../tests/transcripts/*/.)))
LINK := -Wl,-rpath,$(abspath $(LIB)) -L$(LIB)
RUN_TEST = HOLDER=$(TESTS)/holder $(RUNNER)

$(TESTS)/transcripts: $(wildcard tests/transcripts/*.[ch]) tests/check.h $(CORE) $(HEADERS)
	@mkdir -p $(@D)
	$(COMPILE) -D_GNU_SOURCE -Iinclude $(wildcard tests/transcripts/*.c) $(LINK) -lfencepost -lcjson -o $@

$(TESTS)/holder: tests/holder.c all
	@mkdir -p $(@D)
	$(COMPILE) -Iinclude $< $(LINK) -lfencepost-client -lfencepost -o $@

# What single tests need beside.
WITH_attach := tests/loop.c
LINK_attach := -lfencepost-zookeeper -lfencepost-redis
LINK_bad_input := -lfencepost-zookeeper -lfencepost-redis

.SECONDEXPANSION:
$(TESTS)/%: tests/%.c $$(WITH_%) tests/support.c tests/support.h tests/check.h $(TESTS)/holder
	@mkdir -p $(@D)
	$(COMPILE) -DTHREADED -D_GNU_SOURCE -Iinclude $< $(WITH_$*) tests/support.c $(LINK) -lfencepost-client -lfencepost $(LINK_$*) \
	    -lzookeeper_mt -lhiredis -lcjson -o $@

.PHONY: test-transcripts test-client
test-transcripts: $(TESTS)/transcripts
	$(RUNNER) $< $(TRANSCRIPTS)

test-client: $(TESTS)/client
	$(RUN_TEST) $<
