/* libzookeeper_st, a library without threads. The thread that waits for a reply sends the request and reads the reply
 * itself, without a thread switch. While no thread waits, the client's background thread listens. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "connection.h"

/* How long the driver waits after an error before it calls the library again, in microseconds. */
#define PAUSE 10000u

/* Lets the library connect to a server. The library may also request a pause. */
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

/* Gets from the library the events and the time for which it waits. In this call, the library also connects, pings, and
 * ends attempts that take too long. */
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
    /* The library would connect at once, and resolve the servers' names, even if it has just requested a pause. */
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

/* Returns which of the events have come for which the library waits. It returns READ without a check, because the
 * library itself checks whether it can read. It checks WRITE, because the library must not write too early. */
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

/* Limits the time of a handshake. By itself, the library waits for two thirds of the session timeout for a server that
 * accepts a connection and does not reply. After the shutdown, the library detects the end at once, and tries the next
 * server. */
static void bound_handshake(struct driver *driver) {
    struct connection *connection = driver->connection;

    if (connection->answer_by > fencepost_now())
        return;
    connection->answer_by = FENCEPOST_NEVER;
    connection->failures++;
    driver->unanswered = true;
    shutdown(connection->socket, SHUT_RDWR);
}

/* Ends the connection. The library then reports its end. */
static void reconnect(struct driver *driver) {
    if (!driver->connected || driver->connection->socket < 0)
        return;
    shutdown(driver->connection->socket, SHUT_RDWR);
    read_all(driver, ZOOKEEPER_READ);
}

/* The library writes a request in two parts, and turns off Nagle's algorithm. Without the cork, the server would wake
 * up for the first four bytes, and again for the rest. */
static void cork(struct connection *connection, int on) {
    bool done = setsockopt(connection->socket, IPPROTO_TCP, TCP_CORK, &on, sizeof on) == 0;

    connection->corked = on && done;
}

/* Prepares for one or more requests. If the driver wrote a request to a connection that has ended, its outcome would be
 * unknown. If the driver checks first, it knows that it has not sent the request. */
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
    /* The library sends the rest when the socket is writable. This wakes the thread that drives the client. */
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

    /* Otherwise the library would wait until a silent server replies to the end of the session. */
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
