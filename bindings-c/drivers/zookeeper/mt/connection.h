/* The connection of a handle of our own. */
#ifndef FENCEPOST_ZOOKEEPER_MT_CONNECTION_H
#define FENCEPOST_ZOOKEEPER_MT_CONNECTION_H

#include "../internal.h"

/* The library's thread makes it, and has it to itself. */
struct connection {
    int copy;                 /* of the library's socket, while it is connected; -1: there is none */
    char server[SERVER_SIZE]; /* to which */
    uint64_t answer_by;       /* while it is not: when a server has to have answered */
    unsigned failures;        /* how many have not, one after the other */
};

/* Closes the copy of the library's socket. */
void connection_forget_copy(struct connection *connection);
/* A copy of the library's socket that stays open while the library's thread closes its own; -1: there is none. */
int connection_copy(zhandle_t *handle);
/* How long a server may take to answer, in microseconds. */
uint64_t silence_limit(const struct driver *driver);

#endif
