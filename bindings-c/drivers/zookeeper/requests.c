/* Requests. The library gets them in their order, and its completions report the replies. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "verdict.h"

/* ---- answers ---- */

static void created(int rc, const char *path, const struct Stat *stat, const void *context) {
    fencepost_hub *hub;
    struct record *record = record_enter(context, &hub);

    if (record == NULL)
        return;
    if (!record->settled) {
        if (rc == ZOK)
            fencepost_hub_created(
                hub, fencepost_now(), record->command, record->session, (const uint8_t *)path, strlen(path),
                stat->czxid);
        else
            request_failed(record, hub, rc);
    }
    request_finish(record);
}

static void report_children(const struct record *record, fencepost_hub *hub, const struct String_vector *children) {
    size_t count = (size_t)children->count, i;
    fencepost_view few[32], *names = few;

    if (count > sizeof few / sizeof *few && (names = malloc(count * sizeof *names)) == NULL) {
        fencepost_hub_failed(hub, fencepost_now(), record->command, FENCEPOST_FAILURE_UNKNOWN);
        return;
    }
    for (i = 0; i < count; i++) {
        names[i].data = (const uint8_t *)children->data[i];
        names[i].size = strlen(children->data[i]);
    }
    fencepost_hub_children(hub, fencepost_now(), record->command, record->session, names, count);
    if (names != few)
        free(names);
}

static void listed(int rc, const struct String_vector *children, const void *context) {
    fencepost_hub *hub;
    struct record *record = record_enter(context, &hub);

    if (record == NULL)
        return;
    if (record->watch != NULL)
        watch_read(record->watch, rc);
    if (!record->settled) {
        if (rc == ZOK)
            report_children(record, hub, children);
        else
            request_failed(record, hub, rc);
    }
    request_finish(record);
}

static void got(int rc, const char *data, int size, const struct Stat *stat, const void *context) {
    fencepost_hub *hub;
    struct record *record = record_enter(context, &hub);

    if (record == NULL)
        return;
    if (record->watch != NULL)
        watch_read(record->watch, rc);
    if (!record->settled) {
        if (rc == ZOK)
            fencepost_hub_data(
                hub, fencepost_now(), record->command, record->session, (const uint8_t *)data,
                size > 0 ? (size_t)size : 0, stat->czxid, stat->mzxid, stat->ephemeralOwner, stat->version, stat->ctime,
                stat->mtime);
        else
            request_failed(record, hub, rc);
    }
    request_finish(record);
}

static void done(int rc, const void *context) {
    fencepost_hub *hub;
    struct record *record = record_enter(context, &hub);

    if (record == NULL)
        return;
    if (!record->settled) {
        if (rc == ZOK)
            fencepost_hub_done(hub, fencepost_now(), record->command, record->session);
        else
            request_failed(record, hub, rc);
    }
    request_finish(record);
}

static void changed(int rc, const struct Stat *stat, const void *context) {
    (void)stat;
    done(rc, context);
}

static void synced(int rc, const char *path, const void *context) {
    (void)path;
    done(rc, context);
}

/* ---- commands ---- */

static int
create(struct driver *driver, const char *path, const fencepost_command *command, const struct record *request) {
    return zoo_acreate2(
        driver->handle, path, (const char *)command->data.data, (int)command->data.size, driver->acl,
        create_mode(command->flags), created, record_context(request));
}

/* Reads a node or lists its children. It sets a watch if the caller has opened one. */
static int read_node(
    struct driver *driver, const char *path, const fencepost_command *command, const struct record *watch,
    const struct record *request) {
    watcher_fn watcher = watch == NULL ? NULL : watch_fired;
    void *seen = watch == NULL ? NULL : record_context(watch);

    if (command->operation == FENCEPOST_OPERATION_CHILDREN)
        return zoo_awget_children(driver->handle, path, watcher, seen, listed, record_context(request));
    return zoo_awget(driver->handle, path, watcher, seen, got, record_context(request));
}

