/* libfencepost.a with another static library in Rust: both work, and catch their own panics. */
#include <fencepost-client.h>

#include "check.h"

uint64_t other_sum(uint64_t end);

static void both_work(void) {
    fencepost_client *client = NULL;
    fencepost_grant *grant = NULL;

    CHECK(other_sum(3) == 3);
    CHECK(other_sum(200) == 0);
    NEED(fencepost_connect("memory:", &client) == FENCEPOST_OK);
    CHECK_RESULT(fencepost_acquire(client, "stock", FENCEPOST_FOREVER, &grant), FENCEPOST_OK);
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_OK);
    fencepost_grant_free(grant);
    fencepost_client_free(client);
}

int main(void) {
    TEST(both_work);
    return check_close();
}
