/* `memory:`, a server in this process. */
#ifndef FENCEPOST_MEMORY_H
#define FENCEPOST_MEMORY_H

#include "fencepost-client.h"

/* `name` may be empty: then no other client gets the same server. The timeout is in microseconds. */
fencepost_result memory_connect(const char *name, size_t size, uint64_t session_timeout, fencepost_client **client);

#endif
