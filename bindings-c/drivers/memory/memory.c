/* `memory:`: a server inside the process. There is no driver: the hub answers itself, and one client's call may wake
 * others. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#include "../../engine/internal.h"

/* A server, and who is connected to it. A room without a name has one client. */
struct room {
    fencepost_memory *server;
    char *name;
    struct member *members;
    struct room *next;
};

struct member {
    struct room *room;
    fencepost_client *client;
    uint64_t id;
    struct member *next;
};

/* Guards all rooms. Taken without a client's lock, and given back before one is taken. */
static pthread_mutex_t rooms_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct room *rooms;

/* The parent's servers are not the child's: others of the parent's threads may have been inside them. */
FENCEPOST_FORK_SAFE(rooms_mutex, rooms = NULL)

static struct room *room_find(const char *name, size_t size) {
    struct room *room;

    for (room = rooms; room != NULL; room = room->next) {
        if (size > 0 && strlen(room->name) == size && memcmp(room->name, name, size) == 0)
            return room;
    }
    return NULL;
}

static struct room *room_open(const char *name, size_t size) {
    struct room *room = calloc(1, sizeof *room);

    if (room == NULL)
        return NULL;
    if ((room->name = calloc(1, size + 1)) == NULL || fencepost_memory_new(&room->server) != FENCEPOST_RESULT_OK) {
        free(room->name);
        free(room);
        return NULL;
    }
    memcpy(room->name, name, size);
    room->next = rooms;
    rooms = room;
    return room;
}

/* Frees a room that nobody is in. */
static void room_tidy(struct room *room) {
    struct room **place;

    if (room->members != NULL)
        return;
    for (place = &rooms; *place != room;)
        place = &(*place)->next;
    *place = room->next;
    fencepost_memory_free(room->server);
    free(room->name);
    free(room);
}

/* Somebody else in the room who has something to poll; referred to. */
static fencepost_client *next_woken(struct member *self) {
    fencepost_client *found = NULL;
    struct member *member;
    uint64_t woken[16];
    size_t count, i;

    pthread_mutex_lock(&rooms_mutex);
    count = fencepost_memory_take_woken(self->room->server, woken, sizeof woken / sizeof *woken);
    for (i = 0; i < count && found == NULL; i++) {
        for (member = self->room->members; member != NULL && found == NULL; member = member->next) {
            if (member->id == woken[i] && member->client != NULL)
                found = member->client;
        }
    }
    if (found != NULL)
        fencepost_client_ref(found);
    pthread_mutex_unlock(&rooms_mutex);
    return found;
}

/* Wakes who was woken, and who was woken by that. */
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
    (void)self, (void)hub, (void)key, (void)command; /* there are none */
}

static size_t memory_busy(void *self) {
    (void)self;
    return 0;
}

/* Nobody wakes it any more. */
static void memory_close(void *self, bool silent) {
    struct member *member = self;

    (void)silent;
    pthread_mutex_lock(&rooms_mutex);
    member->client = NULL;
    pthread_mutex_unlock(&rooms_mutex);
}

static void memory_free(void *self) {
    struct member *member = self, **place;

    pthread_mutex_lock(&rooms_mutex);
    for (place = &member->room->members; *place != member;)
        place = &(*place)->next;
    *place = member->next;
    room_tidy(member->room);
    pthread_mutex_unlock(&rooms_mutex);
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
    struct room *room;

    pthread_mutex_lock(&rooms_mutex);
    room = room_find(name, size);
    if (room == NULL)
        room = room_open(name, size);
    if (member != NULL && room != NULL &&
        fencepost_memory_hub(room->server, fencepost_now(), random_seed(), &hub) == FENCEPOST_RESULT_OK) {
        member->id = fencepost_hub_id(hub);
        member->room = room;
        result = fencepost_client_new(hub, "memory", NULL, &driver, member, &member->client);
    }
    if (result == FENCEPOST_RESULT_OK) {
        member->next = room->members;
        room->members = member;
        *client = member->client;
    } else {
        fault(result, NULL);
        free(member);
        if (room != NULL)
            room_tidy(room);
    }
    pthread_mutex_unlock(&rooms_mutex);
    return result;
}
