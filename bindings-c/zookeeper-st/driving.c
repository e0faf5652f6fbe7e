/* libzookeeper_st: a library without threads. Whoever waits for an answer sends the request and reads the answer
 * himself, without any change of threads; while nobody waits, the client's own thread listens. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <unistd.h>

#include "../zookeeper/internal.h"

#define PAUSE 10000u /* microseconds */

/* The library's socket: another one with each connection, often under the same number. */
struct socket {
    int poll; /* epoll: has the socket in it, and never changes */
    int descriptor;
    short events;       /* what the library waits for */
    bool corked;        /* what is written is kept for a moment */
    bool watched;       /* `poll` has this very socket, for these events */
    uint64_t until;     /* when the library wants to be called: for a ping, or to give a server up */
    fencepost_hub *hub; /* while we are in the library, with the client's lock: its callbacks come then only */
};

bool driving_prepare(struct driver *driver) {
    struct socket *socket = calloc(1, sizeof *socket);

    if (socket == NULL || (socket->poll = epoll_create1(EPOLL_CLOEXEC)) < 0) {
        free(socket);
        driver_fault(FENCEPOST_RESULT_SYSTEM_ERROR, "the operating system gives no descriptor for epoll");
        return false;
    }
    socket->descriptor = -1;
    driver->socket = socket;
    return true;
}

void driving_forget(struct driver *driver) {
    if (driver->socket != NULL)
        close(driver->socket->poll);
    free(driver->socket);
}

/* What a callback concerns; NULL: nobody any more, or the client has been closed. */
struct record *record_enter(const void *context, fencepost_hub **hub) {
    struct record *record = record_find(context, NULL);

    if (record == NULL || record->driver->socket->hub == NULL)
        return NULL;
    *hub = record->driver->socket->hub;
    return record;
}

void record_leave(fencepost_client *client) {
    (void)client; /* who has called the library has the lock, and does what the hub says */
}

/* Keeps `poll` in step with the library's socket. */
static void watch(struct socket *socket) {
    struct epoll_event events = {0, {0}};

    if (socket->watched || socket->descriptor < 0)
        return;
    events.events = (socket->events & POLLIN ? EPOLLIN : 0u) | (socket->events & POLLOUT ? EPOLLOUT : 0u);
    socket->watched = epoll_ctl(socket->poll, EPOLL_CTL_MOD, socket->descriptor, &events) == 0 ||
                      epoll_ctl(socket->poll, EPOLL_CTL_ADD, socket->descriptor, &events) == 0;
}

/* Asks the library what it waits for. It connects, pings and gives servers up when it is asked. */
static void ask(struct driver *driver) {
    int descriptor = -1, interest = 0, rc = ZOK;
    struct socket *socket = driver->socket;
    struct timeval left = {0, 0};
    short events;

    socket->until = FENCEPOST_NEVER;
    if (driver->handle != NULL && !driver->over) {
        rc = zookeeper_interest(driver->handle, &descriptor, &interest, &left);
        /* After an error it would be called at once, also where a name cannot be resolved. */
        socket->until =
            fencepost_now() + (rc == ZOK ? (uint64_t)left.tv_sec * 1000000u + (uint64_t)left.tv_usec : PAUSE);
    }
    events = (short)((interest & ZOOKEEPER_READ ? POLLIN : 0) | (interest & ZOOKEEPER_WRITE ? POLLOUT : 0));
    if (rc != ZOK || descriptor != socket->descriptor || events != socket->events)
        socket->watched = false;
    socket->descriptor = rc == ZOK ? descriptor : -1;
    socket->events = events;
    watch(socket);
}

/* What the library waits for, and is there. What is to be read it finds out by itself; it must not write too early. */
static int ready(const struct socket *socket) {
    struct pollfd source = {socket->descriptor, socket->events, 0};

    if (socket->descriptor < 0)
        return 0;
    if (socket->events == POLLIN)
        return ZOOKEEPER_READ;
    if (poll(&source, 1, 0) <= 0)
        return 0;
    return (source.revents & (POLLIN | POLLHUP | POLLERR) ? ZOOKEEPER_READ : 0) |
           (source.revents & (POLLOUT | POLLHUP | POLLERR) ? ZOOKEEPER_WRITE : 0);
}

static int descriptor(void *self) {
    return ((const struct driver *)self)->socket->poll;
}

static int sources(void *self, struct pollfd *sources) {
    const struct socket *socket = ((const struct driver *)self)->socket;

    sources[0].fd = socket->descriptor;
    sources[0].events = socket->events;
    return socket->descriptor >= 0;
}

static bool listens(void *self) {
    const struct driver *driver = self;

    return driver->handle != NULL && !driver->over;
}

static uint64_t until(void *self) {
    const struct driver *driver = self;

    return driver->again < driver->socket->until ? driver->again : driver->socket->until;
}

/* The library writes a request in two pieces, and does not let the system put them together: its server would wake for
 * four bytes, and again for the rest. */
static void cork(struct socket *socket, int on) {
    bool done = setsockopt(socket->descriptor, IPPROTO_TCP, TCP_CORK, &on, sizeof on) == 0;

    socket->corked = on && done;
}

static void command(void *self, fencepost_hub *hub, const fencepost_command *command) {
    struct driver *driver = self;
    struct socket *socket = driver->socket;

    if (!socket->corked)
        cork(socket, 1);
    socket->hub = hub;
    request_send(driver, hub, command);
    socket->hub = NULL;
}

static void flush(void *self, fencepost_hub *hub) {
    struct driver *driver = self;
    struct socket *socket = driver->socket;

    if (socket->corked)
        cork(socket, 0);
    socket->hub = hub;
    ask(driver);
    socket->hub = NULL;
    /* The rest of it is sent when the socket takes it: whoever drives has to know. */
    if (socket->events & POLLOUT)
        socket->until = 0;
}

static void process(void *self, fencepost_hub *hub) {
    struct driver *driver = self;
    struct socket *socket = driver->socket;
    int events = ready(socket);

    socket->hub = hub;
    if (driver->again <= fencepost_now())
        session_open(driver, hub);
    else if (events != 0 && zookeeper_process(driver->handle, events) != ZOK)
        socket->watched = false;
    ask(driver);
    socket->hub = NULL;
}

static void end(void *self) {
    struct driver *driver = self;

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
    .flush = flush,
    .process = process,
    .until = until,
    .busy = driver_busy,
    .close = end,
    .free = driver_free,
};
