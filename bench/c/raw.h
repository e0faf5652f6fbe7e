/* The client libraries alone. Each function returns a lock on the server at an address. */
#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include "many.h"
#include "worker.h"

/* create and children in one flight; delete. The names and the data are as long as fencepost's. */
lock raw_zookeeper(const address *at, const char *name);
/* fencepost's scripts by EVALSHA, with the arguments that fencepost passes. */
lock raw_redis(const address *at, const char *name);
/* The requests of an operation's claim and completion. */
lock raw_operation_zookeeper(const address *at, const char *scope);
lock raw_operation_redis(const address *at, const char *scope);
/* The same requests of many threads on one connection. Returns a function that opens a lock. */
opening many_raw_zookeeper(const address *at, const char *name);
opening many_raw_redis(const address *at, const char *name);
/* No lock, only the event that every hand-off needs: from the call of delete to the watch event. */
lock floor_zookeeper(const address *at, const char *name);
/* The same: from the call of PUBLISH to the message. */
lock floor_redis(const address *at, const char *name);

#endif
