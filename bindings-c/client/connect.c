/* Connects by address. The libraries for the servers depend on this library. This library does not depend on them: it
 * loads one when an address needs it. So a program loads only the client libraries that it uses. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "../drivers/memory/memory.h"
#include "internal.h"

typedef fencepost_result connect_function(const char *url, fencepost_client **client);

static void *load(const char *library, const char *function) {
    void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);

    return loaded == NULL ? NULL : dlsym(loaded, function);
}

static fencepost_result
connect_with(const char *library, const char *function, const char *url, fencepost_client **client) {
    connect_function *connect;

    /* The program may be linked with the library, perhaps statically. */
    void *symbol = dlsym(RTLD_DEFAULT, function);
    if (symbol == NULL)
        symbol = load(library, function);
    if (symbol == NULL) {
        const char *why = dlerror();
        return fault(
            FENCEPOST_RESULT_DRIVER_MISSING, "%s cannot be loaded: install it, or link with it (%s)", library,
            why == NULL ? "it has no such function" : why);
    }
    /* ISO C does not define the conversion of an object pointer to a function pointer; POSIX does. */
    memcpy(&connect, &symbol, sizeof connect);
    return connect(url, client);
}

/* The library without threads is faster. Both variants of libzookeeper export the same names. If the program uses the
 * variant with threads (only this one has blocking calls), the linker would resolve the names to it. */
static fencepost_result connect_zookeeper(const char *url, fencepost_client **client) {
    static const char function[] = "fencepost_zookeeper_connect";
    static const char *const libraries[] = {"libfencepost-zookeeper-st.so.0", "libfencepost-zookeeper.so.0"};
    bool threaded = dlsym(RTLD_DEFAULT, "zoo_create") != NULL || load(libraries[0], function) == NULL;

    return connect_with(libraries[threaded], function, url, client);
}

static fencepost_result connect_url(const char *url, fencepost_client **client) {
    fencepost_address *address;
    fencepost_address_parts parts = {.size = sizeof parts};
    fencepost_result result;

    if (url == NULL || client == NULL)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    result = fencepost_address_parse((const uint8_t *)url, strlen(url), &address);
    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = fencepost_address_read(address, &parts);
    if (result == FENCEPOST_RESULT_OK) {
        switch (parts.scheme) {
        case FENCEPOST_SCHEME_MEMORY:
            result = memory_connect((const char *)parts.name.data, parts.name.size, parts.session_timeout, client);
            break;
        case FENCEPOST_SCHEME_ZOOKEEPER:
            result = connect_zookeeper(url, client);
            break;
        case FENCEPOST_SCHEME_REDIS:
        case FENCEPOST_SCHEME_REDIS_TLS:
            result = connect_with("libfencepost-redis.so.0", "fencepost_redis_connect", url, client);
            break;
        }
    }
    fencepost_address_free(address);
    return result;
}

fencepost_result fencepost_connect(const char *url, fencepost_client **client) {
    int before = cancel_hold();
    fencepost_result result = connect_url(url, client);

    cancel_allow(before);
    return result;
}
