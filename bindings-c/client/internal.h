/* What the files of libfencepost-client share. */
#ifndef FENCEPOST_CLIENT_INTERNAL_H
#define FENCEPOST_CLIENT_INTERNAL_H

#include <pthread.h>

#include "fencepost-driver.h"

/* How long to wait for the server's last words. */
#define PATIENCE_OF_RELEASE 5000000u

struct machine; /* see machines.c */

enum stage { ASKING, HELD, EXTENDING, RELEASING, OVER };

/* What became of the wish to be a reader. */
enum turn { STAYS, TURNS, TURNED, REFUSED };

/* One contender, from its acquire to its end: what an attempt and then a grant stand for. It is one key of the hub. */
struct fencepost_grant {
    fencepost_client *client;
    uint64_t key;
    uint64_t lock;    /* the number of its lock; 0: of an inspection */
    uint32_t attempt; /* of its machine's, the granted one */
    enum stage stage;
    fencepost_result result; /* why it was refused or lost; success after a release */
    bool known_released;     /* the result of the release has been told */
    bool suspended;
    bool lost;
    bool wanted; /* somebody has asked for the lock */
    bool has_fence;
    uint64_t fence;
    uint64_t valid_until;
    int64_t ahead;
    char *detail;                 /* in words; NULL: the result's own */
    char *stranger;               /* a node of another layout, or NULL */
    fencepost_contenders *found;  /* by an inspection, which is a contender that is never granted */
    struct fencepost_grant *next; /* in the bucket of its key */
    struct machine *machine;      /* which serves it; NULL without an owner, and when it is over */
    enum turn turn;
    fencepost_result refusal;                              /* why it stays a writer */
    uint64_t reach_by;                                     /* an acquire: when the first connection has to be there */
    bool untaken;                                          /* of an attempt: the program has not been given it */
    uint64_t take_by;                                      /* ... and, once granted, when it is given back */
    struct fencepost_grant *next_untaken, **untaken_place; /* among those that are granted */
    struct waiter *waiters;                                /* threads that sleep until something of it has changed */
};

/* What has been begun and is not waited for. */
struct pending {
    fencepost_grant *contender; /* NULL once it has been taken as a grant */
    fencepost_client *client;
};

struct fencepost_lock {
    fencepost_client *client;
    uint64_t number; /* changes with the settings */
    fencepost_settings *settings;
    char *owned; /* the name of a lock that has an owner, or NULL */
};

struct table {
    fencepost_grant **buckets;
    size_t size; /* a power of two */
    size_t count;
};

/* What client libraries have said of the last commands. */
struct note {
    uint64_t command;
    char text[160];
};

#define NOTES 16

struct waiter; /* see wait.c */

/* The machine that has given its lock back last: the next acquire of the same lock is its next attempt, and costs half
 * of what a new machine does. Never one of an owner: a hold may be over while the machine serves the owner's others. */
struct spare {
    uint64_t key; /* 0: there is none */
    uint64_t lock;
};

/* Random bytes that nobody has used yet. */
struct pool {
    uint8_t bytes[384];
    size_t used;
};

struct fencepost_client {
    pthread_mutex_t mutex;
    int cancel_state; /* of the thread that has the lock, from before it took the lock */
    unsigned references;
    unsigned process; /* see process.c */

    fencepost_hub *hub;
    const fencepost_driver *driver;
    void *self;
    char *server;     /* its name in settings */
    const char *kind; /* of its locks, where the options do not say another; behind the server */
    char *prefix;
    struct table contenders;
    void *machines; /* of owners: a tree, by their random bytes */
    struct note notes[NOTES];
    unsigned next_note;

    uint64_t last_lock; /* the number of the newest */
    struct spare spare;
    struct pool random;
    uint64_t until;           /* when the hub wants to be called */
    uint64_t connect_within;  /* how long an acquire waits for the first connection */
    uint64_t reach_by;        /* when the first acquire will have waited so long */
    fencepost_grant *untaken; /* grants that no program has yet */
    uint64_t turns;           /* of the program's loop */
    uint64_t late;            /* the time of the last timer that was found to be late */
    uint64_t late_since;      /* the turn in which it was */
    bool unkept;              /* no thread could be made that renews */
    bool moved;               /* something was put into the hub, and not taken out yet */
    bool driving;             /* a thread sleeps on the driver's descriptor */
    uint64_t driven_until;    /* when it will look by itself */
    unsigned asking;          /* attempts that are not decided */
    struct waiter *waiters;   /* threads that sleep in blocking calls: the newest */
    struct waiter *oldest;    /* of them */
    struct waiter *closers;   /* those of them that wait for the client's end */
    struct waiter *watcher;   /* the one that looks at the timers, of a driver without a descriptor */
    unsigned woken;           /* waiters that were woken, and have not looked yet */
    unsigned *to_ring;        /* the bell of whom to wake, once the lock is given back */
    bool looped;              /* the program drives */
    bool stirred;             /* something has happened that the program's loop does not know of */
    uint64_t looped_until;    /* when the program's loop will look by itself */
    bool dispatching;         /* a thread is in the driver's library, without the lock; see enter.c */
    pthread_t dispatcher;     /* which */
    pthread_cond_t dispatched;
    bool closing;
    bool closes_stepwise; /* and the last step has not been done */
    uint64_t close_by;
    bool closed;
    pthread_t closer; /* who closes the connection, once `closed` is set */
    bool over;        /* the close has ended */
    pthread_cond_t ended;
    int wake; /* eventfd: for the thread that sleeps on the driver's descriptor */
    int news; /* eventfd: for the program's loop, once asked for */
    int loop; /* epoll: the driver's descriptor and `news`, once asked for */

