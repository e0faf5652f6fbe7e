/* Sessions: the library's reports of their states, and a new session after an expiry. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define TRY_AGAIN_AFTER 1000000u

/* The library does not report to which handle a log message belongs. So each driver has its own log function, with a
 * place for the last error of its sockets. If all places are taken, the driver ignores the log. */
#define PLACES 16
static int errors[PLACES];
static bool taken[PLACES];

static void note(int *place, int error) {
    if (error != 0 && error != EAGAIN && error != EINPROGRESS)
        __atomic_store_n(place, error, __ATOMIC_RELAXED);
}

static int *place_of(struct driver *driver) {
    return driver->log == 0 ? &driver->error : &errors[driver->log - 1];
}

void session_note_error(struct driver *driver, int error) {
    note(place_of(driver), error);
}

static void read_log(int place, const char *message) {
    const char *error = strstr(message, "errno=");

    if (error != NULL)
        note(&errors[place], atoi(error + strlen("errno=")));
}

#define EACH_PLACE(DO)                                                                                                 \
    DO(0)                                                                                                              \
    DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define READ_LOG(place)                                                                                                \
    static void read_log_##place(const char *message) {                                                                \
        read_log(place, message);                                                                                      \
    }
#define READS_LOG(place) read_log_##place,
EACH_PLACE(READ_LOG)

static void ignore_log(const char *message) {
    (void)message;
}

/* Without a log function, the library writes its log to stderr. The driver uses the log only to find out why there is
 * no connection. */
static log_callback_fn log_of(struct driver *driver) {
    static const log_callback_fn functions[PLACES] = {EACH_PLACE(READS_LOG)};
    int i;

    for (i = 0; i < PLACES && driver->log == 0; i++) {
        if (__atomic_test_and_set(&taken[i], __ATOMIC_ACQUIRE))
            continue;
        __atomic_store_n(&errors[i], 0, __ATOMIC_RELAXED);
        driver->log = i + 1;
    }
    return driver->log == 0 ? ignore_log : functions[driver->log - 1];
}

/* Frees the log function of a driver without a handle. */
void session_forget(struct driver *driver) {
    if (driver->log != 0)
        __atomic_clear(&taken[driver->log - 1], __ATOMIC_RELEASE);
    driver->log = 0;
}

/* The reason why there is no connection. The library reports EHOSTDOWN for a connection that has ended. */
static const char *reason(struct driver *driver) {
    int error = __atomic_load_n(place_of(driver), __ATOMIC_RELAXED);

    if (error == EHOSTDOWN || error == ECONNRESET || error == EPIPE)
        return driver->unanswered ? "no answer" : "the server ends the connection";
    return error == 0 ? "no answer" : strerror(error);
}

const char *driver_absent(void *self) {
    struct driver *driver = self;

    if (driver->reached || driver->hosts == NULL)
        return NULL;
    snprintf(driver->absence, sizeof driver->absence, "%.180s (%s)", driver->hosts, reason(driver));
    return driver->absence;
}

static void session_watcher(zhandle_t *handle, int type, int state, const char *path, void *context);

/* Makes a handle. The library connects, and calls the handle's watcher. The caller holds the client's mutex. */
bool session_open(struct driver *driver, fencepost_hub *hub) {
    struct record *current = record_open(driver, SESSION, 0);
    sigset_t all, before;
    int failed;

    driver->handle = NULL;
    if (current == NULL)
        return false;
    driver->current = current;
    fencepost_hub_session(hub, fencepost_now(), FENCEPOST_SESSION_STATE_CONNECTING, 0, 0);
    /* The library's threads receive no signals of the program. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    fencepost_lookup_begin();
    driver->handle = zookeeper_init2(
        driver->places, session_watcher, driver->timeout, NULL, record_context(current), ZOO_NO_LOG_CLIENTENV,
        log_of(driver));
    failed = errno;
    fencepost_lookup_end();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failed;
    if (driver->handle == NULL) {
        record_close(current);
        driver->current = NULL;
        driver->again = fencepost_now() + TRY_AGAIN_AFTER;
        return false;
    }
    /* By default the library resolves the hosts' names each time it waits for its socket, several times for each
     * request. With this setting, it resolves them only when a connection is lost. */
    zoo_set_servers_resolution_delay(driver->handle, -1);
    driver->again = FENCEPOST_NEVER;
    connection_changed(driver);
    return true;
}

static void report_state(const struct driver *driver, fencepost_hub *hub, fencepost_session_state state) {
    uint64_t timeout = driver->handle == NULL ? 0 : (uint64_t)zoo_recv_timeout(driver->handle) * 1000u;

    fencepost_hub_session(hub, fencepost_now(), state, driver->session, timeout);
}

/* Reports that the connection is lost, temporarily or for good. */
static void disconnected(struct driver *driver, fencepost_hub *hub, fencepost_session_state state) {
    driver->connected = false;
    report_state(driver, hub, state);
    requests_settle(driver, hub);
    if (driver->hosts != NULL)
        connection_changed(driver);
}

/* Handles the end of the session by the server: the handle can no longer be used. */
static void expired(struct driver *driver, fencepost_hub *hub) {
    zhandle_t *dead = driver->handle;

    disconnected(driver, hub, FENCEPOST_SESSION_STATE_EXPIRED);
    if (driver->hosts == NULL) {
        driver->over = true; /* the program has to make a new handle */
        report_state(driver, hub, FENCEPOST_SESSION_STATE_CLOSED);
        return;
    }
    record_close(driver->current);
    driver->current = NULL;
    /* The library is in a callback of this handle, and delays the close until that callback returns. */
    zookeeper_close(dead);
    session_open(driver, hub);
}

/* Reports the state of the session. The caller holds the client's mutex. */
void session_news(struct driver *driver, fencepost_hub *hub, zhandle_t *handle, int state) {
    if (state == ZOO_CONNECTED_STATE) {
        driver->session = zoo_client_id(handle)->client_id;
        driver->connected = driver->reached = true;
        report_state(driver, hub, FENCEPOST_SESSION_STATE_CONNECTED);
        if (driver->hosts != NULL)
            connection_changed(driver);
    } else if (state == ZOO_EXPIRED_SESSION_STATE) {
        expired(driver, hub);
    } else if (state == ZOO_AUTH_FAILED_STATE) {
        driver->over = true;
        disconnected(driver, hub, FENCEPOST_SESSION_STATE_AUTH_FAILED);
    } else if (driver->connected) {
        /* The library is connecting, or is connected to a server that cannot write. */
        disconnected(driver, hub, FENCEPOST_SESSION_STATE_SUSPENDED);
    }
}

/* The watcher of a handle that the driver made. */
static void session_watcher(zhandle_t *handle, int type, int state, const char *path, void *context) {
    fencepost_client *client;
    fencepost_hub *hub;
    struct record *record;

    (void)path;
    if (type != ZOO_SESSION_EVENT || (record = record_enter(context, &hub)) == NULL)
        return;
    client = record->driver->client;
    session_news(record->driver, hub, handle, state);
    record_leave(client);
}
