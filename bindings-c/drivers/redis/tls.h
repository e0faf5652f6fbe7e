/* The functions of libfencepost-redis-tls, which libfencepost-redis loads for an address with TLS. */
#ifndef FENCEPOST_REDIS_TLS_H
#define FENCEPOST_REDIS_TLS_H

#include <stdbool.h>
#include <stddef.h>

#define TLS_LIBRARY "libfencepost-redis-tls.so.0"
#define TLS_FUNCTIONS "fencepost_redis_tls"

/* The result of a step. No step waits. */
enum tls_outcome {
    TLS_DONE,
    TLS_READ,      /* continue when the socket is readable */
    TLS_WRITE,     /* ... or writable */
    TLS_ENDED,     /* the connection has ended */
    TLS_DISTRUSTED /* the server's certificate or its TLS is not acceptable; a retry would not help */
};

struct tls_functions {
    /* Makes the settings that check the server `host`: with the certificates in the file `ca`, or with the system's if
     * it is empty. NULL on an error; `why` then has the reason. */
    void *(*open)(const char *host, const char *ca, char *why, size_t size);
    void (*close)(void *settings);
    /* Begins a session on a connected socket, which the caller still owns. NULL if there is no memory. */
    void *(*begin)(const void *settings, int socket);
    void (*end)(void *session);
    enum tls_outcome (*shake)(void *session, char *why, size_t size);
    /* `done` is the number of bytes; with TLS_DONE, at least one. */
    enum tls_outcome (*receive)(void *session, char *data, size_t size, size_t *done);
    enum tls_outcome (*send)(void *session, const char *data, size_t size, size_t *done);
};

#endif
