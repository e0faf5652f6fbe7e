/* Clients over hiredis. A client has two asynchronous connections, one for commands and one for subscriptions. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "internal.h"

static fencepost_result say(fencepost_result result, const char *text) {
    fencepost_set_detail((const uint8_t *)text, strlen(text));
    return result;
}

static int descriptor(void *self) {
    const struct driver *driver = self;

    return driver->poll >= 0 ? driver->poll : FENCEPOST_OWNER_DRIVEN;
}

static void command(void *self, fencepost_hub *hub, uint64_t key, const fencepost_command *command) {
    struct driver *driver = self;
    bool outermost = driver_begin(driver, hub);

    (void)key;
    switch (command->operation) {
    case FENCEPOST_OPERATION_CALL:
        link_need(&driver->commands);
        request_call(driver, command);
        break;
    case FENCEPOST_OPERATION_SUBSCRIBE:
        link_need(&driver->subscriptions);
        channel_subscribe(driver, command);
        break;
    case FENCEPOST_OPERATION_UNSUBSCRIBE:
        channel_unsubscribe(driver, command);
        break;
    default:
        fencepost_hub_failed(hub, fencepost_now(), command->id, FENCEPOST_FAILURE_NOT_SENT);
    }
    link_flush(&driver->commands);
    link_flush(&driver->subscriptions);
    driver_finish(driver, outermost);
}

static int sources(void *self, struct pollfd *sources) {
    struct driver *driver = self;

    return link_source(&driver->commands, sources) + link_source(&driver->subscriptions, sources + 1);
}

static void process(void *self, fencepost_hub *hub) {
    struct driver *driver = self;
    bool outermost;

    if (!driver->commands.ours && driver->poll >= 0) {
        driver->commands.busy = driver->subscriptions.busy = true; /* `dispatch` follows */
        return;
    }
    outermost = driver_begin(driver, hub);
    if (driver->poll < 0) {
        link_check_time(&driver->commands); /* the program's loop reads and writes */
        driver_finish(driver, outermost);
        return;
    }
    link_process(&driver->commands);
    link_process(&driver->subscriptions);
    link_check_time(&driver->commands);
    link_check_time(&driver->subscriptions);
    link_flush(&driver->commands);
    link_flush(&driver->subscriptions);
    driver_finish(driver, outermost);
}

/* Reads and writes connections of the program that no event loop drives. hiredis calls the program's callbacks on them,
 * so the thread does not hold the mutex. Commands wait until hiredis has finished. */
static void dispatch(void *self) {
    struct driver *driver = self;
    bool entered;

    if (driver->poll < 0 || driver->commands.ours)
        return;
    link_work(&driver->commands);
    link_work(&driver->subscriptions);
    if (!driver_enter(driver, &entered)) {
        driver->commands.busy = driver->subscriptions.busy = false;
        return;
    }
    driver->commands.busy = driver->subscriptions.busy = false;
    driver->commands.unwritten = link_has_rest(&driver->commands);
    driver->subscriptions.unwritten = link_has_rest(&driver->subscriptions);
    link_check_time(&driver->commands);
    requests_send(&driver->commands);
    channels_send(driver);
    link_flush(&driver->commands);
    link_flush(&driver->subscriptions);
    driver_leave(driver, entered);
}

static uint64_t until(void *self) {
    const struct driver *driver = self;
    uint64_t commands = link_until(&driver->commands), subscriptions = link_until(&driver->subscriptions);

    return commands < subscriptions ? commands : subscriptions;
}

static const char *absent(void *self) {
    struct driver *driver = self;

    if (driver->reached || !driver->commands.ours)
        return NULL;
    if (driver->absence[0] == '\0')
        link_note_absence(&driver->commands, "no answer");
    return driver->absence;
}

static size_t busy(void *self) {
    const struct driver *driver = self;

    return driver->commands.waiting.count + driver->commands.under_way.count;
}

/* Reports that the commands that wait for a connection were not sent. */
static void closing(void *self, fencepost_hub *hub) {
    struct driver *driver = self;
    bool outermost = driver_begin(driver, hub);

    requests_fail(&driver->commands, FENCEPOST_FAILURE_NOT_SENT, "the client is being closed");
    driver_finish(driver, outermost);
}