static int look(struct driver *driver, const char *path, const fencepost_command *command, struct record *request) {
    struct record *watch;
    int rc;

    if (!(command->flags & FENCEPOST_FLAG_WATCH))
        return read_node(driver, path, command, NULL, request);
    if ((watch = watch_open(driver, command, request->key, path)) == NULL)
        return ZSYSTEMERROR;
    rc = read_node(driver, path, command, watch, request);
    if (rc == ZOK)
        request->watch = watch;
    else
        record_close(watch);
    return rc;
}

static int
send_request(struct driver *driver, const char *path, const fencepost_command *command, struct record *request) {
    switch (command->operation) {
    case FENCEPOST_OPERATION_CREATE:
        return create(driver, path, command, request);
    case FENCEPOST_OPERATION_CHILDREN:
    case FENCEPOST_OPERATION_GET:
        return look(driver, path, command, request);
    case FENCEPOST_OPERATION_SET:
        return zoo_aset(
            driver->handle, path, (const char *)command->data.data, (int)command->data.size, -1, changed,
            record_context(request));
    case FENCEPOST_OPERATION_DELETE:
        return zoo_adelete(driver->handle, path, -1, done, record_context(request));
    case FENCEPOST_OPERATION_SYNC:
        return zoo_async(driver->handle, path, synced, record_context(request));
    case FENCEPOST_OPERATION_MULTI:
        return writes_send(driver, command, request);
    default:
        return ZBADARGUMENTS;
    }
}

/* Reports a request that the library did not accept. */
static void refused(const struct driver *driver, fencepost_hub *hub, uint64_t id, int rc) {
    uint64_t now = fencepost_now();

    fencepost_client_note(driver->client, id, rc == ZOK ? "not connected" : zerror(rc));
    switch (driver->over ? VERDICT_CLOSED : verdict_of_refusal(rc)) {
    case VERDICT_CLOSED:
        fencepost_hub_failed(hub, now, id, FENCEPOST_FAILURE_CLOSED);
        break;
    case VERDICT_ANSWER:
        fencepost_hub_error(hub, now, id, driver->session, rc);
        break;
    case VERDICT_NOT_SENT:
        fencepost_hub_failed(hub, now, id, FENCEPOST_FAILURE_NOT_SENT);
        break;
    case VERDICT_UNKNOWN:
        fencepost_hub_failed(hub, now, id, FENCEPOST_FAILURE_UNKNOWN);
        break;
    }
}

void request_send(void *self, fencepost_hub *hub, uint64_t key, const fencepost_command *command) {
    struct driver *driver = self;
    uint64_t id = command->id;
    struct record *request;
    char path[8192];
    int rc = ZBADARGUMENTS;

    /* While the library is not connected, it would queue requests, and send them later. */
    if (!driver->connected) {
        refused(driver, hub, id, ZOK);
        return;
    }
    if ((request = record_open(driver, REQUEST, id)) == NULL) {
        refused(driver, hub, id, ZSYSTEMERROR);
        return;
    }
    request->key = key;
    if (command->path.size < sizeof path) {
        if (command->path.size > 0)
            memcpy(path, command->path.data, command->path.size);
        path[command->path.size] = '\0';
        rc = send_request(driver, path, command, request);
    }
    if (rc != ZOK) {
        record_close(request);
        refused(driver, hub, id, rc);
    }
}

/* Reports the requests in flight at a disconnect: the server may have executed them. Their completions come later, and
 * the driver ignores them. */
void requests_settle(struct driver *driver, fencepost_hub *hub) {
    struct record *record;

    for (record = driver->records; record != NULL; record = record->next) {
        if (record->kind != REQUEST || record->settled)
            continue;
        record->settled = true;
        fencepost_client_note(driver->client, record->command, "the connection was lost");
        fencepost_hub_failed(hub, fencepost_now(), record->command, FENCEPOST_FAILURE_UNKNOWN);
    }
}
