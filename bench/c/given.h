/* fencepost on a handle that the program has made. */
#ifndef BENCH_GIVEN_H
#define BENCH_GIVEN_H

#include <fencepost-client.h>

/* Makes a handle of libzookeeper_mt, and a client on it. */
fencepost_result given_open(const char *url, fencepost_client **client);

/* After the client has been closed. */
void given_close(void);

#endif
