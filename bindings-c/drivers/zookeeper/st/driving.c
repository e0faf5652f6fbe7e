/* libzookeeper_st: a library without threads. Whoever waits for an answer sends the request and reads the answer
 * himself, without any change of threads; while nobody waits, the client's own thread listens. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "../internal.h"

/* How long to leave the library alone after an error, in microseconds. */
#define PAUSE 10000u

/* The connection: another socket each time, often under the same number. */
struct wire {
    int poll;   /* epoll: never changes */
    int socket; /* the library's; -1: there is none */
    int copy;   /* of the socket, in `poll`: a forked child may keep the original open, and it could not be taken out */
    short events;             /* what the library waits for */
    bool corked;              /* what is written is kept for a moment */
    uint64_t until;           /* when the library wants to be called: for a ping, or to give a server up */
    uint64_t answer_by;       /* while it connects: when the server has to have answered */
    unsigned failures;        /* how many servers have not, one after the other */
    char server[SERVER_SIZE]; /* the last one that was tried */
    fencepost_hub *hub;       /* while we are in the library, with the client's lock: its callbacks come then only */
};

/* The library formats each line of its log in static buffers, which two clients in two threads would share. */
static void turn_log_off(void) {
    zoo_set_debug_level((ZooLogLevel)0);
}

bool driving_prepare(struct driver *driver) {
    static pthread_once_t quiet = PTHREAD_ONCE_INIT;
    struct wire *wire = calloc(1, sizeof *wire);

    pthread_once(&quiet, turn_log_off);
    if (wire == NULL || (wire->poll = epoll_create1(EPOLL_CLOEXEC)) < 0) {
        free(wire);
        driver_fault(FENCEPOST_RESULT_SYSTEM_ERROR, "the operating system gives no memory, or no descriptor for epoll");
        return false;
    }
    wire->socket = wire->copy = -1;
    wire->answer_by = FENCEPOST_NEVER;
    driver->wire = wire;
    return true;
}

/* The socket has gone, or may have. */
static void forget_socket(struct wire *wire) {
    if (wire->copy >= 0) {
        epoll_ctl(wire->poll, EPOLL_CTL_DEL, wire->copy, NULL);
        close(wire->copy);
    }
    wire->socket = wire->copy = -1;
    wire->events = 0;
    wire->corked = false;
    wire->until = 0;
    wire->answer_by = FENCEPOST_NEVER;
}

void driving_forget(struct driver *driver) {
    if (driver->wire == NULL)
        return;
    forget_socket(driver->wire);
    close(driver->wire->poll);
    free(driver->wire);
}

/* What a callback concerns; NULL: nobody any more, or the client has been closed. */
struct record *record_enter(const void *context, fencepost_hub **hub) {
    struct record *record = record_find(context, NULL);

    if (record == NULL || record->driver->wire->hub == NULL)
        return NULL;
    *hub = record->driver->wire->hub;
    return record;
}

void record_leave(fencepost_client *client) {
    (void)client; /* who has called the library has the lock, and does what the hub says */
}

void driving_turned(struct driver *driver) {
    struct wire *wire = driver->wire;

    if (!driver->connected)
        return;
    wire->answer_by = FENCEPOST_NEVER;
    wire->failures = 0;
}

/* Keeps `poll` in step with the library's socket. */
static void watch(struct wire *wire, int socket, short events) {
    struct epoll_event wanted = {0, {0}};

    if (socket != wire->socket)
        forget_socket(wire);
    if (socket < 0 || (wire->copy >= 0 && events == wire->events))
        return;
    wanted.events = (events & POLLIN ? EPOLLIN : 0u) | (events & POLLOUT ? EPOLLOUT : 0u);
    if (wire->copy >= 0) {
        epoll_ctl(wire->poll, EPOLL_CTL_MOD, wire->copy, &wanted);
    } else {
        fcntl(socket, F_SETFD, FD_CLOEXEC); /* the library leaves it to programs that this one starts */
        wire->copy = fcntl(socket, F_DUPFD_CLOEXEC, 0);
        epoll_ctl(wire->poll, EPOLL_CTL_ADD, wire->copy, &wanted);
    }
    wire->socket = socket;
    wire->events = events;
}

