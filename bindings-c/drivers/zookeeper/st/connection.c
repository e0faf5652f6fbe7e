/* The library's socket, in an epoll. */
#define _GNU_SOURCE
#include "connection.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

/* The library formats its log in static buffers. Two clients in two threads would share these buffers. */
static void turn_log_off(void) {
    zoo_set_debug_level((ZooLogLevel)0);
}

bool connection_prepare(struct driver *driver) {
    static pthread_once_t quiet = PTHREAD_ONCE_INIT;
    struct connection *connection = calloc(1, sizeof *connection);

    pthread_once(&quiet, turn_log_off);
    if (connection == NULL || (connection->poll = epoll_create1(EPOLL_CLOEXEC)) < 0) {
        free(connection);
        driver_fault(
            FENCEPOST_RESULT_SYSTEM_ERROR,
            "the operating system returned no memory, or no descriptor for epoll: raise the limit of open files");
        return false;
    }
    connection->socket = connection->copy = -1;
    connection->answer_by = FENCEPOST_NEVER;
    driver->connection = connection;
    return true;
}

void connection_forget_socket(struct connection *connection) {
    if (connection->copy >= 0) {
        epoll_ctl(connection->poll, EPOLL_CTL_DEL, connection->copy, NULL);
        close(connection->copy);
    }
    connection->socket = connection->copy = -1;
    connection->events = 0;
    connection->corked = false;
    connection->until = 0;
    connection->answer_by = FENCEPOST_NEVER;
}

void connection_forget(struct driver *driver) {
    if (driver->connection == NULL)
        return;
    connection_forget_socket(driver->connection);
    close(driver->connection->poll);
    free(driver->connection);
}

void connection_changed(struct driver *driver) {
    struct connection *connection = driver->connection;

    if (!driver->connected)
        return;
    connection->answer_by = FENCEPOST_NEVER;
    connection->failures = 0;
}

void connection_watch(struct connection *connection, int socket, short events) {
    struct epoll_event wanted = {0, {0}};

    if (socket != connection->socket)
        connection_forget_socket(connection);
    if (socket < 0 || (connection->copy >= 0 && events == connection->events))
        return;
    wanted.events = (events & POLLIN ? EPOLLIN : 0u) | (events & POLLOUT ? EPOLLOUT : 0u);
    if (connection->copy >= 0) {
        epoll_ctl(connection->poll, EPOLL_CTL_MOD, connection->copy, &wanted);
    } else {
        fcntl(socket, F_SETFD, FD_CLOEXEC); /* the library would let child programs inherit it */
        connection->copy = fcntl(socket, F_DUPFD_CLOEXEC, 0);
        epoll_ctl(connection->poll, EPOLL_CTL_ADD, connection->copy, &wanted);
    }
    connection->socket = socket;
    connection->events = events;
}

void connection_unwatch(zhandle_t *handle, const char *path, ZooWatcherType type, watcher_fn watcher, void *context) {
    zoo_aremove_watches(handle, path, type, watcher, context, 1, NULL, NULL);
}
