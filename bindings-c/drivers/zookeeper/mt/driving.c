/* libzookeeper_mt: its completion thread enters the client, so an answer reaches who waits with one change of threads,
 * and the library keeps the session alive while the program works. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "../internal.h"

/* The connection of a handle of our own. The library's thread makes it, and has it to itself. */
struct wire {
    int copy;                 /* of the library's socket, while it is connected; -1: there is none */
    char server[SERVER_SIZE]; /* to which */
    uint64_t answer_by;       /* while it is not: when a server has to have answered */
    unsigned failures;        /* how many have not, one after the other */
};

/* Of the library, which does not show it to programs with threads. */
int zookeeper_interest(zhandle_t *handle, int *socket, int *interest, struct timeval *left);

bool driving_prepare(struct driver *driver) {
    if (driver->hosts == NULL)
        return true;
    if ((driver->wire = calloc(1, sizeof *driver->wire)) == NULL) {
        driver_fault(FENCEPOST_RESULT_OUT_OF_MEMORY, "out of memory");
        return false;
    }
    driver->wire->copy = -1;
    driver->wire->answer_by = FENCEPOST_NEVER;
    return true;
}

static void forget_copy(struct wire *wire) {
    if (wire->copy >= 0)
        close(wire->copy);
    wire->copy = -1;
}

void driving_forget(struct driver *driver) {
    if (driver->wire == NULL)
        return;
    forget_copy(driver->wire);
    free(driver->wire);
}

/* Takes the lock of the client that a callback concerns; NULL, without it, if it concerns nobody any more. */
struct record *record_enter(const void *context, fencepost_hub **hub) {
    fencepost_client *client;
    struct record *record = record_find(context, &client);

    if (record == NULL)
        return NULL;
    *hub = fencepost_client_enter(client);
    if (*hub == NULL) {
        fencepost_client_unref(client);
        return NULL;
    }
    /* It may have gone while this thread waited for the lock; it stays while the lock is held. */
    record = record_find(context, NULL);
    if (record == NULL)
        record_leave(client);
    return record;
}

void record_leave(fencepost_client *client) {
    fencepost_client_leave(client);
    fencepost_client_unref(client);
}

/* ---- the connection ---- */

/* The library's socket, -1: it has none. The library looks at its own timers in this call, too: it is made only where
 * none of them is due. */
static int socket_of(zhandle_t *handle) {
    int socket = -1, interest = 0;
    struct timeval left;

    return zookeeper_interest(handle, &socket, &interest, &left) == ZOK ? socket : -1;
}

/* The same, as a copy that stays open while the library's thread closes its own. If the library still has the same one
 * behind the copying, no other file has had its number meanwhile. */
static int copy_socket(zhandle_t *handle) {
    int socket = socket_of(handle), copy = socket < 0 ? -1 : fcntl(socket, F_DUPFD_CLOEXEC, 0);

    if (copy >= 0 && socket_of(handle) != socket) {
        close(copy);
        return -1;
    }
    if (copy >= 0)
        fcntl(socket, F_SETFD, FD_CLOEXEC); /* the library leaves it to programs that this one starts */
    return copy;
}

static uint64_t patience(const struct driver *driver) {
    return fencepost_handshake_timeout((uint64_t)driver->timeout * 1000u, driver->wire->failures);
}

void driving_turned(struct driver *driver) {
    struct wire *wire = driver->wire;

    forget_copy(wire);
    if (!driver->connected) {
        wire->answer_by = driver->over ? FENCEPOST_NEVER : fencepost_now() + patience(driver);
        return;
    }
    wire->answer_by = FENCEPOST_NEVER;
    wire->failures = 0;
    if (zoo_state(driver->handle) != ZOO_CONNECTED_STATE)
        return; /* it has gone already, which the library is about to say */
    wire->copy = copy_socket(driver->handle);
    server_current(driver->handle, wire->server);
}

/* The library's thread sees the end, goes to the next server, and tells us. What comes of the old connection until then
 * is no news any more. */
void driving_reconnect(struct driver *driver, fencepost_hub *hub) {
    struct wire *wire = driver->wire;

    if (wire->copy < 0)
        return;
    server_pass_early(driver->handle, wire->server);
    shutdown(wire->copy, SHUT_RDWR);
    session_news(driver, hub, driver->handle, ZOO_CONNECTING_STATE);
}

/* Ends an attempt to connect, whichever it is. */
static void end_attempt(struct driver *driver) {
    zhandle_t *handle = driver->handle;
    char server[SERVER_SIZE];
    int copy = copy_socket(handle);

    if (copy < 0)
        return;
    driver->unanswered = true;
    server_current(handle, server);
    server_pass_early(handle, server);
    shutdown(copy, SHUT_RDWR);
    close(copy);
}

/* The library waits two thirds of the session for a server that has accepted a connection and does not answer. At that
 * time, or when this thread is late, the library's own thread may do the same just now, and is left alone. */
static void bound_handshake(struct driver *driver) {
    struct wire *wire = driver->wire;
    uint64_t now = fencepost_now(), session = (uint64_t)driver->timeout * 1000u;
    int state;

    if (wire == NULL || driver->handle == NULL || now < wire->answer_by)
        return;
    state = zoo_state(driver->handle);
    if ((state == ZOO_CONNECTING_STATE || state == ZOO_ASSOCIATING_STATE) && patience(driver) <= session / 2 &&
        now - wire->answer_by < session / 12)
        end_attempt(driver);
    else
        zoo_cycle_next_server(driver->handle); /* so that it does not always try the same half of an even number */
    wire->failures++;
    wire->answer_by = now + patience(driver);
}

/* The asynchronous call needs a completion function. The synchronous one does not wait either: `local` sends nothing.
 */
void driving_unwatch(zhandle_t *handle, const char *path, ZooWatcherType type, void *context) {
    zoo_remove_watches(handle, path, type, watch_fired, context, 1);
}

static int descriptor(void *self) {
    (void)self;
    return FENCEPOST_SELF_DRIVEN;
}

static uint64_t until(void *self) {
    const struct driver *driver = self;

    return driver->wire != NULL && driver->wire->answer_by < driver->again ? driver->wire->answer_by : driver->again;
}

static void process(void *self, fencepost_hub *hub) {
    struct driver *driver = self;

    if (driver->again <= fencepost_now())
        session_open(driver, hub);
    bound_handshake(driver);
}

static void end(void *self, bool silent) {
    struct driver *driver = self;

    if (driver->hosts == NULL)
        attached_close(driver);
    else if (driver->handle != NULL) {
        /* The library would wait for a silent server to take its farewell. */
        if (silent && driver->wire->copy >= 0)
            shutdown(driver->wire->copy, SHUT_RDWR);
        forget_copy(driver->wire);
        zookeeper_close(driver->handle);
        writes_abandon(driver, driver->handle);
    }
    while (driver->records != NULL)
        record_close(driver->records);
}

/* How long the library waits for the server's answer to the end of a session. */
#define FAREWELL 1500000u

const fencepost_driver driving = {
    .descriptor = descriptor,
    .command = request_send,
    .forget = watches_forget,
    .process = process,
    .until = until,
    .absent = driver_absent,
    .busy = driver_busy,
    .farewell = FAREWELL,
    .close = end,
    .free = driver_free,
};
