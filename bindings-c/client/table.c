/* Contenders by their keys. Keys are small and grow by one, so the hash is the key's low bits. */
#include <stdlib.h>

#include "internal.h"

static fencepost_grant **bucket(const struct table *table, uint64_t key) {
    return &table->buckets[key & (table->size - 1)];
}

static bool grow(struct table *table) {
    struct table wider = {NULL, table->size == 0 ? 16 : table->size * 2, table->count};
    size_t i;

    wider.buckets = calloc(wider.size, sizeof *wider.buckets);
    if (wider.buckets == NULL)
        return false;
    for (i = 0; i < table->size; i++) {
        while (table->buckets[i] != NULL) {
            fencepost_grant *moved = table->buckets[i];
            table->buckets[i] = moved->next;
            moved->next = *bucket(&wider, moved->key);
            *bucket(&wider, moved->key) = moved;
        }
    }
    free(table->buckets);
    *table = wider;
    return true;
}

bool table_add(struct table *table, fencepost_grant *contender) {
    fencepost_grant **place;

    if (table->count == table->size && !grow(table))
        return false;
    place = bucket(table, contender->key);
    contender->next = *place;
    *place = contender;
    table->count++;
    return true;
}

fencepost_grant *table_find(const struct table *table, uint64_t key) {
    fencepost_grant *found;

    if (table->size == 0)
        return NULL;
    for (found = *bucket(table, key); found != NULL && found->key != key;)
        found = found->next;
    return found;
}

void table_remove(struct table *table, uint64_t key) {
    fencepost_grant **place;

    if (table->size == 0)
        return;
    for (place = bucket(table, key); *place != NULL; place = &(*place)->next) {
        if ((*place)->key == key) {
            *place = (*place)->next;
            table->count--;
            return;
        }
    }
}

/* Visits all contenders. `visit` may remove its contender from the table. */
void table_each(struct table *table, void (*visit)(fencepost_grant *)) {
    fencepost_grant *here, *next;
    size_t i;

    for (i = 0; i < table->size; i++) {
        for (here = table->buckets[i]; here != NULL; here = next) {
            next = here->next;
            visit(here);
        }
    }
}

void table_free(struct table *table) {
    free(table->buckets);
    table->buckets = NULL;
    table->size = table->count = 0;
}
