/* Sockets for OpenSSL that write without the signal of a closed socket. */
#ifndef FENCEPOST_REDIS_TLS_SOCKET_H
#define FENCEPOST_REDIS_TLS_SOCKET_H

#include <openssl/bio.h>

/* NULL if there is no memory. Free it with BIO_meth_free, after all sockets that were opened with it. */
BIO_METHOD *socket_method(void);
/* The caller still owns the socket. NULL if there is no memory. */
BIO *socket_open(const BIO_METHOD *method, int socket);

#endif