static void end(void *self, bool silent) {
    struct driver *driver = self;
    struct link *links[2] = {&driver->subscriptions, &driver->commands};
    int i;

    (void)silent; /* nothing waits here */
    for (i = 0; i < 2; i++) {
        if (links[i]->ours && links[i]->context != NULL)
            redisAsyncFree(links[i]->context);
    }
    channels_forget(driver);
    for (i = 0; i < 2; i++) {
        requests_forget(links[i]);
        if (!links[i]->ours)
            attached_close(links[i]);
        taken_remove(links[i]);
    }
}

static void release(void *self) {
    struct driver *driver = self;

    taken_remove(&driver->commands);
    taken_remove(&driver->subscriptions);
    secure_close(driver);
    if (driver->poll >= 0)
        close(driver->poll);
    free(driver->text.data);
    free(driver->unused);
    free(driver->host);
    free(driver->user);
    free(driver->password);
    free(driver);
}

static const fencepost_driver operations = {
    .descriptor = descriptor,
    .sources = sources,
    .command = command,
    .process = process,
    .dispatch = dispatch,
    .until = until,
    .absent = absent,
    .busy = busy,
    .closing = closing,
    .close = end,
    .free = release,
};

/* Makes a driver with its client. `poll` means that the driver itself reads and writes. Frees the driver if this fails.
 */
static fencepost_result make_client(struct driver *driver, bool poll, bool ours) {
    struct link *links[2] = {&driver->commands, &driver->subscriptions};
    fencepost_result result;
    fencepost_hub *hub;
    int i;

    for (i = 0; i < 2; i++) {
        links[i]->driver = driver;
        links[i]->ours = links[i]->driven = ours;
        links[i]->phase = ours ? DOWN : OVER;
    }
    driver->poll = poll ? epoll_create1(EPOLL_CLOEXEC) : -1;
    if (poll && driver->poll < 0)
        result =
            say(FENCEPOST_RESULT_SYSTEM_ERROR,
                "the operating system returned no descriptor for epoll: raise the limit of open files");
    else
        result = fencepost_hub_new(FENCEPOST_FAMILY_REDIS, fencepost_now(), &hub);
    if (result == FENCEPOST_RESULT_OK)
        result = fencepost_client_new(hub, "redis-string", NULL, &operations, driver, &driver->client);
    if (result != FENCEPOST_RESULT_OK)
        release(driver);
    return result;
}

static char *copy(const fencepost_view *view) {
    return view->size == 0 ? strdup("") : strndup((const char *)view->data, view->size);
}

/* Sets up TLS for a driver whose host is set. */
static fencepost_result secure(struct driver *driver, const fencepost_view *view) {
    char why[512], *ca = copy(view);
    fencepost_result result;

    if (ca == NULL)
        return say(FENCEPOST_RESULT_OUT_OF_MEMORY, "out of memory");
    result = secure_open(driver, ca, why, sizeof why);
    free(ca);
    return result == FENCEPOST_RESULT_OK ? result : say(result, why);
}

static fencepost_result connect_parts(const fencepost_address_parts *parts, fencepost_client **client) {
    struct driver *driver;
    fencepost_result result;

    if (parts->scheme != FENCEPOST_SCHEME_REDIS && parts->scheme != FENCEPOST_SCHEME_REDIS_TLS)
        return say(FENCEPOST_RESULT_INVALID_URL, "this is not the address of a Redis server: write redis://HOST:PORT");
    if ((driver = calloc(1, sizeof *driver)) == NULL)
        return say(FENCEPOST_RESULT_OUT_OF_MEMORY, "out of memory");
    driver->poll = -1;
    driver->host = copy(&parts->hosts);
    driver->user = copy(&parts->user);
    driver->password = copy(&parts->password);
    driver->port = parts->port;
    driver->database = parts->database;
    if (driver->host == NULL || driver->user == NULL || driver->password == NULL) {
        release(driver);
        return say(FENCEPOST_RESULT_OUT_OF_MEMORY, "out of memory");
    }
    if (parts->scheme == FENCEPOST_SCHEME_REDIS_TLS && (result = secure(driver, &parts->ca)) != FENCEPOST_RESULT_OK) {
        release(driver);
        return result;
    }
    if ((result = make_client(driver, true, true)) == FENCEPOST_RESULT_OK)
        *client = driver->client;
    return result;
}

