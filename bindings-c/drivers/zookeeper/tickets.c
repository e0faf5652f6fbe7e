/* Tickets. A callback finds its request, watch or session by a ticket. */
#include <pthread.h>
#include <stdlib.h>

#include "internal.h"

#define BUCKETS 1024u
#define MOST_SPARE 16u

/* Guards the tickets of all clients. A thread holds it only for a look-up. It may hold a client's mutex then, but does
 * not lock one. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct record *buckets[BUCKETS];
static uint64_t last_ticket;

FENCEPOST_FORK_SAFE(mutex, )

/* Reuses a freed record if possible. With threads, one thread makes a record and another one frees it, so the allocator
 * could not reuse the memory. */
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

/* Makes a record. Returns NULL if there is no memory. The caller holds the client's mutex. */
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

/* Frees a record that gets no more callbacks. The caller holds the client's mutex, or the client is closed. */
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

/* The context that the library passes to its callbacks. */
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

/* The callback frees the memory of a transaction, so `record_close` must not free it again. */
void record_forget_writes(const void *context) {
    struct record *record;

    pthread_mutex_lock(&mutex);
    if ((record = find(context)) != NULL)
        record->writes = NULL;
    pthread_mutex_unlock(&mutex);
}

/* The record of a callback; NULL if it no longer exists. If `client` is not NULL, the function writes the client there,
 * with a reference for the caller. */
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
