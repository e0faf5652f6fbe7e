/* `memory:`, a server in this process. The hub carries out its own commands. A call on one client may cause outputs of
 * others. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#include "../../engine/internal.h"

/* A server and its clients. A server without a name has one client. */
struct memory_server {
    fencepost_memory *memory;
    char *name;
    struct member *members;
    struct memory_server *next;
};

struct member {
    struct memory_server *server;
    fencepost_client *client;
    uint64_t id;
    struct member *next;
};

/* Guards all servers. A thread locks it without a client's mutex, and unlocks it before it locks one. */
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

/* Frees a server without clients. */
static void server_tidy(struct memory_server *server) {
    struct memory_server **place;

    if (server->members != NULL)
        return;
    for (place = &servers; *place != server;)
        place = &(*place)->next;
    *place = server->next;
    fencepost_memory_free(server->memory);
    free(server->name);
    free(server);
}

/* Another client of the server whose hub has outputs, with a reference to it. */
static fencepost_client *next_woken(struct member *self) {
    fencepost_client *found = NULL;
    struct member *member;
    uint64_t woken[16];
    size_t count, i;

    pthread_mutex_lock(&servers_mutex);
    count = fencepost_memory_take_woken(self->server->memory, woken, sizeof woken / sizeof *woken);
    for (i = 0; i < count && found == NULL; i++) {
        for (member = self->server->members; member != NULL && found == NULL; member = member->next) {
            if (member->id == woken[i] && member->client != NULL)
                found = member->client;
        }
    }
    if (found != NULL)
        fencepost_client_ref(found);
    pthread_mutex_unlock(&servers_mutex);
    return found;
}

/* Polls the hubs of the clients that the last call concerns, and those that their outputs concern. */
static void memory_left(void *self) {
    fencepost_client *woken;

    while ((woken = next_woken(self)) != NULL) {
        client_lock(woken);
        if (!woken->closed) {
            fencepost_hub_handle_timeout(woken->hub, fencepost_now());
            client_pump(woken);
            client_wake(woken);
            client_tell_loop(woken);
            background_look(woken);
        }
        client_unlock(woken);
        fencepost_client_unref(woken);
    }
}

static int memory_descriptor(void *self) {
    (void)self;
    return FENCEPOST_SELF_DRIVEN;
}

static void memory_command(void *self, fencepost_hub *hub, uint64_t key, const fencepost_command *command) {
    (void)self, (void)hub, (void)key, (void)command; /* the hub issues none */
}

static size_t memory_busy(void *self) {
    (void)self;
    return 0;
}

/* From now on, no other client polls this one. */
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

fencepost_result memory_connect(const char *name, size_t size, fencepost_client **client) {
    struct member *member = calloc(1, sizeof *member);
    fencepost_result result = FENCEPOST_RESULT_OUT_OF_MEMORY;
    fencepost_hub *hub;
    struct memory_server *server;

    pthread_mutex_lock(&servers_mutex);
    server = server_find(name, size);
    if (server == NULL)
        server = server_open(name, size);
    if (member != NULL && server != NULL &&
        fencepost_memory_hub(server->memory, fencepost_now(), random_seed(), &hub) == FENCEPOST_RESULT_OK) {
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
