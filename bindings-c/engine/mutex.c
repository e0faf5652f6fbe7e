/* The client's lock, and the bells of those who sleep. A thread that has the lock, or sleeps in the middle of a call,
 * is not cancelled there: what it has begun would stay half done, and the client would wait for it. `pthread_cancel`
 * acts when the call has returned. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* The time of such sleeps stands still while the computer sleeps, so they are cut short (microseconds). */
#define LONGEST_SLEEP 60000000u

void client_lock(fencepost_client *client) {
    int before = cancel_hold();

    pthread_mutex_lock(&client->mutex);
    client->cancel_state = before;
}

/* Whose bell it is may have looked and gone: only its address is used, and whoever has something else there looks once
 * more than he had to. */
static void ring(unsigned *bell) {
    if (bell != NULL)
        syscall(SYS_futex, bell, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Gives the lock back for a while, in the middle of a call. Only then wakes whom it has called: he would find the lock
 * taken, and fall asleep again. Gives what `client_resume` has to be given. */
int client_pause(fencepost_client *client) {
    int before = client->cancel_state;
    unsigned *bell = client->to_ring;

    client->to_ring = NULL;
    pthread_mutex_unlock(&client->mutex);
    ring(bell);
    return before;
}

/* Takes the lock again. */
void client_resume(fencepost_client *client, int before) {
    pthread_mutex_lock(&client->mutex);
    client->cancel_state = before;
}

void client_unlock(fencepost_client *client) {
    cancel_allow(client_pause(client));
}

/* Calls who sleeps by a bell. With the lock. */
void client_call(fencepost_client *client, unsigned *bell) {
    *bell = 1;
    ring(client->to_ring); /* one can wait for the unlocking */
    client->to_ring = bell;
}

/* Sleeps until it is called, without the lock. It may wake early. */
void client_sleep(fencepost_client *client, unsigned *bell, uint64_t until) {
    uint64_t left = until - fencepost_now();
    long limit[2]; /* as the call has it, whatever a timespec is */
    int before;

    *bell = 0;
    if (until != FENCEPOST_NEVER) {
        if ((int64_t)left <= 0)
            return;
        if (left > LONGEST_SLEEP)
            left = LONGEST_SLEEP;
        limit[0] = (long)(left / 1000000u);
        limit[1] = (long)(left % 1000000u) * 1000;
    }
    before = client_pause(client);
    syscall(SYS_futex, bell, FUTEX_WAIT_PRIVATE, 0, until == FENCEPOST_NEVER ? NULL : limit, NULL, 0);
    client_resume(client, before);
}

/* Makes an eventfd readable. */
void client_signal(int descriptor) {
    uint64_t one = 1;

    /* It fails only when it is full: then its reader is awake. */
    if (write(descriptor, &one, sizeof one) < 0)
        return;
}

/* Makes an eventfd unreadable. */
void client_drain(int descriptor) {
    uint64_t count;

    if (read(descriptor, &count, sizeof count) < 0)
        return; /* it was empty */
}
