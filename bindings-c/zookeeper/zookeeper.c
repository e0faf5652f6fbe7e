/* Clients over libzookeeper_mt: its completion thread enters the client, so an answer reaches who waits with one change
 * of threads, and the library keeps the session alive while the program works. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static fencepost_result say(fencepost_result result, const char *text) {
    fencepost_set_detail((const uint8_t *)text, strlen(text));
    return result;
}

static int descriptor(void *self) {
    (void)self;
    return FENCEPOST_SELF_DRIVEN;
}

static uint64_t until(void *self) {
    return ((struct driver *)self)->again;
}

static void process(void *self, fencepost_hub *hub) {
    struct driver *driver = self;

    if (driver->again <= fencepost_now())
        session_open(driver, hub);
}

static size_t busy(void *self) {
    return ((struct driver *)self)->requests;
}

static void end(void *self) {
    struct driver *driver = self;

    if (driver->hosts == NULL)
        attached_close(driver);
    else if (driver->handle != NULL) {
        zookeeper_close(driver->handle);
        writes_abandon(driver, driver->handle);
    }
    while (driver->records != NULL)
        record_close(driver->records);
}

static void release(void *self) {
    struct driver *driver = self;

    records_free(driver);
    free(driver->hosts);
    free(driver);
}

static const fencepost_driver operations = {
    .descriptor = descriptor,
    .command = request_send,
    .process = process,
    .until = until,
    .busy = busy,
    .close = end,
    .free = release,
};

/* A client whose driver does not do anything yet. Frees the driver if there is none. */
static fencepost_result make_client(struct driver *driver, const char *prefix) {
    fencepost_hub *hub;
    fencepost_result result = fencepost_hub_new(FENCEPOST_FAMILY_ZOOKEEPER, fencepost_now(), &hub);

    driver->again = FENCEPOST_NEVER;
    if (result == FENCEPOST_RESULT_OK)
        result = fencepost_client_new(hub, "zookeeper-mutex", prefix, &operations, driver, &driver->client);
    if (result != FENCEPOST_RESULT_OK)
        release(driver);
    return result;
}

static fencepost_result connect_parts(const fencepost_address_parts *parts, fencepost_client **client) {
    struct driver *driver = calloc(1, sizeof *driver);
    char prefix[4097], text[256];
    fencepost_result result;
    bool open;

    if (driver == NULL)
        return say(FENCEPOST_RESULT_OUT_OF_MEMORY, "out of memory");
    snprintf(prefix, sizeof prefix, "%.*s", (int)parts->prefix.size, (const char *)parts->prefix.data);
    driver->acl = &ZOO_OPEN_ACL_UNSAFE;
    driver->timeout = parts->session_timeout / 1000u < INT_MAX ? (int)(parts->session_timeout / 1000u) : INT_MAX;
    driver->hosts = strndup((const char *)parts->hosts.data, parts->hosts.size);
    if (driver->hosts == NULL) {
        release(driver);
        return say(FENCEPOST_RESULT_OUT_OF_MEMORY, "out of memory");
    }
    if ((result = make_client(driver, prefix)) != FENCEPOST_RESULT_OK)
        return result;
    open = session_open(driver, fencepost_client_enter(driver->client));
    snprintf(text, sizeof text, "no ZooKeeper connection to %s: %s", driver->hosts, strerror(errno));
    fencepost_client_leave(driver->client);
    if (!open) {
        fencepost_client_free(driver->client);
        return say(FENCEPOST_RESULT_UNREACHABLE, text);
    }
    *client = driver->client;
    return FENCEPOST_RESULT_OK;
}

fencepost_result fencepost_zookeeper_connect(const char *url, fencepost_client **client) {
    fencepost_address *address;
    fencepost_address_parts parts;
    fencepost_result result;

    if (url == NULL || client == NULL)
        return say(FENCEPOST_RESULT_NULL_POINTER, "an argument is NULL that must not be");
    result = fencepost_address_parse((const uint8_t *)url, strlen(url), &address);
    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = fencepost_address_read(address, &parts);
    if (result == FENCEPOST_RESULT_OK && parts.scheme != FENCEPOST_SCHEME_ZOOKEEPER)
        result = say(FENCEPOST_RESULT_INVALID_URL, "this is no address of a ZooKeeper: write zk://HOST:PORT/PREFIX");
    if (result == FENCEPOST_RESULT_OK)
        result = connect_parts(&parts, client);
    fencepost_address_free(address);
    return result;
}

fencepost_result fencepost_zookeeper_attach(
    zhandle_t *handle, const char *prefix, const struct ACL_vector *acl, fencepost_client **client) {
    struct driver *driver;
    fencepost_result result;
    fencepost_hub *hub;
    int state;

    if (handle == NULL || client == NULL)
        return say(FENCEPOST_RESULT_NULL_POINTER, "an argument is NULL that must not be");
    if (is_unrecoverable(handle) != ZOK)
        return say(FENCEPOST_RESULT_BAD_ARGUMENT, "the session of this handle has ended: make a new handle");
    if ((driver = calloc(1, sizeof *driver)) == NULL)
        return say(FENCEPOST_RESULT_OUT_OF_MEMORY, "out of memory");
    driver->handle = handle;
    driver->acl = acl == NULL ? &ZOO_OPEN_ACL_UNSAFE : acl;
    if ((result = make_client(driver, prefix)) != FENCEPOST_RESULT_OK)
        return result;
    if (!attached_open(driver)) {
        driver->handle = NULL;
        fencepost_client_free(driver->client);
        return say(FENCEPOST_RESULT_BAD_ARGUMENT, "this handle has a client already: share that one");
    }
    /* From here on the watcher tells; what it told before has to be asked for. Twice does no harm. */
    if ((hub = fencepost_client_enter(driver->client)) != NULL) {
        state = zoo_state(handle);
        if (state == ZOO_CONNECTED_STATE)
            session_news(driver, hub, handle, state);
        fencepost_client_leave(driver->client);
    }
    *client = driver->client;
    return FENCEPOST_RESULT_OK;
}
