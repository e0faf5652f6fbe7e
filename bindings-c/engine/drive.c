/* Drives the hub. A thread that holds the client's mutex reports inputs to the hub. Before it unlocks the mutex, it
 * polls the hub until no output is left. */
#define _GNU_SOURCE
#include <poll.h>

#include "internal.h"

/* The maximum number of reads before the hub handles a timer that is due. Each read returns thousands of bytes. */
#define MOST_LOOKS 256

/* A timer that is later than this, in microseconds, was delayed by a busy loop. */
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

/* Polls the hub until no output is left. Commands go to the driver, in their order; events go to the sink. */
void client_pump(fencepost_client *client) {
    fencepost_output output = {.size = sizeof output};
    bool unsent = false;

    for (;;) {
        if (fencepost_hub_poll_output(client->hub, FENCEPOST_ALL, &output) != FENCEPOST_RESULT_OK)
            return; /* after a panic, the hub has no outputs */
        read_output(client, &output);
        unsent = unsent || output.kind == FENCEPOST_OUTPUT_KIND_COMMAND;
        if (output.kind != FENCEPOST_OUTPUT_KIND_WAIT)
            continue;
        if (!unsent || client->driver->flush == NULL)
            break;
        client->driver->flush(client->self, client->hub); /* this may cause more outputs */
        unsent = false;
    }
    client->moved = false;
}

/* Does the same as `client_pump`, if this thread has reported an input. */
void client_settle(fencepost_client *client) {
    if (client->moved && !client->closed)
        client_pump(client);
}

/* When the hub, the sink, the driver or a close has something to do. */
uint64_t client_until(const fencepost_client *client) {
    uint64_t until = client->until, other = client->sink->until(client);

    if (other < until)
        until = other;
    if (client->driver->until != NULL && (other = client->driver->until(client->self)) < until)
        until = other;
    if (client->closes_stepwise && client->close_by < until)
        until = client->close_by;
    return until;
}

/* Whether this thread is in a callback that the driver's library calls from `dispatch`. The caller holds the mutex. */
bool client_is_dispatcher(const fencepost_client *client) {
    return client->dispatching && pthread_equal(client->dispatcher, pthread_self());
}

/* Lets the driver call a library that calls the program's callbacks. The thread unlocks the mutex for this, and only
 * one thread does it at a time.
 */
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

/* Reads what the server has sent. */
static void take_in(fencepost_client *client) {
    if (client->driver->process != NULL)
        client->driver->process(client->self, client->hub);
    dispatch(client);
}

/* Whether there is more to read. */
bool client_has_more(const fencepost_client *client) {
    struct pollfd source = {client->driver->descriptor(client->self), POLLIN, 0};

    return source.fd >= 0 && poll(&source, 1, 0) > 0;
}

/* Whether a late timer waits for one turn of the loop that reads the connection, because a reply may have arrived. */
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

/* Reads what the server has sent, and then handles the timers that are due. So a reply that has arrived is handled
 * before a late timer.
 */
void client_advance(fencepost_client *client) {
    int looks = MOST_LOOKS;
    uint64_t now;

    if (client->closed)
        return;
    take_in(client);
    while (!client->closed && fencepost_now() >= client->until && --looks > 0 && client_has_more(client))
        take_in(client);
    if (client->closed)
        return;
    now = fencepost_now();
    if (now >= client->until && !puts_off(client, now))
        fencepost_hub_handle_timeout(client->hub, now);
    client->sink->due(client, now);
    client_pump(client);
}

/* Wakes the program's loop if there is an event, or if the loop would wake up too late. The caller holds the mutex. */
void client_notify_loop(fencepost_client *client) {
    if (client->looped && (client->stirred || client_until(client) < client->looped_until))
        client_signal(client->news);
    client->stirred = false;
}
