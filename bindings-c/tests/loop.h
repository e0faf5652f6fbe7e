/* A caller's own event loop around hiredis contexts: what an adapter for a real event library does. */
#ifndef FENCEPOST_TESTS_LOOP_H
#define FENCEPOST_TESTS_LOOP_H

#include <hiredis/async.h>
#include <stdbool.h>

struct loop {
    redisAsyncContext *context; /* NULL once it has been freed */
    bool reads, writes, connected;
    int disconnects;
};

/* Connects, and runs until that is done. */
bool loop_connect(struct loop *loop, const char *address);
void loop_attach(struct loop *loop);
void loop_detach(struct loop *loop);
/* One turn for some contexts and one more descriptor (or -1), at most so many milliseconds; whether the descriptor is
 * readable. */
bool loop_turn(struct loop **loops, int count, int descriptor, int milliseconds);

#endif
