/* Passes the server's unchanged replies to the hub. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* A script returns a few values. For a longer reply, the driver allocates memory. */
#define USUAL 16

/* A deeper nesting than in any script's reply. The limit protects the stack. */
#define DEEPEST 16

/* The number of nodes below a reply; 0 if it is nested too deeply. */
static size_t count_nodes(const redisReply *reply, int deepest) {
    size_t count = 0, i, below;

    for (i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++) {
        if (deepest == 0)
            return SIZE_MAX / 2;
        below = count_nodes(reply->element[i], deepest - 1);
        if (below >= SIZE_MAX / 2)
            return below;
        count += 1 + below;
    }
    return count;
}

static void convert(const redisReply *from, fencepost_reply *to, fencepost_reply **free_nodes) {
    fencepost_reply *items;
    size_t i;

    memset(to, 0, sizeof *to);
    switch (from->type) {
    case REDIS_REPLY_INTEGER:
        to->kind = FENCEPOST_REPLY_KIND_INTEGER;
        to->integer = from->integer;
        break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
        to->kind = from->type == REDIS_REPLY_ERROR ? FENCEPOST_REPLY_KIND_ERROR : FENCEPOST_REPLY_KIND_BYTES;
        to->bytes.data = (const uint8_t *)from->str;
        to->bytes.size = (size_t)from->len;
        break;
    case REDIS_REPLY_ARRAY:
        items = *free_nodes;
        *free_nodes += from->elements;
        to->kind = FENCEPOST_REPLY_KIND_ARRAY;
        to->items = items;
        to->item_count = from->elements;
        for (i = 0; i < from->elements; i++)
            convert(from->element[i], &items[i], free_nodes);
        break;
    default:
        to->kind = FENCEPOST_REPLY_KIND_NIL;
    }
}

/* Reports a reply. If the hub returns an error, the reply belongs to no command, and the driver ignores it. */
fencepost_result reply_give(fencepost_hub *hub, uint64_t command, const redisReply *reply) {
    fencepost_reply usual[USUAL], root, *nodes = usual, *free_nodes;
    size_t count = count_nodes(reply, DEEPEST);
    fencepost_result result;

    if (count > USUAL && (count >= SIZE_MAX / sizeof *nodes || (nodes = malloc(count * sizeof *nodes)) == NULL)) {
        return fencepost_hub_failed(hub, fencepost_now(), command, FENCEPOST_FAILURE_UNKNOWN);
    }
    free_nodes = nodes;
    convert(reply, &root, &free_nodes);
    result = fencepost_hub_reply(hub, fencepost_now(), command, &root);
    if (nodes != usual)
        free(nodes);
    return result;
}

void reply_give_error(fencepost_hub *hub, uint64_t command, const char *error) {
    fencepost_reply reply = {FENCEPOST_REPLY_KIND_ERROR, 0, {(const uint8_t *)error, strlen(error)}, NULL, 0};

    fencepost_hub_reply(hub, fencepost_now(), command, &reply);
}
