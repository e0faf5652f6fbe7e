/* The connection of a handle that the driver made. */
#ifndef FENCEPOST_ZOOKEEPER_MT_CONNECTION_H
#define FENCEPOST_ZOOKEEPER_MT_CONNECTION_H

#include "../internal.h"

/* The library's own thread makes the connection, and only that thread uses its socket. */
struct connection {
    int copy;                 /* of the library's socket, while it is connected; -1 if there is none */
    char server[SERVER_SIZE]; /* the server of this connection */
    uint64_t answer_by;       /* while it is not connected: the deadline for the server's reply */
    unsigned failures;        /* the number of servers in a row that did not reply */
};

/* Closes the copy of the library's socket. */
void connection_forget_copy(struct connection *connection);
/* Makes a copy of the library's socket, which stays open when the library's thread closes the socket; -1 if there is no
 * socket.
 */
int connection_copy(zhandle_t *handle);
/* How long a server may be silent, in microseconds. */
uint64_t silence_limit(const struct driver *driver);

#endif
