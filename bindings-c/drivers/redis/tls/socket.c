/* OpenSSL's own sockets write without MSG_NOSIGNAL, so a closed socket would end the program by SIGPIPE. */
#include "socket.h"

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>

static int descriptor(BIO *bio) {
    return (int)(intptr_t)BIO_get_data(bio);
}

static int write_some(BIO *bio, const char *data, int size) {
    int sent = (int)send(descriptor(bio), data, (size_t)size, MSG_NOSIGNAL);

    BIO_clear_retry_flags(bio);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_write(bio);
    return sent;
}

static int read_some(BIO *bio, char *data, int size) {
    int received = (int)recv(descriptor(bio), data, (size_t)size, 0);

    BIO_clear_retry_flags(bio);
    if (received < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_read(bio);
    if (received == 0)
        BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return received;
}

static long control(BIO *bio, int what, long number, void *pointer) {
    (void)number;
    (void)pointer;
    if (what == BIO_CTRL_EOF)
        return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    return what == BIO_CTRL_FLUSH;
}

BIO_METHOD *socket_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "fencepost socket");

    if (method == NULL)
        return NULL;
    BIO_meth_set_write(method, write_some);
    BIO_meth_set_read(method, read_some);
    BIO_meth_set_ctrl(method, control);
    return method;
}

BIO *socket_open(const BIO_METHOD *method, int socket) {
    BIO *bio = BIO_new(method);

    if (bio == NULL)
        return NULL;
    BIO_set_data(bio, (void *)(intptr_t)socket);
    BIO_set_init(bio, 1);
    return bio;
}
