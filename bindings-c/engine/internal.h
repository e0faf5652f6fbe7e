/* Shared declarations of the engine. The engine drives a client's hub: it passes commands to the driver, reports
 * outcomes and notices to the hub, and lets threads wait. It does not know about locks. */
#ifndef FENCEPOST_ENGINE_INTERNAL_H
#define FENCEPOST_ENGINE_INTERNAL_H

#include <poll.h>
#include <pthread.h>

#include "fencepost-driver.h"

struct waiter; /* see wait.c */
struct locks;  /* the locks of the client, in client/ */

/* The functions of client/ that the engine calls. The engine holds the client's mutex during these calls, except for
 * `free`. */
struct sink {
    /* Handles an event of a contender. */
    void (*event)(fencepost_client *client, uint64_t key, const fencepost_event *event);
    /* When `due` has something to do. */
    uint64_t (*until)(const fencepost_client *client);
    void (*due)(fencepost_client *client, uint64_t now);
    void (*free)(struct locks *locks);
};

/* A message of the client library about one of the last commands. */
struct note {
    uint64_t command;
    char text[160];
};

#define NOTES 16

/* A thread that sleeps, or may sleep. */
struct sleeper {
    unsigned wake_word;            /* not 0: another thread woke it, and it has not run yet */
    struct sleeper *next, **place; /* in the queue of those to wake; without a place, it is in no queue */
};

/* How many sleepers a thread wakes when it unlocks the mutex. Each of them wakes the next ones when it unlocks the
 * mutex. With one, a delayed thread (in a signal handler, for example) would delay all threads after it. With more,
 * they would find the mutex locked. */
#define WAKES 4

/* Random bytes that no contender has used yet. */
struct pool {
    uint8_t bytes[384];
    size_t used;
};

struct fencepost_client {
    pthread_mutex_t mutex;
    int cancel_state; /* of the thread that holds the mutex, before it locked the mutex */
    unsigned references;
    unsigned process; /* see process.c */

    fencepost_hub *hub;
    const fencepost_driver *driver;
    void *self; /* the driver */
    const struct sink *sink;
    struct locks *locks;
    struct note notes[NOTES];
    unsigned next_note;

    uint64_t until;         /* the time of the hub's timer */
    uint64_t turns;         /* of the program's loop */
    uint64_t late;          /* the time of the last timer that was found to be late */
    uint64_t late_since;    /* the turn in which it was found */
    bool moved;             /* an input was reported to the hub, and its outputs were not polled yet */
    bool driving;           /* a thread sleeps on the driver's descriptor */
    uint64_t driven_until;  /* when it wakes up by itself */
    unsigned asking;        /* the number of acquires without a result */
    struct waiter *waiters; /* threads that sleep in blocking calls: the newest */
    struct waiter *oldest;  /* the oldest of them */
    struct waiter *closers; /* those of them that wait for the end of the close */
    struct waiter *watcher; /* the waiter that handles the timers, for a driver without a descriptor */
    unsigned woken;         /* the number of waiters that were woken and have not run yet */
    bool looped;            /* the program's event loop drives the client */
    bool stirred;           /* the program's loop has to be woken */
    uint64_t looped_until;  /* when the program's loop wakes up by itself */
    bool dispatching;       /* a thread is in the driver's library, without the mutex; see drive.c */
    pthread_t dispatcher;   /* which thread */
    pthread_cond_t dispatched;
    bool closing;
    bool closes_stepwise; /* the program closes step by step, and has not finished */
    uint64_t close_by;
    bool closed;
    pthread_t closer; /* the thread that closes the connection, once `closed` is set */
    bool over;        /* the close has ended */
    pthread_cond_t ended;
    int wake; /* eventfd: for the thread that sleeps on the driver's descriptor */
    int news; /* eventfd: for the program's loop, once the program has requested it */
    int loop; /* epoll: the driver's descriptor and `news`, once the program has requested it */

    const struct waiter *driven_for;         /* the waiter of the thread that drives; NULL: the background thread */
    struct pollfd polled[FENCEPOST_SOURCES]; /* what that thread polls */
    nfds_t polled_count;
    struct sleeper *called, **called_end; /* those to wake after the mutex is unlocked */

    pthread_t background;
    struct sleeper background_sleeper;
    bool background_runs;
    bool background_missing;    /* the background thread could not start */
    uint64_t background_due;    /* when it wakes up again */
    uint64_t background_called; /* the time for which it was last woken */
    uint64_t quiet_from;        /* the background thread listens from then on, if there is no call */
};

/* Each of these files uses only the files above it. */

/* fault.c */
fencepost_result fault(fencepost_result result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* process.c */
unsigned process_number(void);
#define IS_OURS(client) ((client)->process == process_number())

/* random.c */
fencepost_result random_take(struct pool *pool, uint8_t contender[16], uint64_t *seed);
uint64_t random_seed(void);

/* notes.c */
const char *client_noted(const fencepost_client *client, uint64_t command);

/* mutex.c */
void client_lock(fencepost_client *client);
void client_unlock(fencepost_client *client);
int client_pause(fencepost_client *client);
void client_resume(fencepost_client *client, int before);
void client_sleep(fencepost_client *client, struct sleeper *sleeper, uint64_t until);
void client_call(fencepost_client *client, struct sleeper *sleeper);
void client_signal(int descriptor);
void client_drain(int descriptor);

/* Blocks the cancellation of this thread until `cancel_allow`. Returns the state before. */
static inline int cancel_hold(void) {
    int before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void cancel_allow(int before) {
    pthread_setcancelstate(before, &before);
}

/* client.c */
fencepost_result client_new(
    fencepost_hub *hub, const fencepost_driver *driver, void *self, const struct sink *sink, struct locks *locks,
    fencepost_client **client);

/* drive.c */
void client_pump(fencepost_client *client);
void client_settle(fencepost_client *client);
void client_advance(fencepost_client *client);
uint64_t client_until(const fencepost_client *client);
bool client_is_dispatcher(const fencepost_client *client);
bool client_has_more(const fencepost_client *client);
void client_notify_loop(fencepost_client *client);

/* wait.c */
typedef bool client_condition(const void *subject);
bool client_wait(
    fencepost_client *client, struct waiter **list, client_condition *condition, const void *subject,
    uint64_t deadline);
void client_changed(fencepost_client *client, struct waiter *list);
void client_taken(fencepost_client *client, struct waiter **list);
void client_wake(fencepost_client *client);
void client_wake_all(fencepost_client *client);
fencepost_result client_may_block(const fencepost_client *client);
uint64_t client_deadline(int64_t timeout);
void client_poll(fencepost_client *client, const struct waiter *waiter, uint64_t now, uint64_t until);
void client_wake_driver(fencepost_client *client);

/* background.c */
void background_look(fencepost_client *client);
void background_stop(fencepost_client *client);

/* enter.c */
fencepost_result client_enter(fencepost_client *client);
fencepost_result client_enter_late(fencepost_client *client);
void client_leave(fencepost_client *client);
void client_unlock_and_notify(fencepost_client *client);

#endif
