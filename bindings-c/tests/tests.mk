# The tests, which are part of the Makefile above.

TESTS := $(BUILD)/tests
TRANSCRIPTS := $(sort $(dir $(wildcard ../tests/transcripts/*/.)))
LINK := -Wl,-rpath,$(abspath $(LIB)) -L$(LIB)
SERVERS := $(PYTHON) ../tests/servers run --

$(TESTS)/transcripts: $(wildcard tests/transcripts/*.[ch]) tests/check.h $(CORE) $(HEADERS)
	@mkdir -p $(@D)
	$(COMPILE) -D_GNU_SOURCE -Iinclude $(wildcard tests/transcripts/*.c) $(LINK) -lfencepost -lcjson -o $@

.PHONY: test-transcripts
test-transcripts: $(TESTS)/transcripts
	$(RUNNER) $< $(TRANSCRIPTS)
