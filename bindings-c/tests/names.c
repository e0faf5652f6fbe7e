/* Names that a server would refuse or change: the client refuses them, and sends nothing. */
#include <poll.h>

#include "support.h"

static void malformed_names_are_refused(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    fencepost_grant *grant = NULL;
    fencepost_lock *lock = NULL;
    char endless[8000];

    CHECK_FAULT(fencepost_acquire(client, "", LONG, &grant), FENCEPOST_RESULT_EMPTY_NAME, "empty");
    CHECK_RESULT(fencepost_lock_new(client, "", &lock), FENCEPOST_RESULT_EMPTY_NAME);
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    CHECK_FAULT(fencepost_acquire(client, endless, LONG, &grant), FENCEPOST_RESULT_INVALID_NAME, "longer");
    CHECK_RESULT(fencepost_acquire(client, "\xff\xfe", LONG, &grant), FENCEPOST_RESULT_BAD_ARGUMENT);
    if (family != REDIS) {
        CHECK_FAULT(fencepost_acquire(client, "a//b", LONG, &grant), FENCEPOST_RESULT_INVALID_NAME, "slash");
        CHECK_FAULT(fencepost_acquire(client, "a/", LONG, &grant), FENCEPOST_RESULT_INVALID_NAME, "slash");
        CHECK_FAULT(fencepost_acquire(client, "a/../b", LONG, &grant), FENCEPOST_RESULT_INVALID_NAME, "relative");
        CHECK_FAULT(fencepost_acquire(client, "zookeeper/x", LONG, &grant), FENCEPOST_RESULT_INVALID_NAME, "reserves");
        CHECK_RESULT(fencepost_acquire(client, "a\x01", LONG, &grant), FENCEPOST_RESULT_INVALID_NAME);
    }
    CHECK(grant == NULL && lock == NULL);
    close_client(client);
}

/* ZooKeeper's paths allow only the first 65,536 characters, and none for private use. `memory:` has the same rule. */
static void characters_that_zookeeper_does_not_take(enum family family) {
    static const char *const names[] = {
        "\xf0\x9f\x98\x80", "stock/\xf0\x9f\x94\x92/42", "\xf0\x90\x80\x80", "x\xee\x80\x80"};
    fencepost_client *client = client_of(url(family, ""));
    fencepost_grant *grant = NULL;
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++) {
        int expected = family == REDIS ? FENCEPOST_OK : FENCEPOST_RESULT_INVALID_NAME;

        if (CHECK_RESULT(fencepost_acquire(client, names[i], LONG, &grant), expected) && family == REDIS)
            let_go(grant);
    }
    let_go(hold(client, "c-tests/\xef\xbe\xa1"));
    close_client(client);
}

/* An error contains only the beginning of a long name. */
static void long_names_have_short_errors(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    fencepost_grant *grant = NULL;
    char name[1001];

    memset(name, 'x', sizeof name - 1);
    memcpy(name, family == REDIS ? "a}bx" : "a//b", 4);
    name[sizeof name - 1] = '\0';
    CHECK_FAULT(fencepost_acquire(client, name, LONG, &grant), FENCEPOST_RESULT_INVALID_NAME, "xxxx");
    CHECK(strlen(fencepost_detail()) < 400);
    close_client(client);
}

/* In a cluster all keys of a lock have to be in one slot, which the part of the name in braces decides. */
static void names_that_spoil_the_hash_tag(void) {
    static const char *const names[] = {"a}b", "a{}b", "{}x"};
    fencepost_client *client = client_of(url(REDIS, ""));
    fencepost_grant *grant = NULL;
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_FAULT(fencepost_acquire(client, names[i], LONG, &grant), FENCEPOST_RESULT_INVALID_NAME, "hash tag");
    let_go(hold(client, "c-tests/{a}b"));
    close_client(client);
}

int main(void) {
    enum family family;

    for (family = MEMORY; family < FAMILIES; family++) {
        if (address(family) == NULL)
            continue;
        TEST_ON(malformed_names_are_refused, family, label(family));
        TEST_ON(characters_that_zookeeper_does_not_take, family, label(family));
        TEST_ON(long_names_have_short_errors, family, label(family));
    }
    if (address(REDIS) != NULL)
        TEST(names_that_spoil_the_hash_tag);
    return check_close();
}
