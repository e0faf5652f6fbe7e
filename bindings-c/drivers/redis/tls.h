/* What libfencepost-redis asks of libfencepost-redis-tls, which it loads when an address wants TLS. */
#ifndef FENCEPOST_REDIS_TLS_H
#define FENCEPOST_REDIS_TLS_H

#include <stdbool.h>
#include <stddef.h>

#define TLS_LIBRARY "libfencepost-redis-tls.so.0"
#define TLS_FUNCTIONS "fencepost_redis_tls"

/* What has come of a step. Nothing ever waits. */
enum tls_outcome {
    TLS_DONE,
    TLS_READ,      /* go on when the socket can be read */
    TLS_WRITE,     /* ... or written */
    TLS_ENDED,     /* the connection has ended */
    TLS_DISTRUSTED /* the server has shown, or speaks, what it must not: it would again */
};

struct tls_functions {
    /* How to make sure of the server `host`: by the certificates in the file `ca`, or the system's if that is empty.
     * NULL: `why` says why. */
    void *(*open)(const char *host, const char *ca, char *why, size_t size);
    void (*close)(void *settings);
    /* A session on a connected socket, which stays the caller's. NULL: no memory. */
    void *(*begin)(const void *settings, int socket);
    void (*end)(void *session);
    enum tls_outcome (*shake)(void *session, char *why, size_t size);
    /* `done`: how many bytes; with TLS_DONE at least one. */
    enum tls_outcome (*receive)(void *session, char *data, size_t size, size_t *done);
    enum tls_outcome (*send)(void *session, const char *data, size_t size, size_t *done);
};

#endif
