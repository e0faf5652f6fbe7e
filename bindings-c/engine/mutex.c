/* The client's mutex, and the wake words of sleeping threads. A thread that holds the mutex or sleeps inside a call
 * cannot be cancelled there, because it would leave an incomplete change. `pthread_cancel` takes effect when the call
 * has returned. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* The clock of the system call stops while the computer is suspended, so sleeps are short (microseconds). */
#define LONGEST_SLEEP 60000000u

void client_lock(fencepost_client *client) {
    int before = cancel_hold();

    pthread_mutex_lock(&client->mutex);
    client->cancel_state = before;
}

/* Removes a sleeper from the queue of sleepers to wake, if it is in the queue. */
static void uncall(fencepost_client *client, struct sleeper *sleeper) {
    if (sleeper->place == NULL)
        return;
    *sleeper->place = sleeper->next;
    *(sleeper->next != NULL ? &sleeper->next->place : &client->called_end) = sleeper->place;
    sleeper->place = NULL;
}

/* Takes the next sleepers to wake from their queue. Returns their number. */
static unsigned take_called(fencepost_client *client, unsigned **wake_words) {
    unsigned count = 0;

    while (count < WAKES && client->called != NULL) {
        struct sleeper *sleeper = client->called;

        wake_words[count++] = &sleeper->wake_word;
        uncall(client, sleeper);
    }
    return count;
}

/* Unlocks the mutex for a while inside a call, and then wakes sleepers. If it woke them earlier, they would find the
 * mutex locked, and sleep again. For the same reason, it wakes only a few: each of them wakes the next ones when it
 * unlocks the mutex. Returns the argument of `client_resume`. */
int client_pause(fencepost_client *client) {
    unsigned *wake_words[WAKES], count = take_called(client, wake_words), i;
    int before = client->cancel_state;

    pthread_mutex_unlock(&client->mutex);
    /* The sleeper may have returned already. The system call uses only the address: another sleeper at the same address
     * wakes up once without need. */
    for (i = 0; i < count; i++)
        syscall(SYS_futex, wake_words[i], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
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

/* Wakes a sleeper, after the mutex is unlocked. The caller holds the mutex. */
void client_call(fencepost_client *client, struct sleeper *sleeper) {
    if (sleeper->wake_word)
        return;
    sleeper->wake_word = 1;
    sleeper->next = NULL;
    sleeper->place = client->called == NULL ? &client->called : client->called_end;
    *sleeper->place = sleeper;
    client->called_end = &sleeper->next;
}

/* Sleeps, without the mutex, until another thread wakes the sleeper. It may wake up early. */
void client_sleep(fencepost_client *client, struct sleeper *sleeper, uint64_t until) {
    uint64_t left = until - fencepost_now();
    long limit[2]; /* the type that the system call takes; a timespec may differ */
    int before;

    uncall(client, sleeper); /* it was in the queue while it was awake */
    sleeper->wake_word = 0;
    if (until != FENCEPOST_NEVER) {
        if ((int64_t)left <= 0)
            return;
        if (left > LONGEST_SLEEP)
            left = LONGEST_SLEEP;
        limit[0] = (long)(left / 1000000u);
        limit[1] = (long)(left % 1000000u) * 1000;
    }
    before = client_pause(client);
    syscall(SYS_futex, &sleeper->wake_word, FUTEX_WAIT_PRIVATE, 0, until == FENCEPOST_NEVER ? NULL : limit, NULL, 0);
    client_resume(client, before);
    uncall(client, sleeper);
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