    pthread_t keeper;
    unsigned keeper_bell;
    bool keeper_runs;
    uint64_t keeper_due;    /* when it will look again */
    uint64_t keeper_called; /* what it was last called for */
    uint64_t quiet_from;    /* nobody has called for a while: the keeper listens */
};

/* mutex.c */
void client_lock(fencepost_client *client);
void client_unlock(fencepost_client *client);
int client_pause(fencepost_client *client);
void client_resume(fencepost_client *client, int before);
void client_sleep(fencepost_client *client, unsigned *bell, uint64_t until);
void client_call(fencepost_client *client, unsigned *bell);

/* No cancellation of this thread until `cancel_allow`; says what was before. */
static inline int cancel_hold(void) {
    int before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void cancel_allow(int before) {
    pthread_setcancelstate(before, &before);
}

/* enter.c */
fencepost_result client_enter(fencepost_client *client);
fencepost_result client_enter_late(fencepost_client *client);
bool client_is_dispatcher(const fencepost_client *client);
void client_tell_loop(fencepost_client *client);
void client_leave(fencepost_client *client);
void client_unlock_and_tell(fencepost_client *client);
void client_pump(fencepost_client *client);
void client_settle(fencepost_client *client);
void client_advance(fencepost_client *client);
uint64_t client_until(fencepost_client *client);
void client_signal(int descriptor);
void client_drain(int descriptor);

/* wait.c */
typedef bool client_condition(const void *subject);
bool client_wait(
    fencepost_client *client, fencepost_grant *contender, client_condition *condition, const void *subject,
    uint64_t deadline);
void client_changed(const fencepost_grant *contender);
void client_taken(fencepost_grant *contender);
void client_wake(fencepost_client *client);
void client_wake_all(fencepost_client *client);
fencepost_result client_may_block(const fencepost_client *client);
uint64_t client_deadline(int64_t timeout);
void client_poll(fencepost_client *client, uint64_t now, uint64_t until);

/* close.c */
bool close_is_inside(const fencepost_client *client);

/* background.c */
void keeper_look(fencepost_client *client);
void keeper_stop(fencepost_client *client);

/* contender.c */
#define LONGEST_PATIENCE (365 * 86400 * INT64_C(1000000))
#define TRY 0 /* a patience that `fencepost_hub_acquire` would refuse */
fencepost_result contender_open(fencepost_lock *lock, int64_t patience, fencepost_grant **contender);
void contender_event(fencepost_client *client, uint64_t key, const fencepost_event *event);
void contender_closed(fencepost_grant *contender);
void contender_give_up(fencepost_grant *contender, fencepost_result result, const char *why);
bool contender_is_held(const fencepost_grant *contender);
void contender_free(fencepost_grant *contender);
void contender_forget(fencepost_grant *contender);
fencepost_result contender_fault(const fencepost_grant *contender);
client_condition contender_decided, contender_over, contender_extended, contender_turned, contender_wanted;

/* grant.c */
fencepost_result grant_enter(const fencepost_grant *grant);

/* lock.c */
fencepost_result
lock_new(fencepost_client *client, const char *name, const fencepost_options *options, fencepost_lock **lock);

/* options.c */
fencepost_result
options_check(const fencepost_client *client, const char *name, const fencepost_options *options, fencepost_lock *lock);
int64_t micros_of(int64_t millis);

/* machines.c */
bool machine_add(fencepost_grant *contender, const uint8_t bytes[16]);
void machine_granted(fencepost_grant *contender, const uint8_t bytes[16]);
bool machine_leave(fencepost_grant *contender, uint64_t *key);

/* overdue.c */
void overdue_granted(fencepost_grant *contender);
void overdue_forget(fencepost_grant *contender);
void overdue_asked(fencepost_grant *contender);
uint64_t overdue_until(const fencepost_client *client);
void overdue_look(fencepost_client *client, uint64_t now);

/* pending.c */
typedef fencepost_result opening(fencepost_lock *lock, const void *what, fencepost_grant **contender);
fencepost_result pending_start(fencepost_lock *lock, opening *open, const void *what, struct pending **started);
void pending_free(struct pending *pending);

/* inspection.c */
fencepost_contenders *contenders_copy(const fencepost_found *const *found, size_t count);

/* table.c */
bool table_add(struct table *table, fencepost_grant *contender);
fencepost_grant *table_find(const struct table *table, uint64_t key);
void table_remove(struct table *table, uint64_t key);
void table_each(struct table *table, void (*visit)(fencepost_grant *));
void table_free(struct table *table);

/* memory.c */
fencepost_result memory_connect(const char *name, size_t size, fencepost_client **client);

/* process.c */
unsigned process_number(void);
#define IS_OURS(client) ((client)->process == process_number())

/* fault.c */
fencepost_result fault(fencepost_result result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* random.c */
fencepost_result random_take(struct pool *pool, uint8_t owner[16], uint64_t *seed);
uint64_t random_seed(void);

#endif
