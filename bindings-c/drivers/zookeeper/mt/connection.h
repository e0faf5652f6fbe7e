/* The connection of a handle of the driver's own. */
#ifndef FENCEPOST_ZOOKEEPER_MT_CONNECTION_H
#define FENCEPOST_ZOOKEEPER_MT_CONNECTION_H

#include "../internal.h"

/* The library's own thread makes the connection, and only that thread uses its socket. */
struct connection {
    int copy;                 /* of the library's socket, while it is connected; -1 if there is none */
    char server[SERVER_SIZE]; /* the server of this connection */
    uint64_t answer_by;       /* while it is not connected: until when a server has to answer */
    unsigned failures;        /* how many servers in a row have not answered */
};

/* Closes the copy of the library's socket. */
void connection_forget_copy(struct connection *connection);
/* Makes a copy of the library's socket that stays open while the library's thread closes its own; -1 if there is none.
 */
int connection_copy(zhandle_t *handle);
/* How long a server may be silent, in microseconds. */
uint64_t silence_limit(const struct driver *driver);

#endif
