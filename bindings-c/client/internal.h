/* What the files of client/ share: what a program meets. */
#ifndef FENCEPOST_CLIENT_INTERNAL_H
#define FENCEPOST_CLIENT_INTERNAL_H

#include <string.h>

#include "../engine/internal.h"

/* How long to wait for the server's last words. */
#define RELEASE_LIMIT 5000000u

struct machine; /* see machines.c */

/* A claim that was lost is LAPSED: it may still be ended. */
enum stage { ASKING, HELD, EXTENDING, RELEASING, LAPSED, OVER };

/* How a claim ends. */
enum end { NO_END, RELEASE, COMPLETE, LEAVE };

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
    uint64_t retry_after;     /* why it was refused: how long another's lease lasts, or FENCEPOST_NEVER */
    fencepost_record *record; /* what is stored, as far as the server has said, or NULL */
    uint64_t deleted;         /* how many records a sweep has deleted */
    struct claimed *claimed;  /* of a claim; NULL of a lock and of a single step */
    uint64_t takeovers;       /* of a claim */
    enum end end;             /* of a claim: the end whose result no call has returned yet */
    bool taken;               /* the program has been given it */
};

/* Which operation a claim is for. */
struct claimed {
    fencepost_idempotency *of;
    char key[];
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

/* The machine that has given its lock back last: the next acquire of the same lock is its next attempt, and costs half
 * of what a new machine does. Never one of an owner: a hold may be over while the machine serves the owner's others. */
struct spare {
    uint64_t key; /* 0: there is none */
    uint64_t lock;
};

/* What a client keeps of its locks. */
struct locks {
    char *server;     /* its name in settings */
    const char *kind; /* where the options do not say another; behind the server */
    char *prefix;
    struct table contenders;
    void *machines;     /* of owners: a tree, by their random bytes */
    uint64_t last_lock; /* the number of the newest */
    struct spare spare;
    struct pool random;
    uint64_t connect_within;  /* how long an acquire waits for the first connection */
    uint64_t reach_by;        /* when the first acquire will have waited so long */
    fencepost_grant *untaken; /* grants that no program has yet */
};

/* Each file uses those above it. */

static inline fencepost_view view_of(const char *text) {
    fencepost_view view = {(const uint8_t *)text, text == NULL ? 0 : strlen(text)};

    return view;
}

/* table.c */
bool table_add(struct table *table, fencepost_grant *contender);
fencepost_grant *table_find(const struct table *table, uint64_t key);
void table_remove(struct table *table, uint64_t key);
void table_each(struct table *table, void (*visit)(fencepost_grant *));
void table_free(struct table *table);

/* found.c */
fencepost_contenders *contenders_copy(const fencepost_found *const *found, size_t count);

/* record.c */
fencepost_record *record_copy(const fencepost_record *record);

/* machines.c */
bool machine_add(fencepost_grant *contender, const uint8_t bytes[16]);
void machine_granted(fencepost_grant *contender, const uint8_t bytes[16]);
bool machine_leave(fencepost_grant *contender, uint64_t *key);

/* deadlines.c */
const char *client_absence(const fencepost_client *client);
void deadline_to_take(fencepost_grant *contender);
void deadline_to_reach(fencepost_grant *contender);
void deadlines_forget(fencepost_grant *contender);
uint64_t deadlines_until(const fencepost_client *client);

/* conditions.c */
fencepost_result contender_fault(const fencepost_grant *contender);
bool contender_is_held(const fencepost_grant *contender);
bool contender_wait(fencepost_grant *contender, client_condition *condition, uint64_t deadline);
client_condition contender_decided, contender_over, contender_ended, contender_extended, contender_turned,
    contender_wanted;

/* contender.c */
#define TRY 0 /* an acquire timeout that `fencepost_hub_acquire` would refuse */
fencepost_result contender_open(fencepost_lock *lock, int64_t acquire_timeout, fencepost_grant **contender);
void contender_event(fencepost_client *client, uint64_t key, const fencepost_event *event);
void contender_closed(fencepost_grant *contender);
void contender_give_up(fencepost_grant *contender, fencepost_result result, const char *why);
void contender_free(fencepost_grant *contender);
void contender_forget(fencepost_grant *contender);

/* overdue.c */
void overdue_look(fencepost_client *client, uint64_t now);

/* pending.c */
typedef fencepost_result opening(fencepost_lock *lock, const void *what, fencepost_grant **contender);
fencepost_result pending_start(fencepost_lock *lock, opening *open, const void *what, struct pending **started);
void pending_free(struct pending *pending);

/* acquire.c */
int64_t acquire_timeout_of(int64_t timeout);
fencepost_result acquire_opened(fencepost_lock *lock, opening *open, const void *what, fencepost_grant **grant);

/* ends.c */
struct content {
    const char *tag;
    const void *bytes;
    size_t size;
};
fencepost_result claim_end(fencepost_grant *claim, enum end end, const struct content *content);
fencepost_result claim_ended(fencepost_grant *claim, enum end end);

/* operations.c */
struct operation {
    fencepost_result (*start)(fencepost_grant *grant, const void *what);
    fencepost_result (*finish)(fencepost_grant *grant);
    client_condition *is_finished;
    uint64_t limit;        /* for how long the blocking form waits, in microseconds */
    fencepost_result late; /* what it returns after that */
};
fencepost_result operation_run(fencepost_grant *grant, const struct operation *operation, const void *what);
fencepost_result operation_start(fencepost_grant *grant, const struct operation *operation, const void *what);
fencepost_result operation_finish(fencepost_grant *grant, const struct operation *operation);

/* idempotency.c */
struct fencepost_idempotency {
    fencepost_client *client;
    fencepost_scope *scope;
    unsigned references; /* the program's, and those of its claims */
};
fencepost_idempotency *idempotency_ref(fencepost_idempotency *idempotency);
void idempotency_unref(fencepost_idempotency *idempotency);

/* options.c */
fencepost_result
options_check(const fencepost_client *client, const char *name, const fencepost_options *options, fencepost_lock *lock);
int64_t micros_of(int64_t millis);

/* lock.c */
fencepost_result
lock_new(fencepost_client *client, const char *name, const fencepost_options *options, fencepost_lock **lock);

/* grant.c */
fencepost_result grant_enter(const fencepost_grant *grant);
bool grant_observe(const fencepost_grant *grant);

#endif
