/* The connection of a handle. */
#ifndef FENCEPOST_ZOOKEEPER_ST_CONNECTION_H
#define FENCEPOST_ZOOKEEPER_ST_CONNECTION_H

#include "../internal.h"

/* The library makes a new socket for each connection, often with the same number. */
struct connection {
    int poll;       /* epoll; it never changes */
    int socket;     /* the library's socket; -1 if there is none */
    int copy;       /* of the socket, in `poll`: the original could not be removed while a forked child keeps it open */
    short events;   /* what the library waits for */
    bool corked;    /* the system collects written bytes for a moment */
    uint64_t until; /* when to call the library: for a ping, or to try the next server */
    uint64_t answer_by;       /* while it connects: the deadline for the server's reply */
    unsigned failures;        /* the number of servers in a row that did not reply */
    char server[SERVER_SIZE]; /* the last server that it tried */
    fencepost_hub *hub;       /* during a call of the library, with the client's mutex: callbacks come only then */
};

/* Removes the socket, because it is closed or may be closed. */
void connection_forget_socket(struct connection *connection);
/* Sets in `poll` the events for which the library waits on its socket. */
void connection_watch(struct connection *connection, int socket, short events);

#endif