static fencepost_result connect_url(const char *url, fencepost_client **client) {
    fencepost_address *address;
    fencepost_address_parts parts = {.size = sizeof parts};
    fencepost_result result;

    if (url == NULL || client == NULL)
        return say(
            FENCEPOST_RESULT_NULL_POINTER, "a required pointer is NULL: pass the object, or a place for the output");
    result = fencepost_address_parse((const uint8_t *)url, strlen(url), &address);
    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = fencepost_address_read(address, &parts);
    if (result == FENCEPOST_RESULT_OK)
        result = connect_parts(&parts, client);
    fencepost_address_free(address);
    return result;
}

/* A cancelled thread finishes this call first. */
fencepost_result fencepost_redis_connect(const char *url, fencepost_client **client) {
    fencepost_result result;
    int before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    result = connect_url(url, client);
    pthread_setcancelstate(before, &before);
    return result;
}

static bool is_usable(const redisAsyncContext *context) {
    return context->err == 0 && (context->c.flags & REDIS_CONNECTED) &&
           !(context->c.flags & (REDIS_DISCONNECTING | REDIS_FREEING));
}

/* Takes both connections for one driver. */
static fencepost_result
take_both(struct driver *driver, redisAsyncContext *commands, redisAsyncContext *subscriptions) {
    if (!taken_add(&driver->commands, commands) ||
        (subscriptions != NULL && !taken_add(&driver->subscriptions, subscriptions)))
        return say(FENCEPOST_RESULT_BAD_ARGUMENT, "this context has a client already: share that one");
    if (subscriptions != NULL && (commands->ev.addRead == NULL) != (subscriptions->ev.addRead == NULL))
        return say(
            FENCEPOST_RESULT_BAD_ARGUMENT,
            "one of these contexts has an event loop attached and the other has none: attach both or none");
    return FENCEPOST_RESULT_OK;
}

static fencepost_result
attach(redisAsyncContext *commands, redisAsyncContext *subscriptions, fencepost_client **client) {
    struct driver *driver;
    fencepost_result result;

    if (commands == NULL || client == NULL)
        return say(
            FENCEPOST_RESULT_NULL_POINTER, "a required pointer is NULL: pass the object, or a place for the output");
    if (!is_usable(commands) || (subscriptions != NULL && !is_usable(subscriptions)))
        return say(FENCEPOST_RESULT_BAD_ARGUMENT, "this context is not connected: wait until it is");
    if (commands == subscriptions || (commands->c.flags & (REDIS_SUBSCRIBED | REDIS_MONITORING)))
        return say(
            FENCEPOST_RESULT_BAD_ARGUMENT,
            "this connection has subscriptions or monitors, so it accepts no commands: pass another one");
    if (subscriptions != NULL && (subscriptions->c.flags & REDIS_MONITORING))
        return say(
            FENCEPOST_RESULT_BAD_ARGUMENT,
            "this connection monitors, so it accepts no subscriptions: pass another one");
    if ((driver = calloc(1, sizeof *driver)) == NULL)
        return say(FENCEPOST_RESULT_OUT_OF_MEMORY, "out of memory");
    driver->poll = -1;
    if ((result = take_both(driver, commands, subscriptions)) != FENCEPOST_RESULT_OK) {
        release(driver);
        return result;
    }
    if ((result = make_client(driver, commands->ev.addRead == NULL, false)) != FENCEPOST_RESULT_OK)
        return result;
    attached_open(&driver->commands, commands);
    if (subscriptions != NULL)
        attached_open(&driver->subscriptions, subscriptions);
    *client = driver->client;
    return FENCEPOST_RESULT_OK;
}

fencepost_result
fencepost_redis_attach(redisAsyncContext *commands, redisAsyncContext *subscriptions, fencepost_client **client) {
    fencepost_result result;
    int before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    result = attach(commands, subscriptions, client);
    pthread_setcancelstate(before, &before);
    return result;
}
