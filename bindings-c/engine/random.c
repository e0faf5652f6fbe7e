/* Random bytes from the operating system, fetched for several acquires at once. Two processes never use the same bytes
 * after a fork, because the child cannot use the parent's client. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "internal.h"

/* The system may return fewer bytes than requested: at most 256 before Linux 5.18, and any number after a signal. */
static bool fill(struct pool *pool) {
    size_t filled = 0;

    while (filled < sizeof pool->bytes) {
        ssize_t more = getrandom(pool->bytes + filled, sizeof pool->bytes - filled, 0);

        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return false;
        filled += (size_t)more;
    }
    return true;
}

/* Takes random bytes for a contender id and a seed. The id must be unique for mutual exclusion, so an acquire fails
 * without random bytes. */
fencepost_result random_take(struct pool *pool, uint8_t contender[16], uint64_t *seed) {
    size_t needed = 16 + sizeof *seed;

    if (pool->used == 0 || pool->used + needed > sizeof pool->bytes) {
        pool->used = 0;
        if (!fill(pool))
            return fault(
                FENCEPOST_RESULT_SYSTEM_ERROR,
                "the operating system returned no random bytes, which identify contenders: correct the system");
    }
    memcpy(contender, pool->bytes + pool->used, 16);
    memcpy(seed, pool->bytes + pool->used + 16, sizeof *seed);
    memset(pool->bytes + pool->used, 0, needed);
    pool->used += needed;
    return FENCEPOST_RESULT_OK;
}

/* A seed for a hub. It only spreads retries over time, so it may be any number. */
uint64_t random_seed(void) {
    uint64_t number = 0;

    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number)
        number = fencepost_now();
    return number;
}
