/* The worker's side of the protocol (../README.md) for many threads, each with a lock of its own. */
#ifndef BENCH_MANY_H
#define BENCH_MANY_H

#include "worker.h"

/* Gives a lock of that name on the client that all share. It is never closed. */
typedef lock (*opening)(const char *name);

/* Says "ready" and obeys until "quit". */
int serve_many(opening another, const char *name);

#endif
