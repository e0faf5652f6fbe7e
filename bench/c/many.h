/* The worker's side of the protocol (../README.md) for many threads, each with a lock of its own. */
#ifndef BENCH_MANY_H
#define BENCH_MANY_H

#include "worker.h"

/* Returns a lock with that name on the client that all threads share. The lock is never closed. */
typedef lock (*opening)(const char *name);

/* Prints "ready" and runs commands until "quit". */
int serve_many(opening another, const char *name);

#endif
