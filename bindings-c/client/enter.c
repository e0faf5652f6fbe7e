/* The client's lock, and the hub behind it: whoever holds the lock puts something in; before it is given back, the hub
 * is polled dry. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

static void read_output(fencepost_client *client, const fencepost_output *output) {
    switch (output->kind) {
    case FENCEPOST_OUTPUT_KIND_COMMAND:
        client->driver->command(client->self, client->hub, &output->command);
        break;
    case FENCEPOST_OUTPUT_KIND_EVENT:
        contender_event(client, output->key, &output->event);
        break;
    case FENCEPOST_OUTPUT_KIND_WAIT:
        client->until = output->wait.until;
        break;
    }
}

/* Polls the hub dry: commands to the driver, in their order; events to their contenders. */
void client_pump(fencepost_client *client) {
    fencepost_output output;
    bool unsent = false;

    for (;;) {
        if (fencepost_hub_poll_output(client->hub, FENCEPOST_ALL, &output) != FENCEPOST_RESULT_OK)
            return; /* it has panicked, and says nothing any more */
        read_output(client, &output);
        unsent = unsent || output.kind == FENCEPOST_OUTPUT_KIND_COMMAND;
        if (output.kind != FENCEPOST_OUTPUT_KIND_WAIT)
            continue;
        if (!unsent || client->driver->flush == NULL)
            break;
        client->driver->flush(client->self, client->hub); /* after which there may be more to do */
        unsent = false;
    }
    client->moved = false;
}

/* The same, if this thread has put something in. */
void client_settle(fencepost_client *client) {
    if (client->moved && !client->closed)
        client_pump(client);
}

/* When something is due: the hub's timers, or the driver's own. */
uint64_t client_until(fencepost_client *client) {
    uint64_t until = client->until;

    if (client->driver->until != NULL) {
        uint64_t drivers = client->driver->until(client->self);
        if (drivers < until)
            until = drivers;
    }
    return until;
}

/* Takes in what has arrived and does what is due. */
void client_advance(fencepost_client *client) {
    uint64_t now;

    if (client->closed)
        return;
    if (client->driver->process != NULL)
        client->driver->process(client->self, client->hub);
    now = fencepost_now();
    if (now >= client->until)
        fencepost_hub_handle_timeout(client->hub, now);
    client_pump(client);
}

/* The beginning of every call of the program. */
fencepost_result client_enter(fencepost_client *client) {
    if (client == NULL)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    /* Not even the lock is safe to touch: another thread of the parent may have held it. */
    if (!IS_OURS(client))
        return fault(FENCEPOST_RESULT_WRONG_PROCESS, NULL);
    pthread_mutex_lock(&client->mutex);
    if (client->closing) {
        client_unlock(client);
        return fault(FENCEPOST_RESULT_CLIENT_CLOSED, NULL);
    }
    return FENCEPOST_RESULT_OK;
}

/* Makes an eventfd readable. */
void client_signal(int descriptor) {
    uint64_t one = 1;

    /* It fails only when it is full: then whoever reads it is awake. */
    if (write(descriptor, &one, sizeof one) < 0)
        return;
}

/* Makes an eventfd unreadable. */
void client_drain(int descriptor) {
    uint64_t count;

    if (read(descriptor, &count, sizeof count) < 0)
        return; /* it was empty */
}

/* The end of every call: what was put in is carried out, and whoever it concerns is told. */
void client_leave(fencepost_client *client) {
    client_settle(client);
    client_wake(client);
    if (client->driving)
        client_signal(client->wake);
    if (client->looped)
        client_signal(client->news);
    keeper_look(client);
    client_unlock(client);
    if (client->driver->left != NULL)
        client->driver->left(client->self);
}

fencepost_hub *fencepost_client_enter(fencepost_client *client) {
    pthread_mutex_lock(&client->mutex);
    if (client->closed) {
        client_unlock(client);
        return NULL;
    }
    return client->hub;
}

void fencepost_client_leave(fencepost_client *client) {
    client->moved = true;
    client_leave(client);
}

void fencepost_client_note(fencepost_client *client, uint64_t command, const char *text) {
    struct note *note = &client->notes[client->next_note];

    client->next_note = (client->next_note + 1) % NOTES;
    note->command = command;
    snprintf(note->text, sizeof note->text, "%s", text);
}
