/* Operations of fencepost instead of a lock. */
#ifndef BENCH_OURS_OPERATION_H
#define BENCH_OURS_OPERATION_H

#include <fencepost-client.h>

#include "worker.h"

/* Takes ownership of the client, and closes it. */
lock ours_operation(fencepost_client *client, const char *url, const char *scope);

#endif
