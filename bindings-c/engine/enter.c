/* The beginning and the end of every call of the program, and of every call of the driver's library. */
#include "internal.h"

/* Begins a call that is allowed while the client closes. */
fencepost_result client_enter_late(fencepost_client *client) {
    if (client == NULL)
        return fault(FENCEPOST_RESULT_NULL_POINTER, NULL);
    /* The mutex must not be touched after a fork: another thread of the parent may have held it. */
    if (!IS_OURS(client))
        return fault(FENCEPOST_RESULT_WRONG_PROCESS, NULL);
    client_lock(client);
    if (client->closed) {
        client_unlock(client);
        return fault(FENCEPOST_RESULT_CLIENT_CLOSED, NULL);
    }
    return FENCEPOST_RESULT_OK;
}

/* Begins every other call of the program. */
fencepost_result client_enter(fencepost_client *client) {
    fencepost_result result = client_enter_late(client);

    if (result == FENCEPOST_RESULT_OK && client->closing) {
        client_unlock(client);
        result = fault(FENCEPOST_RESULT_CLIENT_CLOSED, NULL);
    }
    return result;
}

/* Unlocks the mutex, and calls the driver's `left`. */
void client_unlock_and_notify(fencepost_client *client) {
    int before = client_pause(client);

    if (client->driver->left != NULL)
        client->driver->left(client->self);
    cancel_allow(before);
}

/* Ends every call: carries out the hub's outputs, and wakes the calls that they concern. */
void client_leave(fencepost_client *client) {
    client_settle(client);
    client_wake(client);
    client_wake_driver(client);
    client_notify_loop(client);
    background_look(client);
    client_unlock_and_notify(client);
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
