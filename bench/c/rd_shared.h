/* One hiredis connection for many threads: requests of several are under way at once. */
#ifndef BENCH_RD_SHARED_H
#define BENCH_RD_SHARED_H

#include "rd.h"

typedef struct rd_shared rd_shared;

/* Shares a connection from now on. */
rd_shared *rd_share(redisContext *c);
/* A reply that is no error; to be freed. */
redisReply *rd_shared_call(rd_shared *s, int count, const char **arguments);

#endif
