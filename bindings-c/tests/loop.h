/* An event loop of the program around hiredis contexts, like an adapter for an event library. */
#ifndef FENCEPOST_TESTS_LOOP_H
#define FENCEPOST_TESTS_LOOP_H

#include <hiredis/async.h>
#include <stdbool.h>

struct loop {
    redisAsyncContext *context; /* NULL after it was freed */
    bool reads, writes, connected;
    int disconnects;
};

/* Connects, and runs the loop until the context is connected. */
bool loop_connect(struct loop *loop, const char *address);
void loop_attach(struct loop *loop);
void loop_detach(struct loop *loop);
/* Runs one turn for some contexts and one more descriptor (or -1), for at most so many milliseconds. Returns whether
 * the descriptor is readable. */
bool loop_turn(struct loop **loops, int count, int descriptor, int milliseconds);

#endif
