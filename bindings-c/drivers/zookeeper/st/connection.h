/* The connection of a handle. */
#ifndef FENCEPOST_ZOOKEEPER_ST_CONNECTION_H
#define FENCEPOST_ZOOKEEPER_ST_CONNECTION_H

#include "../internal.h"

/* Another socket each time, often under the same number. */
struct connection {
    int poll;   /* epoll: never changes */
    int socket; /* the library's; -1: there is none */
    int copy;   /* of the socket, in `poll`: a forked child may keep the original open, and it could not be taken out */
    short events;             /* what the library waits for */
    bool corked;              /* what is written is kept for a moment */
    uint64_t until;           /* when the library wants to be called: for a ping, or to give a server up */
    uint64_t answer_by;       /* while it connects: when the server has to have answered */
    unsigned failures;        /* how many servers have not, one after the other */
    char server[SERVER_SIZE]; /* the last one that was tried */
    fencepost_hub *hub;       /* while we are in the library, with the client's lock: its callbacks come then only */
};

/* The socket has gone, or may have. */
void connection_forget_socket(struct connection *connection);
/* Keeps `poll` in step with the library's socket. */
void connection_watch(struct connection *connection, int socket, short events);

#endif
