/* Shared declarations of client/, which has the functions that a program calls. */
#ifndef FENCEPOST_CLIENT_INTERNAL_H
#define FENCEPOST_CLIENT_INTERNAL_H

#include <string.h>

#include "../engine/internal.h"

/* How long a release waits for the server's reply, in microseconds. */
#define RELEASE_LIMIT 5000000u

/* A lost claim is LAPSED: the program may still end it. */
enum stage { ASKING, HELD, EXTENDING, RELEASING, LAPSED, OVER };

/* How a claim ends. */
enum end { NO_END, RELEASE, COMPLETE, LEAVE };

/* The state of a downgrade. */
enum downgrade { NO_DOWNGRADE, DOWNGRADING, DOWNGRADED, DOWNGRADE_REFUSED };

/* One contender, from its acquire to its end. The program sees it first as an attempt, and then as a grant. It has one
 * key of the hub. */
struct fencepost_grant {
    fencepost_client *client;
    uint64_t key;
    enum stage stage;
    fencepost_result result; /* why it was refused or lost; success after a release */
    bool known_released;     /* a call has returned the result of the release */
    bool suspended;
    bool lost;
    bool revoke_requested; /* another client has requested the lock */
    bool has_fence;
    uint64_t fence;
    uint64_t valid_until;
    int64_t ahead;
    char *detail;                 /* the text of `result`; NULL: its default text */
    char *foreign_node;           /* the node of a contender of another layout, or NULL */
    fencepost_contenders *found;  /* for an inspection, which is a contender without a grant */
    struct fencepost_grant *next; /* in the bucket of its key */
    bool extended;                /* the program has begun to extend it */
    enum downgrade downgrade;
    fencepost_result refusal;                              /* why the downgrade, or the end of a claim, was refused */
    char *refusal_detail;                                  /* the text of `refusal`; NULL: its default text */
    uint64_t reach_by;                                     /* for an acquire: the deadline for the first connection */
    bool untaken;                                          /* for an attempt: the program has not taken the grant */
    uint64_t take_by;                                      /* for a grant: the deadline for the program to take it */
    struct fencepost_grant *next_untaken, **untaken_place; /* in the list of grants that no program has taken */
    struct waiter *waiters;                                /* threads that sleep until the contender changes */
    uint64_t retry_after;     /* after a refusal: the holder's remaining lease, or FENCEPOST_NEVER */
    fencepost_record *record; /* the stored record, as the server reported it, or NULL */
    uint64_t deleted;         /* how many records a sweep has deleted */
    struct claimed *claimed;  /* for a claim; NULL for a lock and for a single step */
    uint64_t takeovers;       /* for a claim */
    enum end end;             /* for a claim: the end whose result no call has returned yet */
    uint64_t ends;            /* for a claim: how many ends have begun */
    bool taken;               /* the program has taken it */
};

/* The operation of a claim, and the result that its completion stores, until a call has returned the end of that
 * completion. */
struct claimed {
    fencepost_idempotency *of;
    struct result *result; /* or NULL */
    char key[];
};

/* An acquire, claim or request that one call has begun and another call finishes. */
struct pending {
    fencepost_grant *contender; /* NULL once the program has taken it as a grant */
    fencepost_client *client;
};

struct fencepost_lock {
    fencepost_client *client;
    fencepost_settings *settings;
    char *owned; /* the name of a lock that has an owner, or NULL */
};

struct table {
    fencepost_grant **buckets;
    size_t size; /* a power of two */
    size_t count;
};

/* The client's locks. */
struct locks {
    char *server;     /* the name of the server in settings */
    const char *kind; /* the default kind of a lock; points into `server` */
    char *prefix;
    struct table contenders;
    struct pool random;
    uint64_t connect_within;  /* how long an acquire waits for the first connection */
    uint64_t reach_by;        /* when the first acquire has waited for that long */
    fencepost_grant *untaken; /* grants that the program has not taken */
};

/* Each of these files uses only the files above it. */

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

/* deadlines.c */
const char *client_absence(const fencepost_client *client);
void deadline_to_take(fencepost_grant *contender);
void deadline_to_reach(fencepost_grant *contender);
void deadlines_forget(fencepost_grant *contender);
uint64_t deadlines_until(const fencepost_client *client);

/* conditions.c */
fencepost_result contender_fault(const fencepost_grant *contender);
fencepost_result contender_refusal(const fencepost_grant *contender);
bool contender_is_held(const fencepost_grant *contender);
bool contender_wait(fencepost_grant *contender, client_condition *condition, uint64_t deadline);
client_condition contender_decided, contender_over, contender_ended, contender_extended, contender_downgraded,
    contender_revoke_requested;

/* contender.c */
#define TRY INT64_MIN /* an acquire timeout that `fencepost_hub_acquire` would refuse */
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
fencepost_result check_acquire_timeout(int64_t acquire_timeout, const char *otherwise);
fencepost_result acquire_opened(fencepost_lock *lock, opening *open, const void *what, fencepost_grant **grant);

/* ends.c */
struct content {
    const char *tag;
    const void *bytes;
    size_t size;
};
fencepost_result claim_end(fencepost_grant *claim, enum end end, const struct content *content);
fencepost_result claim_ended(fencepost_grant *claim, enum end end, bool waited);
void claim_forget_result(fencepost_grant *claim);

/* operations.c */
struct operation {
    fencepost_result (*start)(fencepost_grant *grant, const void *what);
    /* `waited`: the call has waited for this end of the claim, so it returns the result even if another call returned
     * it. */
    fencepost_result (*finish)(fencepost_grant *grant, bool waited);
    client_condition *is_finished;
    uint64_t limit;        /* how long the blocking form waits, in microseconds */
    fencepost_result late; /* what it returns after that */
};
fencepost_result operation_run(fencepost_grant *grant, const struct operation *operation, const void *what);
fencepost_result operation_start(fencepost_grant *grant, const struct operation *operation, const void *what);
fencepost_result operation_finish(fencepost_grant *grant, const struct operation *operation);

/* idempotency.c */
struct fencepost_idempotency {
    fencepost_client *client;
    fencepost_scope *scope;
    unsigned references; /* of the program and of its claims */
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
