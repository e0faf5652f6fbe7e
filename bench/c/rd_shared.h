/* One hiredis connection for many threads: requests of several threads are pending at once. */
#ifndef BENCH_RD_SHARED_H
#define BENCH_RD_SHARED_H

#include "rd.h"

typedef struct rd_shared rd_shared;

/* Makes a connection shared. */
rd_shared *rd_share(redisContext *c);
/* Returns a reply that is not an error. The caller frees it. */
redisReply *rd_shared_call(rd_shared *s, int count, const char **arguments);

#endif
