/* The contenders that an inspection found. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* One block of memory: the list, its items, and their texts. */
struct fencepost_contenders {
    size_t count;
    fencepost_contender items[];
};

static const char *put_text(char **place, fencepost_view view) {
    char *text = *place;

    if (view.size > 0)
        memcpy(text, view.data, view.size);
    text[view.size] = '\0';
    *place += view.size + 1;
    return text;
}

/* Copies the contenders. Returns NULL if there is no memory. */
fencepost_contenders *contenders_copy(const fencepost_found *const *found, size_t count) {
    size_t size = sizeof(fencepost_contenders) + count * sizeof(fencepost_contender), i;
    fencepost_contenders *copy;
    char *place;

    for (i = 0; i < count; i++)
        size += found[i]->node.size + found[i]->identifier.size + 2;
    if ((copy = calloc(1, size)) == NULL)
        return NULL;
    copy->count = count;
    place = (char *)&copy->items[count];
    for (i = 0; i < count; i++) {
        fencepost_contender *item = &copy->items[i];

        item->node = put_text(&place, found[i]->node);
        item->identifier = put_text(&place, found[i]->identifier);
        item->session = found[i]->session;
        item->since = found[i]->since;
        item->expires_in = found[i]->expires_in == FENCEPOST_NEVER ? -1 : (int64_t)(found[i]->expires_in / 1000u);
        item->fence = found[i]->fence;
        item->holds = found[i]->holds;
        item->shared = found[i]->shared;
    }
    return copy;
}

size_t fencepost_contenders_count(const fencepost_contenders *contenders) {
    return contenders == NULL ? 0 : contenders->count;
}

const fencepost_contender *fencepost_contenders_at(const fencepost_contenders *contenders, size_t index) {
    return index < fencepost_contenders_count(contenders) ? &contenders->items[index] : NULL;
}

void fencepost_contenders_free(fencepost_contenders *contenders) {
    free(contenders);
}
