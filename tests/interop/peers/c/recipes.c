/* fencepost's recipes by the names of the protocol, and the list of contenders. */

#define _POSIX_C_SOURCE 200809L

#include "peer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

fencepost_client *client;
const char *layout;

enum { NAMES = 16 };

/* The names in "/A,/B", without their first slashes. */
static size_t split(char *path, const char *names[NAMES]) {
    size_t count = 0;
    for (char *name = strtok(path, ","); name != NULL && count < NAMES; name = strtok(NULL, ",")) {
        names[count++] = name + (*name == '/');
    }
    return count;
}

fencepost_result lock_open(const char *kind, const char *path, fencepost_lock **lock) {
    static const struct {
        const char *name;
        fencepost_kind kind;
    } kinds[] = {
        {"mutex", FENCEPOST_KIND_MUTEX},      {"revocable", FENCEPOST_KIND_MUTEX},
        {"read", FENCEPOST_KIND_READER},      {"write", FENCEPOST_KIND_WRITER},
        {"leader", FENCEPOST_KIND_ELECTION},  {"semaphore", FENCEPOST_KIND_SEMAPHORE},
        {"multi", FENCEPOST_KIND_MULTI_LOCK}, {"single", FENCEPOST_KIND_MUTEX},
    };
    size_t length = strcspn(kind, ":");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i += 1) {
        if (strncmp(kinds[i].name, kind, length) != 0 || kinds[i].name[length] != '\0')
            continue;
        char copy[TEXT];
        const char *names[NAMES];
        fencepost_options options = {.size = sizeof options, .kind = kinds[i].kind, .layout = layout};
        bool many = options.kind == FENCEPOST_KIND_MULTI_LOCK;
        snprintf(copy, sizeof copy, "%s", path);
        options.identifier = "fencepost";
        if (strcmp(kinds[i].name, "single") == 0) {
            /* A lock of one node has no layout. */
            options.layout = NULL;
            options.unfair = true;
        }
        options.revocable = strcmp(kinds[i].name, "revocable") == 0;
        options.permits = kind[length] == ':' ? strtol(kind + length + 1, NULL, 10) : 0;
        if (many) {
            options.names = names;
            options.name_count = split(copy, names);
        }
        return fencepost_lock_open(client, many ? NULL : path + (*path == '/'), &options, lock);
    }
    return FENCEPOST_RESULT_BAD_ARGUMENT;
}

fencepost_result find_contender(
    const char *kind, const char *path, uint64_t fence, const char *node, fencepost_contenders **all,
    const fencepost_contender **found) {
    fencepost_lock *lock = NULL;
    fencepost_result result = lock_open(kind, path, &lock);
    *found = NULL;
    *all = NULL;
    if (result == FENCEPOST_OK)
        result = fencepost_lock_contenders(lock, all);
    fencepost_lock_free(lock);
    for (size_t i = 0; result == FENCEPOST_OK && i < fencepost_contenders_count(*all); i += 1) {
        const fencepost_contender *one = fencepost_contenders_at(*all, i);
        if (node != NULL ? strcmp(one->node, node) == 0 : one->fence == fence)
            *found = one;
    }
    return result;
}

static int by_fence(const void *one, const void *other) {
    uint64_t a = (*(const fencepost_contender *const *)one)->fence;
    uint64_t b = (*(const fencepost_contender *const *)other)->fence;
    return (a > b) - (a < b);
}

void tell_contenders(const char *kind, const char *path) {
    fencepost_contenders *all;
    const fencepost_contender *unused, *sorted[256];
    const char *mark = strcmp(kind, "read") == 0 ? "__READ__" : strcmp(kind, "write") == 0 ? "__WRIT__" : "";
    char list[64 * 1024] = "";
    size_t count = 0, length = 0;
    if (find_contender(kind, path, 0, NULL, &all, &unused) != FENCEPOST_OK) {
        complain("contenders", fencepost_detail());
        return;
    }
    for (size_t i = 0; i < fencepost_contenders_count(all) && count < 256; i += 1) {
        sorted[count++] = fencepost_contenders_at(all, i);
    }
    qsort(sorted, count, sizeof *sorted, by_fence);
    for (size_t i = 0; i < count && length + 1100 < sizeof list; i += 1) {
        if (strcmp(layout, "curator") == 0 && strstr(sorted[i]->node, mark) == NULL)
            continue;
        length += (size_t)snprintf(
            list + length, sizeof list - length, "%s\"%.1024s\"", length > 0 ? ", " : "", sorted[i]->node);
    }
    fencepost_contenders_free(all);
    answer("contenders", "\"nodes\": [%s]", list);
}

/* A server derives the password from the session's number: the bytes of a java.util.Random with that seed. */
static void password(int64_t session, char text[33]) {
    const uint64_t multiplier = UINT64_C(0x5DEECE66D), mask = (UINT64_C(1) << 48) - 1;
    uint64_t state = (((uint64_t)session ^ UINT64_C(0xB3415C00)) ^ multiplier) & mask;
    for (int word = 0; word < 4; word += 1) {
        state = (state * multiplier + 0xB) & mask;
        for (int byte = 0; byte < 4; byte += 1) {
            snprintf(text + 8 * word + 2 * byte, 3, "%02x", (unsigned)(state >> (16 + 8 * byte)) & 0xFF);
        }
    }
}

/* The session is the owner of a held node, so the peer must hold a lock. */
void tell_session(void) {
    char path[64], secret[33];
    fencepost_lock *lock = NULL;
    fencepost_grant *grant = NULL;
    fencepost_contenders *all = NULL;
    const fencepost_contender *own = NULL;
    snprintf(path, sizeof path, "/fencepost-peer-%ld", (long)getpid());
    fencepost_result result = lock_open("mutex", path, &lock);
    if (result == FENCEPOST_OK)
        result = fencepost_lock_acquire(lock, FENCEPOST_FOREVER, &grant);
    if (result == FENCEPOST_OK)
        result = find_contender("mutex", path, fencepost_grant_fence(grant), NULL, &all, &own);
    if (result == FENCEPOST_OK && own != NULL) {
        password(own->session, secret);
        int64_t session = own->session;
        fencepost_release(grant);
        answer("session", "\"session\": \"0x%" PRIx64 "\", \"password\": \"%s\"", (uint64_t)session, secret);
    } else {
        complain("session", result == FENCEPOST_OK ? "its node is gone" : fencepost_detail());
    }
    fencepost_contenders_free(all);
    fencepost_grant_free(grant);
    fencepost_lock_free(lock);
}

void ask_for(const char *node) {
    char path[TEXT];
    fencepost_lock *lock = NULL;
    fencepost_contenders *all;
    const fencepost_contender *found;
    snprintf(path, sizeof path, "%s", node);
    char *slash = strrchr(path, '/');
    if (slash != NULL)
        *slash = '\0';
    if (find_contender("mutex", path, 0, node, &all, &found) != FENCEPOST_OK || found == NULL ||
        lock_open("mutex", path, &lock) != FENCEPOST_OK || fencepost_lock_revoke(lock, found) != FENCEPOST_OK) {
        complain("revoke", fencepost_detail());
    } else {
        answer("revoke", "");
    }
    fencepost_lock_free(lock);
    fencepost_contenders_free(all);
}
