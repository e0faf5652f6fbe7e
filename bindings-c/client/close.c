/* Closes a client: in one call, or step by step in an event loop. */
#include "internal.h"

/* How long a close waits for the server's replies, if the driver itself needs no time to close. The rest of the limit
 * is for the end of the threads. */
#define CLOSE_LIMIT (RELEASE_LIMIT - 200000u)

/* Begins to close: ends all grants and acquires. The caller holds the mutex. */
static void begin(fencepost_client *client) {
    client->closing = true;
    client->close_by = fencepost_now() + CLOSE_LIMIT - client->driver->close_time;
    if (client->driver->closing != NULL)
        client->driver->closing(client->self, client->hub);
    table_each(&client->locks->contenders, contender_closed);
    fencepost_hub_shutdown(client->hub, fencepost_now());
    client->stirred = true;
    client_pump(client);
    client_wake(client);
    if (client->driving)
        client_signal(client->wake); /* for the thread that drives */
}

static bool is_settled(const void *subject) {
    return fencepost_hub_pending(((const fencepost_client *)subject)->hub) == 0;
}

/* Waits until another thread has changed the flag. The caller holds the mutex. */
static void await(fencepost_client *client, pthread_cond_t *change, const bool *flag, bool value) {
    int before = client_pause(client);

    client_resume(client, before);
    while (*flag != value)
        pthread_cond_wait(change, &client->mutex);
    client->cancel_state = before;
}

/* Ends all use of the connection. It is called with the mutex, and unlocks it. */
static fencepost_result finish(fencepost_client *client) {
    size_t unsettled = fencepost_hub_pending(client->hub);
    size_t left = unsettled + fencepost_hub_unreleased(client->hub);

    client->closed = true;
    client->closer = pthread_self();
    client_wake_all(client);
    client_notify_loop(client);
    await(client, &client->dispatched, &client->dispatching, false);
    client_unlock(client);
    if (client->driver->left != NULL)
        client->driver->left(client->self);
    background_stop(client);
    client->driver->close(client->self, unsettled > 0);
    client_lock(client);
    client->over = true;
    pthread_cond_broadcast(&client->ended);
    if (client->looped)
        client_signal(client->news);
    client_unlock(client);
    if (left > 0)
        return fault(
            FENCEPOST_RESULT_CLEANUP_INCOMPLETE,
            "closed before the server confirmed the release of %zu lock(s), or after it refused it: they end with "
            "their "
            "lease or session",
            left);
    return FENCEPOST_RESULT_OK;
}

/* Whether this thread is in a callback inside the client. If so, the close would wait for this thread itself. The
 * caller holds the mutex. */
static bool is_inside(const fencepost_client *client) {
    bool closes = client->closed && !client->over && pthread_equal(client->closer, pthread_self());

    return closes || client_is_dispatcher(client);
}

/* Locks the mutex, also if the client is closed. */
static fencepost_result enter(fencepost_client *client) {
    if (client == NULL)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    if (!IS_OURS(client))
        return fault(FENCEPOST_RESULT_WRONG_PROCESS, NULL);
    client_lock(client);
    if (!is_inside(client))
        return FENCEPOST_RESULT_OK;
    client_unlock(client);
    return fault(
        FENCEPOST_RESULT_WOULD_BLOCK,
        "a callback of the connection cannot close its client: close it after the callback");
}

static fencepost_result close_client(fencepost_client *client) {
    fencepost_result result = enter(client);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    if (client->closing && !client->closes_stepwise) {
        await(client, &client->ended, &client->over, true);
        client_unlock(client);
        return FENCEPOST_RESULT_OK;
    }
    client->closes_stepwise = false;
    if (!client->closing)
        begin(client);
    if (client->driver->descriptor(client->self) != FENCEPOST_OWNER_DRIVEN)
        client_wait(client, NULL, is_settled, client, client->close_by);
    return finish(client);
}

fencepost_result fencepost_close(fencepost_client *client) {
    int before = cancel_hold();
    fencepost_result result = close_client(client);

    cancel_allow(before);
    return result;
}

fencepost_result fencepost_close_start(fencepost_client *client) {
    fencepost_result result = enter(client);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    if (client->closing) {
        client_unlock(client);
        return FENCEPOST_RESULT_OK;
    }
    client->closes_stepwise = true;
    begin(client);
    client_leave(client);
    return FENCEPOST_RESULT_OK;
}

/* The result for a caller whose close another call finishes. The caller holds the mutex. */
static fencepost_result progress(const fencepost_client *client) {
    if (!client->closing)
        return fault(FENCEPOST_RESULT_CLIENT_CLOSED, "no close of this client has begun: call fencepost_close_start");
    return client->over ? FENCEPOST_RESULT_OK : FENCEPOST_RESULT_PENDING;
}

static fencepost_result close_finish(fencepost_client *client) {
    fencepost_result result = enter(client);

    if (result != FENCEPOST_RESULT_OK)
        return result;
    if (!client->closes_stepwise || (!is_settled(client) && fencepost_now() < client->close_by)) {
        result = progress(client);
        client_unlock(client);
        return result;
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

void fencepost_client_free(fencepost_client *client) {
    bool inside;

    if (client == NULL || !IS_OURS(client))
        return;
    client_lock(client);
    inside = is_inside(client);
    client_unlock(client);
    if (inside)
        return;              /* in a callback of the program: this thread still uses the client afterwards */
    fencepost_close(client); /* a second close waits until the thread that closes has ended */
    fencepost_client_unref(client);
}
