/* The example of an event loop. The test counts its turns: it turns only when there is something to do. */
#include <poll.h>

#include "support.h"

static int turns;

static int counted_poll(struct pollfd *sources, nfds_t count, int timeout) {
    turns++;
    return poll(sources, count, timeout);
}

#define poll counted_poll
#define main example
#include "../examples/poll_loop.c"
#undef poll
#undef main

/* The limit for a wait of five seconds without a grant: renewals, pings, and polls of a waiter on Redis. */
#define MOST_TURNS 170

static void waits_without_turning(enum family family) {
    fencepost_client *other = client_of(url(family, ""));
    const char *name = new_name("example");
    fencepost_grant *held = hold(other, name);
    char at[256], lock[256], *arguments[] = {"poll_loop", at, lock, NULL};

    snprintf(at, sizeof at, "%s", url(family, ""));
    snprintf(lock, sizeof lock, "%s", name);
    turns = 0;
    CHECK(example(3, arguments) == 1);
    CHECK(turns > 0 && turns <= MOST_TURNS);
    let_go(held);
    CHECK(example(3, arguments) == 0);
    close_client(other);
}

int main(void) {
    enum family family;

    for (family = MEMORY; family < FAMILIES; family++) {
        if (address(family) != NULL)
            TEST_ON(waits_without_turning, family, label(family));
    }
    return check_close();
}
