/* Copies the sockets of the library's threads, so that the driver can end their connections. */
#define _GNU_SOURCE
#include "connection.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

/* A function of the library that its header does not declare for programs with threads. */
int zookeeper_interest(zhandle_t *handle, int *socket, int *interest, struct timeval *left);

bool connection_prepare(struct driver *driver) {
    if (driver->hosts == NULL)
        return true;
    if ((driver->connection = calloc(1, sizeof *driver->connection)) == NULL) {
        driver_fault(FENCEPOST_RESULT_OUT_OF_MEMORY, "out of memory");
        return false;
    }
    driver->connection->copy = -1;
    driver->connection->answer_by = FENCEPOST_NEVER;
    return true;
}

void connection_forget_copy(struct connection *connection) {
    if (connection->copy >= 0)
        close(connection->copy);
    connection->copy = -1;
}

void connection_forget(struct driver *driver) {
    if (driver->connection == NULL)
        return;
    connection_forget_copy(driver->connection);
    free(driver->connection);
}

/* The library's socket; -1 if it has none. This call also runs the library's timers, so the driver makes it only if
 * none of them is due. If the connection ends just before the call, this thread begins the next attempt to connect,
 * instead of the library's own thread. No other function of the library returns its socket. */
static int socket_of(zhandle_t *handle) {
    int socket = -1, interest = 0;
    struct timeval left;

    return zookeeper_interest(handle, &socket, &interest, &left) == ZOK ? socket : -1;
}

/* A copy of that socket. It stays open when the library's thread closes the socket. If the library has the same socket
 * after the copy was made, the number did not belong to another file in between. */
int connection_copy(zhandle_t *handle) {
    int socket = socket_of(handle), copy = socket < 0 ? -1 : fcntl(socket, F_DUPFD_CLOEXEC, 0);

    if (copy >= 0 && socket_of(handle) != socket) {
        close(copy);
        return -1;
    }
    if (copy >= 0)
        fcntl(socket, F_SETFD, FD_CLOEXEC); /* the library would let child programs inherit it */
    return copy;
}

uint64_t silence_limit(const struct driver *driver) {
    return fencepost_handshake_timeout((uint64_t)driver->timeout * 1000u, driver->connection->failures);
}

void connection_changed(struct driver *driver) {
    struct connection *connection = driver->connection;

    connection_forget_copy(connection);
    if (!driver->connected) {
        connection->answer_by = driver->over ? FENCEPOST_NEVER : fencepost_now() + silence_limit(driver);
        return;
    }
    connection->answer_by = FENCEPOST_NEVER;
    connection->failures = 0;
    if (zoo_state(driver->handle) != ZOO_CONNECTED_STATE)
        return; /* the connection has ended already; the library is about to report it */
    connection->copy = connection_copy(driver->handle);
    server_current(driver->handle, connection->server);
}

/* The asynchronous function needs a completion. The synchronous function does not wait here, because with `local` it
 * sends nothing. */
void connection_unwatch(zhandle_t *handle, const char *path, ZooWatcherType type, watcher_fn watcher, void *context) {
    zoo_remove_watches(handle, path, type, watcher, context, 1);
}
