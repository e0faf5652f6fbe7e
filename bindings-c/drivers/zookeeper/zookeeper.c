/* Clients over the ZooKeeper C library, by address. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Makes a client whose driver has not started yet. The time of its hub begins at `since`. Frees the driver if this
 * fails.
 */
fencepost_result client_make(struct driver *driver, const char *prefix, uint64_t since) {
    fencepost_hub *hub;
    fencepost_result result = FENCEPOST_RESULT_SYSTEM_ERROR;

    driver->again = FENCEPOST_NEVER;
    pthread_mutex_init(&driver->using, NULL);
    if (connection_prepare(driver))
        result = fencepost_hub_new(FENCEPOST_FAMILY_ZOOKEEPER, since, &hub);
    if (result == FENCEPOST_RESULT_OK)
        result = fencepost_client_new(hub, "zookeeper-mutex", prefix, &driving, driver, &driver->client);
    if (result != FENCEPOST_RESULT_OK)
        driver_free(driver);
    return result;
}

/* The library takes the text before the last colon as the host. So an IPv6 address must have no brackets. */
static char *without_brackets(const char *hosts) {
    char *places = strdup(hosts), *to = places;

    for (; places != NULL && *hosts != '\0'; hosts++) {
        if (*hosts != '[' && *hosts != ']')
            *to++ = *hosts;
    }
    if (places != NULL)
        *to = '\0';
    return places;
}

static fencepost_result connect_parts(const fencepost_address_parts *parts, fencepost_client **client) {
    struct driver *driver = calloc(1, sizeof *driver);
    char prefix[4097], text[256];
    fencepost_result result;
    bool open;

    if (driver == NULL)
        return driver_fault(FENCEPOST_RESULT_OUT_OF_MEMORY, "out of memory");
    snprintf(prefix, sizeof prefix, "%.*s", (int)parts->prefix.size, (const char *)parts->prefix.data);
    driver->acl = &ZOO_OPEN_ACL_UNSAFE;
    driver->timeout = parts->session_timeout / 1000u < INT_MAX ? (int)(parts->session_timeout / 1000u) : INT_MAX;
    driver->hosts = strndup((const char *)parts->hosts.data, parts->hosts.size);
    if (driver->hosts != NULL)
        driver->places = without_brackets(driver->hosts);
    if (driver->places == NULL) {
        driver_free(driver);
        return driver_fault(FENCEPOST_RESULT_OUT_OF_MEMORY, "out of memory");
    }
    if ((result = client_make(driver, prefix, fencepost_now())) != FENCEPOST_RESULT_OK)
        return result;
    open = session_open(driver, fencepost_client_enter(driver->client));
    /* The library reports this for a name that the resolver does not know. */
    snprintf(
        text, sizeof text, "no ZooKeeper connection to %.180s: %s", driver->hosts,
        errno == ENOENT ? "unknown host: check the name" : strerror(errno));
    fencepost_client_leave(driver->client);
    if (!open) {
        fencepost_client_free(driver->client);
        return driver_fault(FENCEPOST_RESULT_UNREACHABLE, text);
    }
    *client = driver->client;
    return FENCEPOST_RESULT_OK;
}

fencepost_result fencepost_zookeeper_connect(const char *url, fencepost_client **client) {
    fencepost_address *address;
    fencepost_address_parts parts = {.size = sizeof parts};
    fencepost_result result;

    if (url == NULL || client == NULL)
        return driver_fault(
            FENCEPOST_RESULT_NULL_POINTER, "a required pointer is NULL: pass the object, or a place for the output");
    result = fencepost_address_parse((const uint8_t *)url, strlen(url), &address);
    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = fencepost_address_read(address, &parts);
    if (result == FENCEPOST_RESULT_OK && parts.scheme != FENCEPOST_SCHEME_ZOOKEEPER)
        result = driver_fault(
            FENCEPOST_RESULT_INVALID_URL, "this is not the address of a ZooKeeper server: write zk://HOST:PORT/PREFIX");
    if (result == FENCEPOST_RESULT_OK)
        result = connect_parts(&parts, client);
    fencepost_address_free(address);
    return result;
}
