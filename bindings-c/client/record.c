/* Copies of the records of operations. */
#include <stdlib.h>

#include "internal.h"

/* Copies a text or bytes, with a NUL at the end. The record, its texts and its bytes are in one block of memory. */
static fencepost_view put(char **place, fencepost_view from) {
    fencepost_view to = {(const uint8_t *)*place, from.size};

    if (from.size > 0)
        memcpy(*place, from.data, from.size);
    (*place)[from.size] = '\0';
    *place += from.size + 1;
    return to;
}

/* Copies a record. Returns NULL if there is no memory. */
fencepost_record *record_copy(const fencepost_record *record) {
    fencepost_record *copy = malloc(sizeof *copy + record->attempt.size + record->tag.size + record->result.size + 3);
    char *place;

    if (copy == NULL)
        return NULL;
    *copy = *record;
    place = (char *)(copy + 1);
    copy->attempt = put(&place, record->attempt);
    copy->tag = put(&place, record->tag);
    copy->result = put(&place, record->result);
    return copy;
}

void fencepost_record_free(fencepost_record *record) {
    free(record);
}
