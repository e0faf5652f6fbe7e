/* The adapter for contexts that only the driver reads and writes. It replaces the adapter of an event library. */
#include <sys/epoll.h>

#include "internal.h"

static void ignore(void *data) {
    (void)data; /* the driver always reads everything */
}

/* On a connection of the program, the driver checks hiredis's buffer instead: see `link_work`. */
static void add_write(void *data) {
    struct link *link = data;

    if (link->ours)
        link->write_wanted = true;
}

static void del_write(void *data) {
    struct link *link = data;

    if (link->ours)
        link->write_wanted = false;
}

/* hiredis calls this last, when it frees the context and has called all callbacks. */
static void cleanup(void *data) {
    struct link *link = data;
    const char *why = link->context->c.err != 0 ? link->context->c.errstr : "the connection was dropped";
    bool entered, inside = driver_enter(link->driver, &entered);

    if (link->context->c.err != 0)
        link_note_absence(link, why);
    epoll_ctl(link->driver->poll, EPOLL_CTL_DEL, secure_descriptor(link), NULL);
    secure_end(link);
    taken_remove(link);
    link->context = NULL;
    link_ended(link, why);
    if (inside)
        driver_leave(link->driver, entered);
}

void hooks_attach(struct link *link) {
    redisAsyncContext *context = link->context;

    context->ev.data = link;
    context->ev.addRead = ignore;
    context->ev.delRead = ignore;
    context->ev.addWrite = add_write;
    context->ev.delWrite = del_write;
    context->ev.cleanup = cleanup;
    link->polled = 0;
}

void hooks_detach(struct link *link) {
    redisAsyncContext *context = link->context;

    epoll_ctl(link->driver->poll, EPOLL_CTL_DEL, context->c.fd, NULL);
    context->ev.data = NULL;
    context->ev.addRead = context->ev.delRead = context->ev.addWrite = context->ev.delWrite = NULL;
    context->ev.cleanup = NULL;
}

/* Sets the events that epoll reports. */
void hooks_poll(struct link *link) {
    struct epoll_event watched = {0, {0}};
    uint32_t wanted = EPOLLIN;

    if (link->context == NULL || !link->driven)
        return;
    if (link->phase == CONNECTING)
        wanted = EPOLLOUT;
    else if (link->write_wanted || link->unwritten)
        wanted |= EPOLLOUT;
    if (wanted == link->polled)
        return;
    watched.events = wanted;
    watched.data.ptr = link;
    epoll_ctl(link->driver->poll, link->polled == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, secure_descriptor(link), &watched);
    link->polled = wanted;
}
