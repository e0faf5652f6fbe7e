/* `memory:`, a server in this process. The hub carries out its own commands. A call on one client may cause outputs of
 * other clients. */
#include <stdlib.h>
#include <string.h>

#include "fencepost-testing.h"
#include "memory.h"

#include "../../engine/internal.h"

/* A server and its clients. A server without a name has one client. */
struct memory_server {
    fencepost_memory *memory;
    char *name;
    struct member *members;
    unsigned controls; /* objects of the program that control it */
    struct memory_server *next;
};

struct fencepost_memory_server {
    struct memory_server *server;
    unsigned process;
};

struct member {
    struct memory_server *server;
    fencepost_client *client;
    uint64_t id;
    struct member *next;
};

/* Guards all servers. A thread that locks it holds no client's mutex, and unlocks it before it locks one. */
static pthread_mutex_t servers_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct memory_server *servers;

/* A child does not use the parent's servers: other threads of the parent may have been changing them. */
FENCEPOST_FORK_SAFE(servers_mutex, servers = NULL)

static struct memory_server *server_find(const char *name, size_t size) {
    struct memory_server *server;

    for (server = servers; server != NULL; server = server->next) {
        if (size > 0 && strlen(server->name) == size && memcmp(server->name, name, size) == 0)
            return server;
    }
    return NULL;
}

static struct memory_server *server_open(const char *name, size_t size) {
    struct memory_server *server = calloc(1, sizeof *server);

    if (server == NULL)
        return NULL;
    if ((server->name = calloc(1, size + 1)) == NULL || fencepost_memory_new(&server->memory) != FENCEPOST_RESULT_OK) {
        free(server->name);
        free(server);
        return NULL;
    }
    memcpy(server->name, name, size);
    server->next = servers;
    servers = server;
    return server;
}

/* Frees a server without clients and controls. */
static void server_tidy(struct memory_server *server) {
    struct memory_server **place;

    if (server->members != NULL || server->controls > 0)
        return;
    for (place = &servers; *place != server;)
        place = &(*place)->next;
    *place = server->next;
    fencepost_memory_free(server->memory);
    free(server->name);
    free(server);
}

/* A client of the server whose hub has outputs, with a reference to it. */
static fencepost_client *next_woken(struct memory_server *server) {
    fencepost_client *found = NULL;
    struct member *member;
    uint64_t woken[16];
    size_t count, i;

    pthread_mutex_lock(&servers_mutex);
    count = fencepost_memory_take_woken(server->memory, woken, sizeof woken / sizeof *woken);
    for (i = 0; i < count && found == NULL; i++) {
        for (member = server->members; member != NULL && found == NULL; member = member->next) {
            if (member->id == woken[i] && member->client != NULL)
                found = member->client;
        }
    }
    if (found != NULL)
        fencepost_client_ref(found);
    pthread_mutex_unlock(&servers_mutex);
    return found;
}

/* Polls the hubs for which the last call caused outputs, and then the hubs for which these outputs cause more. */
static void server_wake(struct memory_server *server) {
    fencepost_client *woken;

    while ((woken = next_woken(server)) != NULL) {
        client_lock(woken);
        if (!woken->closed) {
            fencepost_hub_handle_timeout(woken->hub, fencepost_now());
            client_pump(woken);
            client_wake(woken);
            client_notify_loop(woken);
            background_look(woken);
        }
        client_unlock(woken);
        fencepost_client_unref(woken);
    }
}

static void memory_left(void *self) {
    server_wake(((struct member *)self)->server);
}

static int memory_descriptor(void *self) {
    (void)self;
    return FENCEPOST_SELF_DRIVEN;
}

static void memory_command(void *self, fencepost_hub *hub, uint64_t key, const fencepost_command *command) {
    (void)self, (void)hub, (void)key, (void)command; /* the hub issues no commands */
}

static size_t memory_busy(void *self) {
    (void)self;
    return 0;
}

/* Closes the client: other clients no longer poll its hub. */
static void memory_close(void *self, bool silent) {
    struct member *member = self;

    (void)silent;
    pthread_mutex_lock(&servers_mutex);
    member->client = NULL;
    pthread_mutex_unlock(&servers_mutex);
}

static void memory_free(void *self) {
    struct member *member = self, **place;

    pthread_mutex_lock(&servers_mutex);
    for (place = &member->server->members; *place != member;)
        place = &(*place)->next;
    *place = member->next;
    server_tidy(member->server);
    pthread_mutex_unlock(&servers_mutex);
    free(member);
}

static const fencepost_driver driver = {
    .descriptor = memory_descriptor,
    .command = memory_command,
    .busy = memory_busy,
    .left = memory_left,
    .close = memory_close,
    .free = memory_free,
};

fencepost_result memory_connect(const char *name, size_t size, uint64_t session_timeout, fencepost_client **client) {
    struct member *member = calloc(1, sizeof *member);
    fencepost_result result = FENCEPOST_RESULT_OUT_OF_MEMORY;
    fencepost_hub *hub;
    struct memory_server *server;

    pthread_mutex_lock(&servers_mutex);
    server = server_find(name, size);
    if (server == NULL)
        server = server_open(name, size);
    if (member != NULL && server != NULL &&
        fencepost_memory_hub(server->memory, fencepost_now(), random_seed(), session_timeout, &hub) ==
            FENCEPOST_RESULT_OK) {
        member->id = fencepost_hub_id(hub);
        member->server = server;
        result = fencepost_client_new(hub, "memory", NULL, &driver, member, &member->client);
    }
    if (result == FENCEPOST_RESULT_OK) {
        member->next = server->members;
        server->members = member;
        *client = member->client;
    } else {
        fault(result, NULL);
        free(member);
        if (server != NULL)
            server_tidy(server);
    }
    pthread_mutex_unlock(&servers_mutex);
    return result;
}

