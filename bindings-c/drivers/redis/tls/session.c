/* TLS by OpenSSL, for the connections that libfencepost-redis makes. */
#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tls.h"
#include "socket.h"

struct settings {
    SSL_CTX *context;
    BIO_METHOD *socket;
    bool is_number; /* the host is an IP address */
    char host[];
};

static bool is_number(const char *host) {
    unsigned char address[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

/* The reason of the last error. */
static const char *reason(void) {
    const char *text = ERR_reason_error_string(ERR_peek_last_error());

    return text != NULL ? text : "out of memory";
}

static void close_settings(void *self) {
    struct settings *settings = self;

    if (settings == NULL)
        return;
    SSL_CTX_free(settings->context);
    BIO_meth_free(settings->socket);
    free(settings);
}

/* Sets the trusted certificates. Returns false on an error; `why` then has the reason. */
static bool trust(SSL_CTX *context, const char *ca, char *why, size_t size) {
    ERR_clear_error();
    if (ca[0] == '\0') {
        if (SSL_CTX_set_default_verify_paths(context) == 1)
            return true;
        snprintf(why, size, "the system's certificates cannot be read: %s", reason());
        return false;
    }
    if (SSL_CTX_load_verify_locations(context, ca, NULL) == 1)
        return true;
    snprintf(
        why, size, "ca=%s: %s", ca,
        ERR_GET_LIB(ERR_peek_error()) == ERR_LIB_SYS ? strerror(ERR_GET_REASON(ERR_peek_error()))
                                                     : "there is no certificate in this file");
    return false;
}

static void *open_settings(const char *host, const char *ca, char *why, size_t size) {
    struct settings *settings = calloc(1, sizeof *settings + strlen(host) + 1);

    snprintf(why, size, "out of memory");
    if (settings == NULL)
        return NULL;
    strcpy(settings->host, host);
    settings->is_number = is_number(host);
    settings->socket = socket_method();
    settings->context = SSL_CTX_new(TLS_client_method());
    if (settings->socket == NULL || settings->context == NULL || !trust(settings->context, ca, why, size)) {
        close_settings(settings);
        return NULL;
    }
    SSL_CTX_set_verify(settings->context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_min_proto_version(settings->context, TLS1_2_VERSION);
    SSL_CTX_set_mode(settings->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return settings;
}

/* Requires that the certificate is for this host. */
static bool expect(SSL *session, const struct settings *settings) {
    if (settings->is_number)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), settings->host) == 1;
    return SSL_set1_host(session, settings->host) == 1 && SSL_set_tlsext_host_name(session, settings->host) == 1;
}

static void *begin(const void *self, int socket) {
    const struct settings *settings = self;
    SSL *session = SSL_new(settings->context);
    BIO *bio = session == NULL ? NULL : socket_open(settings->socket, socket);

    if (bio == NULL || !expect(session, settings)) {
        BIO_free(bio);
        SSL_free(session);
        return NULL;
    }
    SSL_set_bio(session, bio, bio);
    SSL_set_connect_state(session);
    return session;
}

static void end(void *session) {
    SSL_free(session);
}

static enum tls_outcome outcome(SSL *session, int result) {
    switch (SSL_get_error(session, result)) {
    case SSL_ERROR_NONE:
        return TLS_DONE;
    case SSL_ERROR_WANT_READ:
        return TLS_READ;
    case SSL_ERROR_WANT_WRITE:
        return TLS_WRITE;
    case SSL_ERROR_SSL:
#ifdef SSL_R_UNEXPECTED_EOF_WHILE_READING
        if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
            return TLS_ENDED;
#endif
        return TLS_DISTRUSTED;
    default:
        return TLS_ENDED;
    }
}

static enum tls_outcome shake(void *session, char *why, size_t size) {
    enum tls_outcome came;
    long verdict;

    ERR_clear_error();
    came = outcome(session, SSL_do_handshake(session));
    verdict = SSL_get_verify_result(session);
    if (came == TLS_DISTRUSTED && verdict != X509_V_OK)
        snprintf(why, size, "the server's certificate is refused: %s", X509_verify_cert_error_string(verdict));
    else if (came == TLS_DISTRUSTED)
        snprintf(why, size, "the TLS handshake has failed: %s", reason());
    return came;
}

static enum tls_outcome receive(void *session, char *data, size_t size, size_t *done) {
    *done = 0;
    ERR_clear_error();
    return outcome(session, SSL_read_ex(session, data, size, done));
}

static enum tls_outcome send_out(void *session, const char *data, size_t size, size_t *done) {
    *done = 0;
    ERR_clear_error();
    return outcome(session, SSL_write_ex(session, data, size, done));
}

extern const struct tls_functions fencepost_redis_tls;
const struct tls_functions fencepost_redis_tls = {
    .open = open_settings,
    .close = close_settings,
    .begin = begin,
    .end = end,
    .shake = shake,
    .receive = receive,
    .send = send_out,
};
