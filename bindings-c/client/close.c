/* The end of a client: at once, or step by step in an event loop. */
#include "internal.h"

/* How long to wait for the server's answers, for a driver whose own end takes no time: the rest is for threads to end.
 */
#define PATIENCE_OF_CLOSE (PATIENCE_OF_RELEASE - 200000u)

/* Nothing is held or asked for from here on. With the lock. */
static void begin(fencepost_client *client) {
    client->closing = true;
    client->close_by = fencepost_now() + PATIENCE_OF_CLOSE - client->driver->farewell;
    if (client->driver->closing != NULL)
        client->driver->closing(client->self, client->hub);
    table_each(&client->contenders, contender_closed);
    fencepost_hub_shutdown(client->hub, fencepost_now());
    client->stirred = true;
    client_pump(client);
    client_wake(client);
    if (client->driving)
        client_signal(client->wake); /* who drives is told, too */
}

static bool is_settled(const void *subject) {
    return fencepost_hub_pending(((const fencepost_client *)subject)->hub) == 0;
}

/* Waits until no callback of the program's runs in the driver's library. With the lock. */
static void await_dispatch(fencepost_client *client) {
    int before = client_pause(client);

    client_resume(client, before);
    while (client->dispatching)
        pthread_cond_wait(&client->dispatched, &client->mutex);
    client->cancel_state = before;
}

/* Ends all use of the connection. With the lock, which it gives back. */
static fencepost_result finish(fencepost_client *client) {
    size_t unsettled = fencepost_hub_pending(client->hub);
    size_t left = unsettled + fencepost_hub_unreleased(client->hub);

    client->closed = true;
    client_wake(client);
    client_tell_loop(client);
    await_dispatch(client);
    client_unlock(client);
    if (client->driver->left != NULL)
        client->driver->left(client->self);
    keeper_stop(client);
    client->driver->close(client->self, unsettled > 0);
    if (left > 0)
        return fault(
            FENCEPOST_RESULT_CLEANUP_INCOMPLETE,
            "closed before the server had confirmed the release of %zu lock(s), or without the server's consent: they "
            "go with their lease or session",
            left);
    return FENCEPOST_RESULT_OK;
}

/* Takes the lock of a client that is open, or, with `begun`, whose end has begun. */
static fencepost_result enter(fencepost_client *client, bool begun) {
    fencepost_result result = begun ? client_enter_late(client) : client_enter(client);

    if (result == FENCEPOST_RESULT_OK && client_is_dispatcher(client)) {
        client_unlock(client);
        result = fault(FENCEPOST_RESULT_WOULD_BLOCK, "a callback of the connection cannot close its client");
    }
    return result;
}

static fencepost_result close_client(fencepost_client *client) {
    fencepost_result result = enter(client, true);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    if (client->closing && !client->closes_stepwise) {
        client_unlock(client);
        return fault(FENCEPOST_RESULT_CLIENT_CLOSED, NULL);
    }
    client->closes_stepwise = false;
    if (!client->closing)
        begin(client);
    if (client->driver->descriptor(client->self) != FENCEPOST_OWNER_DRIVEN)
        client_wait(client, is_settled, client, client->close_by);
    return finish(client);
}

fencepost_result fencepost_close(fencepost_client *client) {
    int before = cancel_hold();
    fencepost_result result = close_client(client);

    cancel_allow(before);
    return result;
}

fencepost_result fencepost_close_start(fencepost_client *client) {
    fencepost_result result = enter(client, false);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    client->closes_stepwise = true;
    begin(client);
    client_leave(client);
    return FENCEPOST_RESULT_OK;
}

static fencepost_result close_finish(fencepost_client *client) {
    fencepost_result result = enter(client, true);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    if (!client->closes_stepwise) {
        client_unlock(client);
        return fault(FENCEPOST_RESULT_CLIENT_CLOSED, "no close of this client is under way");
    }
    if (!is_settled(client) && fencepost_now() < client->close_by) {
        client_unlock(client);
        return FENCEPOST_RESULT_PENDING;
    }
    client->closes_stepwise = false;
    return finish(client);
}

fencepost_result fencepost_close_finish(fencepost_client *client) {
    int before = cancel_hold();
    fencepost_result result = close_finish(client);

    cancel_allow(before);
    return result;
}
