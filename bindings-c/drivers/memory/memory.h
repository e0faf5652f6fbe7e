/* `memory:`, a server in this process. */
#ifndef FENCEPOST_MEMORY_H
#define FENCEPOST_MEMORY_H

#include "fencepost-client.h"

/* `name` may be empty: then no other client gets the same server. */
fencepost_result memory_connect(const char *name, size_t size, fencepost_client **client);

#endif
