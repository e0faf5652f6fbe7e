/* hiredis, blocking. */
#ifndef BENCH_RD_H
#define BENCH_RD_H

#include <hiredis/hiredis.h>

#include "worker.h"

redisContext *rd_open(const address *at);
/* A reply that is no error; to be freed. */
redisReply *rd_call(redisContext *c, int count, const char **arguments);
/* Has the server know the script, and gives the SHA-1 by which it does. */
void rd_load(redisContext *c, const char *text, char sha[41]);

#endif
