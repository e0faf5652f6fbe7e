/*
 * Counts a stock down with versions: a sale is not counted twice if its acknowledgement was lost.
 *
 *     stock
 *     stock redis://localhost:6379 ITEM
 *     stock zk://localhost:2181/shop ITEM
 *
 * Each run on a server needs another ITEM.
 *
 * cc -std=c99 stock.c $(pkg-config --cflags --libs fencepost-client)
 */
#include <fencepost-client.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets the stock of an item to `pieces`, if it has this version. `id` identifies the update: a repeated update uses the
 * same id. `record` has the new version, or after a conflict the present value. */
static fencepost_result
set(fencepost_idempotency *stock, const char *item, int pieces, const char *id, uint64_t version,
    fencepost_record **record) {
    char text[16];

    snprintf(text, sizeof text, "%d", pieces);
    return fencepost_update(stock, item, id, version, NULL, 0, NULL, text, strlen(text), record);
}

/* Sends one sale twice, and one sale that has read an old stock. */
static fencepost_result sell(fencepost_idempotency *stock, const char *item) {
    fencepost_record *first = NULL, *sold = NULL, *again = NULL, *present = NULL, *last = NULL;
    /* Version 0: there is no value yet. */
    fencepost_result r = set(stock, item, 10, "delivery-1", 0, &first);

    if (r != FENCEPOST_OK)
        return r;
    printf("10 pieces, version %" PRIu64 "\n", first->version);
    r = set(stock, item, 9, "sale-1", first->version, &sold);
    if (r != FENCEPOST_OK)
        goto done;
    printf("sale 1: version %" PRIu64 ", replayed: false\n", sold->version);

    /* The acknowledgement was lost, so the till sends the same sale again. */
    r = set(stock, item, 9, "sale-1", first->version, &again);
    if (r != FENCEPOST_REPLAYED)
        goto done;
    printf("sale 1 again: version %" PRIu64 ", replayed: true\n", again->version);

    /* Another till has read the stock before sale 1. */
    r = set(stock, item, 9, "sale-2", first->version, &present);
    if (r == FENCEPOST_RESULT_CONFLICT && present != NULL) {
        int left = atoi((const char *)present->result.data); /* a NUL byte follows a result */
        printf("sale 2: conflict, %d pieces are left in version %" PRIu64 "\n", left, present->version);
        r = set(stock, item, left - 1, "sale-2", present->version, NULL);
    }
    if (r == FENCEPOST_OK)
        r = fencepost_look(stock, item, &last);
    if (r == FENCEPOST_OK && last != NULL)
        printf("%s pieces, version %" PRIu64 "\n", (const char *)last->result.data, last->version);
done:
    fencepost_record_free(first);
    fencepost_record_free(sold);
    fencepost_record_free(again);
    fencepost_record_free(present);
    fencepost_record_free(last);
    return r;
}

int main(int argc, char **argv) {
    const char *url = argc > 1 ? argv[1] : "memory:", *item = argc > 2 ? argv[2] : "item-42";
    fencepost_client *client = NULL;
    fencepost_idempotency *stock = NULL;
    fencepost_result r = fencepost_connect(url, &client);

    if (r == FENCEPOST_OK)
        r = fencepost_idempotency_open(client, "stock", NULL, &stock);
    if (r == FENCEPOST_OK)
        r = sell(stock, item);
    if (r != FENCEPOST_OK)
        fprintf(stderr, "%s: %s\n", fencepost_result_name(r), fencepost_detail());
    fencepost_idempotency_free(stock);
    fencepost_client_free(client);
    return r == FENCEPOST_OK ? 0 : 1;
}
