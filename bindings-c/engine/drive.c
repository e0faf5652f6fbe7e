/* What drives the hub. Whoever holds the client's lock puts something in; before it is given back, the hub is polled
 * dry. */
#define _GNU_SOURCE
#include <poll.h>

#include "internal.h"

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
        client->sink->event(client, output->key, output->event);
        break;
    case FENCEPOST_OUTPUT_KIND_WAIT:
        client->until = output->wait->until;
        break;
    }
}

/* Polls the hub dry: commands to the driver, in their order; events to the sink. */
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

/* When something is due: for the hub, the sink, the driver or a close. */
uint64_t client_until(fencepost_client *client) {
    uint64_t until = client->until, other = client->sink->until(client);

    if (other < until)
        until = other;
    if (client->driver->until != NULL && (other = client->driver->until(client->self)) < until)
        until = other;
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
    client->sink->due(client, now);
    client_pump(client);
}

/* Wakes the program's loop if it has to look: something has happened, or it would look too late. With the lock. */
void client_tell_loop(fencepost_client *client) {
    if (client->looped && (client->stirred || client_until(client) < client->looped_until))
        client_signal(client->news);
    client->stirred = false;
}
