/* Copies of the records of operations. */
#include <stdlib.h>

#include "internal.h"

/* One block of memory: the record, its texts and its bytes. A NUL follows each. */
static fencepost_view put(char **place, fencepost_view from) {
    fencepost_view to = {(const uint8_t *)*place, from.size};

    if (from.size > 0)
        memcpy(*place, from.data, from.size);
    (*place)[from.size] = '\0';
    *place += from.size + 1;
    return to;
}

/* NULL if there is no memory. */
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
