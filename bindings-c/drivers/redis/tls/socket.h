/* Sockets for OpenSSL that cause no SIGPIPE when the connection is closed. */
#ifndef FENCEPOST_REDIS_TLS_SOCKET_H
#define FENCEPOST_REDIS_TLS_SOCKET_H

#include <openssl/bio.h>

/* Returns NULL if there is no memory. Free it with BIO_meth_free, after all sockets that were opened with it. */
BIO_METHOD *socket_method(void);
/* The caller still owns the socket. Returns NULL if there is no memory. */
BIO *socket_open(const BIO_METHOD *method, int socket);

#endif
