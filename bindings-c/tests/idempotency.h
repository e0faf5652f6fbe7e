/* Shared functions of the tests of idempotent operations. */
#ifndef FENCEPOST_TESTS_IDEMPOTENCY_H
#define FENCEPOST_TESTS_IDEMPOTENCY_H

#include "support.h"

#define PRINT "print", 5

static inline fencepost_idempotency *
scope_with(fencepost_client *client, const fencepost_idempotency_options *options) {
    fencepost_idempotency *idempotency = NULL;

    CHECK_RESULT(fencepost_idempotency_open(client, "c-tests", options, &idempotency), FENCEPOST_OK);
    return idempotency;
}

static inline fencepost_grant *claim_of(fencepost_idempotency *idempotency, const char *key) {
    fencepost_grant *claim = NULL;

    CHECK_RESULT(fencepost_claim(idempotency, key, PRINT, LONG, &claim), FENCEPOST_OK);
    return claim;
}

static inline void has_result(const fencepost_grant *claim, const void *bytes, size_t size) {
    const void *found = NULL;
    size_t found_size = 0;

    if (CHECK_RESULT(fencepost_claim_result(claim, &found, &found_size), FENCEPOST_OK))
        CHECK(found_size == size && memcmp(found, bytes, size) == 0);
}

static inline bool is_record(const fencepost_record *record, const char *tag, const char *result) {
    return record != NULL && strcmp((const char *)record->tag.data, tag) == 0 &&
           record->result.size == strlen(result) && strcmp((const char *)record->result.data, result) == 0;
}

#endif
