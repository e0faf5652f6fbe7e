/* libzookeeper_mt. Its completion thread enters the client, so an answer reaches the waiting thread after one thread
 * switch. The library keeps the session alive while the program works. */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"
#include "handles.h"

/* The library's thread notices the end, connects to the next server, and reports that. Until then, the driver ignores
 * what the old connection reports. */
static void reconnect(struct driver *driver, fencepost_hub *hub) {
    struct connection *connection = driver->connection;

    if (connection == NULL || !driver->connected || connection->copy < 0)
        return;
    server_pass_early(driver->handle, connection->server);
    shutdown(connection->copy, SHUT_RDWR);
    session_news(driver, hub, driver->handle, ZOO_CONNECTING_STATE);
}

/* Ends the present attempt to connect, so that the library tries the next server. */
static void end_attempt(struct driver *driver) {
    zhandle_t *handle = driver->handle;
    char server[SERVER_SIZE];
    int copy = connection_copy(handle);

    if (copy < 0)
        return;
    driver->unanswered = true;
    server_current(handle, server);
    server_pass_early(handle, server);
    shutdown(copy, SHUT_RDWR);
    close(copy);
}

/* Limits the time of a handshake. By itself, the library waits for two thirds of the session timeout for a server that
 * accepts a connection and does not reply. At about that time, the library's thread may end the attempt itself, so the
 * driver does nothing then. */
static void bound_handshake(struct driver *driver) {
    struct connection *connection = driver->connection;
    uint64_t now = fencepost_now(), session = (uint64_t)driver->timeout * 1000u;
    int state;

    if (connection == NULL || driver->handle == NULL || now < connection->answer_by)
        return;
    state = zoo_state(driver->handle);
    if ((state == ZOO_CONNECTING_STATE || state == ZOO_ASSOCIATING_STATE) && silence_limit(driver) <= session / 2 &&
        now - connection->answer_by < session / 12)
        end_attempt(driver);
    else
        zoo_cycle_next_server(
            driver->handle); /* otherwise, with an even number of servers, it would only try every second server */
    connection->failures++;
    connection->answer_by = now + silence_limit(driver);
}

static void command(void *self, fencepost_hub *hub, uint64_t key, const fencepost_command *command) {
    if (command->operation == FENCEPOST_OPERATION_RECONNECT)
        reconnect(self, hub);
    else
        request_send(self, hub, key, command);
}

static int descriptor(void *self) {
    (void)self;
    return FENCEPOST_SELF_DRIVEN;
}

static uint64_t until(void *self) {
    const struct driver *driver = self;

    return driver->connection != NULL && driver->connection->answer_by < driver->again ? driver->connection->answer_by
                                                                                       : driver->again;
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
        handle_give_back(driver);
    else if (driver->handle != NULL) {
        /* Otherwise the library would wait until a silent server replies to the end of the session. */
        if (silent && driver->connection->copy >= 0)
            shutdown(driver->connection->copy, SHUT_RDWR);
        connection_forget_copy(driver->connection);
        zookeeper_close(driver->handle);
        writes_abandon(driver, driver->handle);
    }
    while (driver->records != NULL)
        record_close(driver->records);
}

/* How long the library waits for the server's reply to the end of a session. */
#define CLOSE_TIME 1500000u

const fencepost_driver driving = {
    .descriptor = descriptor,
    .command = command,
    .forget = watches_forget,
    .process = process,
    .until = until,
    .absent = driver_absent,
    .busy = driver_busy,
    .close_time = CLOSE_TIME,
    .close = end,
    .free = driver_free,
};
