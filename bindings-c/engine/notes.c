/* Messages of the client library about the last commands, for the texts of errors that these commands cause. */
#define _GNU_SOURCE
#include <stdio.h>

#include "internal.h"

void fencepost_client_note(fencepost_client *client, uint64_t command, const char *text) {
    struct note *note = &client->notes[client->next_note];

    client->next_note = (client->next_note + 1) % NOTES;
    note->command = command;
    snprintf(note->text, sizeof note->text, "%s", text);
}

/* The note of a command; NULL if there is none. */
const char *client_noted(const fencepost_client *client, uint64_t command) {
    const char *text = NULL;
    int i;

    for (i = 0; i < NOTES && command != 0; i++) {
        if (client->notes[i].command == command)
            text = client->notes[i].text;
    }
    return text;
}
