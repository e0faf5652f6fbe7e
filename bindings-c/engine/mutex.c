/* The client's mutex, and the wake words of sleeping threads. A thread that holds the mutex or sleeps inside a call
 * cannot be cancelled there, because it would leave a half-done change. `pthread_cancel` acts when the call has
 * returned. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* The clock of such a sleep stops while the computer is suspended, so sleeps are short (microseconds). */
#define LONGEST_SLEEP 60000000u

void client_lock(fencepost_client *client) {
    int before = cancel_hold();

    pthread_mutex_lock(&client->mutex);
    client->cancel_state = before;
}

/* The owner of the wake word may have returned already. Only the address is used: another waiter with the same address
 * looks once more than necessary. */
static void wake_sleeper(unsigned *wake_word) {
    if (wake_word != NULL)
        syscall(SYS_futex, wake_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Unlocks the mutex for a while inside a call. Only then does it wake the waiter that was called: otherwise that waiter
 * would find the mutex locked, and sleep again. Returns what `client_resume` needs. */
int client_pause(fencepost_client *client) {
    int before = client->cancel_state;
    unsigned *wake_word = client->to_wake;

    client->to_wake = NULL;
    pthread_mutex_unlock(&client->mutex);
    wake_sleeper(wake_word);
    return before;
}

/* Locks the mutex again. */
void client_resume(fencepost_client *client, int before) {
    pthread_mutex_lock(&client->mutex);
    client->cancel_state = before;
}

void client_unlock(fencepost_client *client) {
    cancel_allow(client_pause(client));
}

/* Wakes the thread that sleeps on a wake word. With the mutex. */
void client_call(fencepost_client *client, unsigned *wake_word) {
    *wake_word = 1;
    wake_sleeper(client->to_wake); /* only one can wait until the mutex is unlocked */
    client->to_wake = wake_word;
}

/* Sleeps until the wake word is set, without the mutex. It may wake early. */
void client_sleep(fencepost_client *client, unsigned *wake_word, uint64_t until) {
    uint64_t left = until - fencepost_now();
    long limit[2]; /* the type that the system call takes; a timespec may differ */
    int before;

    *wake_word = 0;
    if (until != FENCEPOST_NEVER) {
        if ((int64_t)left <= 0)
            return;
        if (left > LONGEST_SLEEP)
            left = LONGEST_SLEEP;
        limit[0] = (long)(left / 1000000u);
        limit[1] = (long)(left % 1000000u) * 1000;
    }
    before = client_pause(client);
    syscall(SYS_futex, wake_word, FUTEX_WAIT_PRIVATE, 0, until == FENCEPOST_NEVER ? NULL : limit, NULL, 0);
    client_resume(client, before);
}

/* Makes an eventfd readable. */
void client_signal(int descriptor) {
    uint64_t one = 1;

    /* The write fails only if the eventfd is full. Then its reader is awake. */
    if (write(descriptor, &one, sizeof one) < 0)
        return;
}

/* Makes an eventfd unreadable. */
void client_drain(int descriptor) {
    uint64_t count;

    if (read(descriptor, &count, sizeof count) < 0)
        return; /* it was not readable */
}
