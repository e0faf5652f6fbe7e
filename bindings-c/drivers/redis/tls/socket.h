/* Sockets for OpenSSL that send without the signal that a closed socket gives. */
#ifndef FENCEPOST_REDIS_TLS_SOCKET_H
#define FENCEPOST_REDIS_TLS_SOCKET_H

#include <openssl/bio.h>

/* NULL: no memory. Freed with BIO_meth_free, after all that were opened with it. */
BIO_METHOD *socket_method(void);
/* The socket stays the caller's. NULL: no memory. */
BIO *socket_open(const BIO_METHOD *method, int socket);

#endif
