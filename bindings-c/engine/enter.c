/* The client's lock, and the hub behind it: whoever holds the lock puts something in; before it is given back, the hub
 * is polled dry. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../client/internal.h"

/* How often to look for more before a timer that is due: each look takes in thousands of bytes. */
#define MOST_LOOKS 256

/* How late a timer has to be for its loop to have been busy with something else, in microseconds. */
#define LATE 20000u

static void read_output(fencepost_client *client, const fencepost_output *output) {
    switch (output->kind) {
    case FENCEPOST_OUTPUT_KIND_COMMAND:
        client->driver->command(client->self, client->hub, output->key, output->command);
        break;
    case FENCEPOST_OUTPUT_KIND_EVENT:
        client->stirred = true;
        contender_event(client, output->key, output->event);
        break;
    case FENCEPOST_OUTPUT_KIND_WAIT:
        client->until = output->wait->until;
        break;
    }
}

/* Polls the hub dry: commands to the driver, in their order; events to their contenders. */
void client_pump(fencepost_client *client) {
    fencepost_output output = {.size = sizeof output};
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
    if (overdue_until(client) < until)
        until = overdue_until(client);
    if (client->closes_stepwise && client->close_by < until)
        until = client->close_by;
    return until;
}

/* Whether this thread is in a callback that the driver's library has called from `dispatch`. With the lock. */
bool client_is_dispatcher(const fencepost_client *client) {
    return client->dispatching && pthread_equal(client->dispatcher, pthread_self());
}

/* Lets the driver into a library that calls the program's own callbacks: without the lock, one thread at a time. */
static void dispatch(fencepost_client *client) {
    bool driving = client->driving;
    int before;

    if (client->driver->dispatch == NULL || client->dispatching)
        return;
    client->dispatching = client->driving = true;
    client->dispatcher = pthread_self();
    before = client_pause(client);
    client->driver->dispatch(client->self);
    client_resume(client, before);
    client->dispatching = false;
    client->driving = driving;
    pthread_cond_broadcast(&client->dispatched);
}

/* Takes in what has arrived. */
static void take_in(fencepost_client *client) {
    if (client->driver->process != NULL)
        client->driver->process(client->self, client->hub);
    dispatch(client);
}

/* Whether more has arrived than one look has taken in. */
static bool has_more(const fencepost_client *client) {
    struct pollfd source = {client->driver->descriptor(client->self), POLLIN, 0};

    return source.fd >= 0 && poll(&source, 1, 0) > 0;
}

/* Whether a late timer is put off for one turn of the loop that reads the connection: an answer may be there. */
static bool puts_off(fencepost_client *client, uint64_t now) {
    if (client->driver->descriptor(client->self) != FENCEPOST_OWNER_DRIVEN || now - client->until < LATE)
        return false;
    if (client->late != client->until) {
        client->late = client->until;
        client->late_since = client->turns;
    }
    if (client->late_since < client->turns)
        return false;
    client->stirred = true;
    return true;
}

/* Takes in what has arrived and does what is due. An answer that has arrived beats a timer that is late. */
void client_advance(fencepost_client *client) {
    int looks = MOST_LOOKS;
    uint64_t now;

    if (client->closed)
        return;
    take_in(client);
    while (!client->closed && fencepost_now() >= client->until && --looks > 0 && has_more(client))
        take_in(client);
    if (client->closed)
        return;
    now = fencepost_now();
    if (now >= client->until && !puts_off(client, now))
        fencepost_hub_handle_timeout(client->hub, now);
    overdue_look(client, now);
    client_pump(client);
}

/* The beginning of a call that goes on with a client's end. */
fencepost_result client_enter_late(fencepost_client *client) {
    if (client == NULL)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    /* Not even the lock is safe to touch: another thread of the parent may have held it. */
    if (!IS_OURS(client))
        return fault(FENCEPOST_RESULT_WRONG_PROCESS, NULL);
    client_lock(client);
    if (client->closed) {
        client_unlock(client);
        return fault(FENCEPOST_RESULT_CLIENT_CLOSED, NULL);
    }
    return FENCEPOST_RESULT_OK;
}

/* The beginning of every other call of the program. */
fencepost_result client_enter(fencepost_client *client) {
    fencepost_result result = client_enter_late(client);

    if (result == FENCEPOST_RESULT_OK && client->closing) {
        client_unlock(client);
        result = fault(FENCEPOST_RESULT_CLIENT_CLOSED, NULL);
    }
    return result;
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

/* Wakes the program's loop if it has to look: something has happened, or it would look too late. With the lock. */
void client_tell_loop(fencepost_client *client) {
    if (client->looped && (client->stirred || client_until(client) < client->looped_until))
        client_signal(client->news);
    client->stirred = false;
}

/* Gives the lock back and tells the driver so. */
void client_unlock_and_tell(fencepost_client *client) {
    int before = client_pause(client);

    if (client->driver->left != NULL)
        client->driver->left(client->self);
    cancel_allow(before);
}

/* The end of every call: what was put in is carried out, and whoever it concerns is told. */
void client_leave(fencepost_client *client) {
    client_settle(client);
    client_wake(client);
    if (client->driving)
        client_signal(client->wake);
    client_tell_loop(client);
    keeper_look(client);
    client_unlock_and_tell(client);
}

fencepost_hub *fencepost_client_enter(fencepost_client *client) {
    if (!IS_OURS(client))
        return NULL;
    client_lock(client);
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