/* Lets the library connect to a server, or say that it would rather wait. */
static int connect_next(struct driver *driver, int *socket, int *interest, struct timeval *left) {
    struct wire *wire = driver->wire;
    char last[SERVER_SIZE];
    int rc;

    memcpy(last, wire->server, sizeof last);
    if (!driver->connected) {
        /* If this attempt succeeds, the session's time is counted from here on. */
        fencepost_hub_session(wire->hub, fencepost_now(), FENCEPOST_SESSION_STATE_CONNECTING, driver->session, 0);
        server_pass(driver->handle, wire->server);
    }
    fencepost_lookup_begin();
    errno = 0;
    rc = zookeeper_interest(driver->handle, socket, interest, left);
    if (rc != ZOK)
        session_note_error(errno);
    fencepost_lookup_end();
    if (rc == ZOK && *socket < 0)
        memcpy(wire->server, last, sizeof last);
    else if (wire->server[0] == '\0')
        server_current(driver->handle, wire->server);
    return rc;
}

/* Asks the library what it waits for. It connects, pings and gives servers up when it is asked. */
static void ask(struct driver *driver) {
    struct wire *wire = driver->wire;
    int socket = -1, interest = 0, rc;
    bool connects = wire->socket < 0;
    struct timeval left = {0, 0};
    uint64_t now = fencepost_now();

    if (driver->handle == NULL || driver->over) {
        forget_socket(wire);
        wire->until = FENCEPOST_NEVER;
        return;
    }
    /* It would connect at once, and look the servers up, also where it has just said that it would rather wait. */
    if (connects && now < wire->until)
        return;
    rc = connects ? connect_next(driver, &socket, &interest, &left)
                  : zookeeper_interest(driver->handle, &socket, &interest, &left);
    if (rc == ZOK) {
        watch(
            wire, socket,
            (short)((interest & ZOOKEEPER_READ ? POLLIN : 0) | (interest & ZOOKEEPER_WRITE ? POLLOUT : 0)));
        wire->until = now + (uint64_t)left.tv_sec * 1000000u + (uint64_t)left.tv_usec;
        if (connects && wire->socket >= 0)
            wire->answer_by = now + fencepost_handshake_timeout((uint64_t)driver->timeout * 1000u, wire->failures);
        return;
    }
    if (zoo_state(driver->handle) != ZOO_CONNECTED_STATE)
        forget_socket(wire);
    wire->until = now + PAUSE;
}

void driving_unwatch(zhandle_t *handle, const char *path, ZooWatcherType type, void *context) {
    zoo_aremove_watches(handle, path, type, watch_fired, context, 1, NULL, NULL);
}

/* Takes in all that has arrived. */
static void read_all(struct driver *driver, int events) {
    int rc;

    do {
        errno = 0;
        rc = zookeeper_process(driver->handle, events);
        events = ZOOKEEPER_READ;
    } while (rc == ZOK);
    if (rc != ZNOTHING) {
        session_note_error(errno);
        forget_socket(driver->wire);
    }
}

/* What the library waits for, and is there. What is to be read it finds out by itself; it must not write too early. */
static int ready(const struct wire *wire) {
    struct pollfd source = {wire->socket, wire->events, 0};

    if (wire->socket < 0)
        return 0;
    if (wire->events == POLLIN)
        return ZOOKEEPER_READ;
    if (poll(&source, 1, 0) <= 0)
        return 0;
    return (source.revents & (POLLIN | POLLHUP | POLLERR) ? ZOOKEEPER_READ : 0) |
           (source.revents & (POLLOUT | POLLHUP | POLLERR) ? ZOOKEEPER_WRITE : 0);
}

