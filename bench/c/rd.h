/* hiredis, blocking. */
#ifndef BENCH_RD_H
#define BENCH_RD_H

#include <hiredis/hiredis.h>

#include "worker.h"

redisContext *rd_open(const address *at);
/* Returns a reply that is not an error. The caller frees it. */
redisReply *rd_call(redisContext *c, int count, const char **arguments);
/* Loads the script into the server, and writes its SHA-1 to `sha`. */
void rd_load(redisContext *c, const char *text, char sha[41]);

#endif
