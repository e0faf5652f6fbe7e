/* libzookeeper_st, a library without threads. The thread that waits for an answer sends the request and reads the
 * answer itself, without a thread switch. While no thread waits, the client's background thread listens. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "connection.h"

/* How long not to call the library after an error, in microseconds. */
#define PAUSE 10000u

/* Lets the library connect to a server. Or the library asks for a pause. */
static int connect_next(struct driver *driver, int *socket, int *interest, struct timeval *left) {
    struct connection *connection = driver->connection;
    char last[SERVER_SIZE];
    int rc;

    memcpy(last, connection->server, sizeof last);
    if (!driver->connected) {
        /* If this attempt succeeds, the server counts the session's time from this moment at the earliest. */
        fencepost_hub_session(connection->hub, fencepost_now(), FENCEPOST_SESSION_STATE_CONNECTING, driver->session, 0);
        server_pass(driver->handle, connection->server);
    }
    fencepost_lookup_begin();
    errno = 0;
    rc = zookeeper_interest(driver->handle, socket, interest, left);
    if (rc != ZOK)
        session_note_error(driver, errno);
    fencepost_lookup_end();
    if (rc == ZOK && *socket < 0)
        memcpy(connection->server, last, sizeof last);
    else if (connection->server[0] == '\0')
        server_current(driver->handle, connection->server);
    return rc;
}

/* Asks the library what it waits for. In this call, the library connects, pings, and gives servers up. */
static void ask(struct driver *driver) {
    struct connection *connection = driver->connection;
    int socket = -1, interest = 0, rc;
    bool connects = connection->socket < 0;
    struct timeval left = {0, 0};
    uint64_t now = fencepost_now();

    if (driver->handle == NULL || driver->over) {
        connection_forget_socket(connection);
        connection->until = FENCEPOST_NEVER;
        return;
    }
    /* The library would connect at once, and resolve the servers' names, even if it has just asked for a pause. */
    if (connects && now < connection->until)
        return;
    rc = connects ? connect_next(driver, &socket, &interest, &left)
                  : zookeeper_interest(driver->handle, &socket, &interest, &left);
    if (rc == ZOK) {
        connection_watch(
            connection, socket,
            (short)((interest & ZOOKEEPER_READ ? POLLIN : 0) | (interest & ZOOKEEPER_WRITE ? POLLOUT : 0)));
        connection->until = now + (uint64_t)left.tv_sec * 1000000u + (uint64_t)left.tv_usec;
        if (connects && connection->socket >= 0)
            connection->answer_by =
                now + fencepost_handshake_timeout((uint64_t)driver->timeout * 1000u, connection->failures);
        return;
    }
    if (zoo_state(driver->handle) != ZOO_CONNECTED_STATE)
        connection_forget_socket(connection);
    connection->until = now + PAUSE;
}

/* Reads everything that has arrived. */
static void read_all(struct driver *driver, int events) {
    int rc;

    do {
        errno = 0;
        rc = zookeeper_process(driver->handle, events);
        events = ZOOKEEPER_READ;
    } while (rc == ZOK);
    if (rc != ZNOTHING) {
        session_note_error(driver, errno);
        connection_forget_socket(driver->connection);
    }
}

/* Which of the events that the library waits for have come. The library itself finds out what to read. It must not
 * write too early. */
static int ready(const struct connection *connection) {
    struct pollfd source = {connection->socket, connection->events, 0};

    if (connection->socket < 0)
        return 0;
    if (connection->events == POLLIN)
        return ZOOKEEPER_READ;
    if (poll(&source, 1, 0) <= 0)
        return 0;
    return (source.revents & (POLLIN | POLLHUP | POLLERR) ? ZOOKEEPER_READ : 0) |
           (source.revents & (POLLOUT | POLLHUP | POLLERR) ? ZOOKEEPER_WRITE : 0);
}

static int descriptor(void *self) {
    return ((const struct driver *)self)->connection->poll;
}

static int sources(void *self, struct pollfd *found) {
    const struct connection *connection = ((const struct driver *)self)->connection;

    found[0].fd = connection->socket;
    found[0].events = connection->events;
    return connection->socket >= 0;
}

