/* The common part of all completions of the library. */
#include "internal.h"
#include "verdict.h"

/* Handles a completion with an error `rc` of the library in place of a reply. */
void request_failed(const struct record *record, fencepost_hub *hub, int rc) {
    uint64_t now = fencepost_now();

    fencepost_client_note(record->driver->client, record->command, zerror(rc));
    if (verdict_of_completion(rc) == VERDICT_ANSWER)
        fencepost_hub_error(hub, now, record->command, record->session, rc);
    else
        fencepost_hub_failed(hub, now, record->command, FENCEPOST_FAILURE_UNKNOWN);
}

/* Ends every completion. */
void request_finish(struct record *record) {
    fencepost_client *client = record->driver->client;

    record_close(record);
    record_leave(client);
}
