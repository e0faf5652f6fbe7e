/* Tickets: what a callback knows of the request, watch or session that it speaks of. */
#include <pthread.h>
#include <stdlib.h>

#include "internal.h"

#define BUCKETS 1024u
#define MOST_SPARE 16u

/* Guards the tickets of all clients. Held for a look-up only; a client's lock may be held meanwhile, never taken. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct record *buckets[BUCKETS];
static uint64_t last_ticket;

FENCEPOST_FORK_SAFE(mutex, )

/* With threads, records go on another one than they come: what one has freed, the other's allocator would not find. */
static struct record *record_new(struct driver *driver) {
    struct record *record = driver->spare;

    if (record == NULL)
        return calloc(1, sizeof *record);
    driver->spare = record->next;
    driver->spares--;
    *record = (struct record){0};
    return record;
}

static void record_spare(struct driver *driver, struct record *record) {
    if (driver->spares == MOST_SPARE) {
        free(record);
        return;
    }
    record->next = driver->spare;
    driver->spare = record;
    driver->spares++;
}

void records_free(struct driver *driver) {
    struct record *record;

    while ((record = driver->spare) != NULL) {
        driver->spare = record->next;
        free(record);
    }
}

/* A new record; NULL: no memory. Under the client's lock. */
struct record *record_open(struct driver *driver, enum kind kind, uint64_t command) {
    struct record *record = record_new(driver), **bucket;

    if (record == NULL)
        return NULL;
    record->driver = driver;
    record->kind = kind;
    record->command = command;
    record->session = driver->session;
    record->next = driver->records;
    if (record->next != NULL)
        record->next->previous = record;
    driver->records = record;
    if (kind == REQUEST)
        driver->requests++;
    pthread_mutex_lock(&mutex);
    record->ticket = ++last_ticket;
    bucket = &buckets[record->ticket % BUCKETS];
    record->bucket = *bucket;
    *bucket = record;
    pthread_mutex_unlock(&mutex);
    return record;
}

/* Nothing will be heard of it. Under the client's lock, or when the client has been closed. */
void record_close(struct record *record) {
    struct driver *driver = record->driver;
    struct record **place;

    pthread_mutex_lock(&mutex);
    for (place = &buckets[record->ticket % BUCKETS]; *place != record;)
        place = &(*place)->bucket;
    *place = record->bucket;
    pthread_mutex_unlock(&mutex);
    if (record->previous != NULL)
        record->previous->next = record->next;
    else
        driver->records = record->next;
    if (record->next != NULL)
        record->next->previous = record->previous;
    if (record->kind == REQUEST)
        driver->requests--;
    free(record->path);
    record_spare(driver, record);
}

/* What the library is given to remember. */
void *record_context(const struct record *record) {
    return (void *)(uintptr_t)record->ticket;
}

static struct record *find(const void *context) {
    uint64_t ticket = (uint64_t)(uintptr_t)context;
    struct record *record = buckets[ticket % BUCKETS];

    while (record != NULL && record->ticket != ticket)
        record = record->bucket;
    return record;
}

/* A transaction's memory is freed by its callback: whoever closes the record must not do it again. */
void record_forget_writes(const void *context) {
    struct record *record;

    pthread_mutex_lock(&mutex);
    if ((record = find(context)) != NULL)
        record->writes = NULL;
    pthread_mutex_unlock(&mutex);
}

/* What a callback speaks of, NULL if it concerns nobody any more. `client`, unless NULL: its client, kept for the
 * caller.
 */
struct record *record_find(const void *context, fencepost_client **client) {
    struct record *record;

    pthread_mutex_lock(&mutex);
    record = find(context);
    if (record != NULL && client != NULL) {
        *client = record->driver->client;
        fencepost_client_ref(*client);
    }
    pthread_mutex_unlock(&mutex);
    return record;
}