static bool listens(void *self) {
    const struct driver *driver = self;

    return driver->handle != NULL && !driver->over;
}

static uint64_t until(void *self) {
    const struct driver *driver = self;
    uint64_t next = driver->again < driver->connection->until ? driver->again : driver->connection->until;

    return next < driver->connection->answer_by ? next : driver->connection->answer_by;
}

/* The library waits for two thirds of the session timeout for a server that accepts a connection and does not answer.
 * After the shutdown it notices the end at once, and tries the next server. */
static void bound_handshake(struct driver *driver) {
    struct connection *connection = driver->connection;

    if (connection->answer_by > fencepost_now())
        return;
    connection->answer_by = FENCEPOST_NEVER;
    connection->failures++;
    driver->unanswered = true;
    shutdown(connection->socket, SHUT_RDWR);
}

/* The library itself reports the end. */
static void reconnect(struct driver *driver) {
    if (!driver->connected || driver->connection->socket < 0)
        return;
    shutdown(driver->connection->socket, SHUT_RDWR);
    read_all(driver, ZOOKEEPER_READ);
}

/* The library writes a request in two parts, and turns off Nagle's algorithm. Without the cork, the server would wake
 * for four bytes, and again for the rest. */
static void cork(struct connection *connection, int on) {
    bool done = setsockopt(connection->socket, IPPROTO_TCP, TCP_CORK, &on, sizeof on) == 0;

    connection->corked = on && done;
}

/* Before the first of several requests. A request that is written to a connection that has ended is in doubt. If the
 * driver looks first, it knows that the request was not sent. */
static void begin(struct driver *driver) {
    struct connection *connection = driver->connection;
    struct pollfd source = {connection->socket, POLLRDHUP, 0};

    if (connection->socket >= 0 && poll(&source, 1, 0) > 0)
        read_all(driver, ZOOKEEPER_READ);
    if (connection->socket >= 0)
        cork(connection, 1);
}

static void command(void *self, fencepost_hub *hub, uint64_t key, const fencepost_command *command) {
    struct driver *driver = self;
    struct connection *connection = driver->connection;

    connection->hub = hub;
    if (!connection->corked)
        begin(driver);
    if (command->operation == FENCEPOST_OPERATION_RECONNECT)
        reconnect(driver);
    else
        request_send(driver, hub, key, command);
    /* The library closes a connection that accepts no more bytes, and does not report it. */
    if (driver->connected && zoo_state(driver->handle) != ZOO_CONNECTED_STATE) {
        connection_forget_socket(connection);
        session_news(driver, hub, driver->handle, ZOO_CONNECTING_STATE);
    }
    connection->hub = NULL;
}

static void flush(void *self, fencepost_hub *hub) {
    struct driver *driver = self;
    struct connection *connection = driver->connection;

    if (connection->corked)
        cork(connection, 0);
    connection->hub = hub;
    ask(driver);
    connection->hub = NULL;
    /* The rest is sent when the socket is writable. The thread that drives the client has to know this. */
    if (connection->events & POLLOUT)
        connection->until = 0;
}

static void process(void *self, fencepost_hub *hub) {
    struct driver *driver = self;
    struct connection *connection = driver->connection;
    int events = ready(connection);

    connection->hub = hub;
    if (driver->again <= fencepost_now()) {
        connection_forget_socket(connection);
        session_open(driver, hub);
    } else if (events != 0) {
        read_all(driver, events);
    }
    bound_handshake(driver);
    ask(driver);
    connection->hub = NULL;
}

static void end(void *self, bool silent) {
    struct driver *driver = self;

    /* Otherwise the library would wait for a silent server's answer to the end of the session. */
    if (silent && driver->connection->socket >= 0)
        shutdown(driver->connection->socket, SHUT_RDWR);
    connection_forget_socket(driver->connection);
    if (driver->handle != NULL)
        zookeeper_close(driver->handle);
    while (driver->records != NULL)
        record_close(driver->records);
}

const fencepost_driver driving = {
    .descriptor = descriptor,
    .sources = sources,
    .listens = listens,
    .command = command,
    .forget = watches_forget,
    .flush = flush,
    .process = process,
    .until = until,
    .absent = driver_absent,
    .busy = driver_busy,
    .close = end,
    .free = driver_free,
};