static int descriptor(void *self) {
    return ((const struct driver *)self)->wire->poll;
}

static int sources(void *self, struct pollfd *found) {
    const struct wire *wire = ((const struct driver *)self)->wire;

    found[0].fd = wire->socket;
    found[0].events = wire->events;
    return wire->socket >= 0;
}

static bool listens(void *self) {
    const struct driver *driver = self;

    return driver->handle != NULL && !driver->over;
}

static uint64_t until(void *self) {
    const struct driver *driver = self;
    uint64_t next = driver->again < driver->wire->until ? driver->again : driver->wire->until;

    return next < driver->wire->answer_by ? next : driver->wire->answer_by;
}

/* The library waits two thirds of the session for a server that has accepted a connection and does not answer; it finds
 * out at once that the connection has ended, and tries the next server. */
static void bound_handshake(struct driver *driver) {
    struct wire *wire = driver->wire;

    if (wire->answer_by > fencepost_now())
        return;
    wire->answer_by = FENCEPOST_NEVER;
    wire->failures++;
    driver->unanswered = true;
    shutdown(wire->socket, SHUT_RDWR);
}

void driving_reconnect(struct driver *driver, fencepost_hub *hub) {
    (void)hub; /* the library tells of the end */
    if (driver->wire->socket < 0)
        return;
    shutdown(driver->wire->socket, SHUT_RDWR);
    read_all(driver, ZOOKEEPER_READ);
}

/* The library writes a request in two pieces, and does not let the system put them together: its server would wake for
 * four bytes, and again for the rest. */
static void cork(struct wire *wire, int on) {
    bool done = setsockopt(wire->socket, IPPROTO_TCP, TCP_CORK, &on, sizeof on) == 0;

    wire->corked = on && done;
}

/* Before the first of several requests. One that is written to a connection that has ended is lost: who looks first
 * knows that it was not sent. */
static void begin(struct driver *driver) {
    struct wire *wire = driver->wire;
    struct pollfd source = {wire->socket, POLLRDHUP, 0};

    if (wire->socket >= 0 && poll(&source, 1, 0) > 0)
        read_all(driver, ZOOKEEPER_READ);
    if (wire->socket >= 0)
        cork(wire, 1);
}

static void command(void *self, fencepost_hub *hub, uint64_t key, const fencepost_command *command) {
    struct driver *driver = self;
    struct wire *wire = driver->wire;

    wire->hub = hub;
    if (!wire->corked)
        begin(driver);
    request_send(driver, hub, key, command);
    /* The library closes a connection that takes nothing any more, and tells nobody. */
    if (driver->connected && zoo_state(driver->handle) != ZOO_CONNECTED_STATE) {
        forget_socket(wire);
        session_news(driver, hub, driver->handle, ZOO_CONNECTING_STATE);
    }
    wire->hub = NULL;
}

static void flush(void *self, fencepost_hub *hub) {
    struct driver *driver = self;
    struct wire *wire = driver->wire;

    if (wire->corked)
        cork(wire, 0);
    wire->hub = hub;
    ask(driver);
    wire->hub = NULL;
    /* The rest of it is sent when the socket takes it: whoever drives has to know. */
    if (wire->events & POLLOUT)
        wire->until = 0;
}

static void process(void *self, fencepost_hub *hub) {
    struct driver *driver = self;
    struct wire *wire = driver->wire;
    int events = ready(wire);

    wire->hub = hub;
    if (driver->again <= fencepost_now()) {
        forget_socket(wire);
        session_open(driver, hub);
    } else if (events != 0) {
        read_all(driver, events);
    }
    bound_handshake(driver);
    ask(driver);
    wire->hub = NULL;
}

static void end(void *self, bool silent) {
    struct driver *driver = self;

    /* The library would wait for a silent server to take its farewell. */
    if (silent && driver->wire->socket >= 0)
        shutdown(driver->wire->socket, SHUT_RDWR);
    forget_socket(driver->wire);
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
