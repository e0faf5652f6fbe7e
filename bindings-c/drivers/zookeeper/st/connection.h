/* The connection of a handle. */
#ifndef FENCEPOST_ZOOKEEPER_ST_CONNECTION_H
#define FENCEPOST_ZOOKEEPER_ST_CONNECTION_H

#include "../internal.h"

/* The library makes a new socket for each connection, often with the same number. */
struct connection {
    int poll;   /* epoll; it never changes */
    int socket; /* the library's socket; -1 if there is none */
    int copy; /* of the socket, in `poll`: a forked child may keep the original open, which could then not be removed */
    short events;             /* what the library waits for */
    bool corked;              /* the system collects written bytes for a moment */
    uint64_t until;           /* when to call the library: for a ping, or to give up a server */
    uint64_t answer_by;       /* while it connects: until when the server has to answer */
    unsigned failures;        /* how many servers in a row have not answered */
    char server[SERVER_SIZE]; /* the last server that it tried */
    fencepost_hub *hub;       /* while a thread is in the library, with the client's mutex: callbacks come only then */
};

/* The socket is closed, or may be. */
void connection_forget_socket(struct connection *connection);
/* Sets in `poll` what the library waits for on its socket. */
void connection_watch(struct connection *connection, int socket, short events);

#endif