/* ---- controls ---- */

/* The server of an address, with an object that controls it. */
static fencepost_result control_of(const fencepost_address *address, fencepost_memory_server **control) {
    fencepost_address_parts parts = {.size = sizeof parts};
    fencepost_memory_server *made;
    struct memory_server *server;
    fencepost_result result = fencepost_address_read(address, &parts);
    const char *name = (const char *)parts.name.data;

    if (result != FENCEPOST_RESULT_OK)
        return result;
    if (parts.scheme != FENCEPOST_SCHEME_MEMORY)
        return fault(FENCEPOST_RESULT_INVALID_URL, "the address is not a server in this process: use memory:NAME");
    if (parts.name.size == 0)
        return fault(
            FENCEPOST_RESULT_INVALID_URL, "memory: without a name is a new server for each client: give memory:NAME");
    if ((made = calloc(1, sizeof *made)) == NULL)
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    pthread_mutex_lock(&servers_mutex);
    server = server_find(name, parts.name.size);
    if (server == NULL)
        server = server_open(name, parts.name.size);
    if (server != NULL)
        server->controls++;
    pthread_mutex_unlock(&servers_mutex);
    if (server == NULL) {
        free(made);
        return fault(FENCEPOST_RESULT_OUT_OF_MEMORY, NULL);
    }
    made->server = server;
    made->process = process_number();
    *control = made;
    return FENCEPOST_RESULT_OK;
}

fencepost_result fencepost_memory_server_open(const char *url, fencepost_memory_server **server) {
    fencepost_address *address;
    fencepost_result result;

    if (url == NULL || server == NULL)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    result = fencepost_address_parse((const uint8_t *)url, strlen(url), &address);
    if (result != FENCEPOST_RESULT_OK)
        return result;
    result = control_of(address, server);
    fencepost_address_free(address);
    return result;
}

void fencepost_memory_server_free(fencepost_memory_server *server) {
    if (server == NULL)
        return;
    if (IS_OURS(server)) {
        pthread_mutex_lock(&servers_mutex);
        server->server->controls--;
        server_tidy(server->server);
        pthread_mutex_unlock(&servers_mutex);
    }
    free(server);
}

static fencepost_result server_check(const fencepost_memory_server *server) {
    if (server == NULL)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    return IS_OURS(server) ? FENCEPOST_RESULT_OK : fault(FENCEPOST_RESULT_WRONG_PROCESS, NULL);
}

fencepost_result
fencepost_memory_server_hub(const fencepost_memory_server *server, const fencepost_client *client, uint64_t *hub) {
    fencepost_result result = server_check(server);
    const struct member *member;
    bool open;

    if (result != FENCEPOST_RESULT_OK)
        return result;
    if (client == NULL || hub == NULL)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    member = client->driver == &driver ? client->self : NULL;
    if (member == NULL || member->server != server->server)
        return fault(
            FENCEPOST_RESULT_INVALID_OPTION, "the client is not connected to memory:%s: give one that is",
            server->server->name);
    pthread_mutex_lock(&servers_mutex);
    open = member->client != NULL;
    pthread_mutex_unlock(&servers_mutex);
    if (!open)
        return fault(FENCEPOST_RESULT_CLIENT_CLOSED, NULL);
    *hub = member->id;
    return FENCEPOST_RESULT_OK;
}

typedef fencepost_result control_function(fencepost_memory *memory, uint64_t hub);

static fencepost_result
control(fencepost_memory_server *server, const fencepost_client *client, control_function *change) {
    uint64_t hub;
    int before = cancel_hold();
    fencepost_result result = fencepost_memory_server_hub(server, client, &hub);

    if (result == FENCEPOST_RESULT_OK) {
        /* Another thread may have closed the client before. */
        if (change(server->server->memory, hub) != FENCEPOST_RESULT_OK)
            result = fault(FENCEPOST_RESULT_CLIENT_CLOSED, NULL);
        server_wake(server->server);
    }
    cancel_allow(before);
    return result;
}

fencepost_result fencepost_memory_server_expire(fencepost_memory_server *server, const fencepost_client *client) {
    return control(server, client, fencepost_memory_expire);
}

fencepost_result fencepost_memory_server_suspend(fencepost_memory_server *server, const fencepost_client *client) {
    return control(server, client, fencepost_memory_suspend);
}

fencepost_result fencepost_memory_server_reconnect(fencepost_memory_server *server, const fencepost_client *client) {
    return control(server, client, fencepost_memory_reconnect);
}

fencepost_result fencepost_memory_server_pause(fencepost_memory_server *server, const fencepost_client *client) {
    return control(server, client, fencepost_memory_pause);
}

fencepost_result fencepost_memory_server_resume(fencepost_memory_server *server, const fencepost_client *client) {
    return control(server, client, fencepost_memory_resume);
}

fencepost_result fencepost_memory_server_record(fencepost_memory_server *server, bool on) {
    fencepost_result result = server_check(server);

    return result == FENCEPOST_RESULT_OK ? fencepost_memory_record(server->server->memory, on) : result;
}

fencepost_result fencepost_memory_server_report(
    const fencepost_memory_server *server, uint64_t after, fencepost_memory_report **report) {
    fencepost_result result = server_check(server);

    return result == FENCEPOST_RESULT_OK ? fencepost_memory_report_open(server->server->memory, after, report) : result;
}
