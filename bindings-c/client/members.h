/* Written by `make options` from the core's table. */
/* clang-format off */

/* The kinds' names in settings. */
static const char *const kinds[] = {
    [FENCEPOST_KIND_MUTEX] = "lock",
    [FENCEPOST_KIND_READER] = "reader",
    [FENCEPOST_KIND_WRITER] = "writer",
    [FENCEPOST_KIND_SEMAPHORE] = "semaphore",
    [FENCEPOST_KIND_ELECTION] = "election",
    [FENCEPOST_KIND_MULTI_LOCK] = "multi-lock",
};

/* The members that are options. */
static const struct member members[] = {
    {"ttl", MILLIS, offsetof(fencepost_options, ttl), 0},
    {"renew", INVERTED, offsetof(fencepost_options, without_renewal), 0},
    {"margin", MILLIS, offsetof(fencepost_options, margin), 0},
    {"poll", MILLIS, offsetof(fencepost_options, poll), 0},
    {"max_hold", MILLIS, offsetof(fencepost_options, max_hold), 0},
    {"answer_within", MILLIS, offsetof(fencepost_options, answer_within), 0},
    {"layout", TEXT, offsetof(fencepost_options, layout), 0},
    {"node_prefix", TEXT, offsetof(fencepost_options, node_prefix), 0},
    {"identifier", TEXT, offsetof(fencepost_options, identifier), 0},
    {"revocable", FLAG, offsetof(fencepost_options, revocable), 0},
    {"owner", TEXT, offsetof(fencepost_options, owner), 0},
    {"fair", INVERTED, offsetof(fencepost_options, unfair), 0},
    {"permits", WHOLE, offsetof(fencepost_options, permits), 1 << FENCEPOST_KIND_SEMAPHORE},
    {"names", TEXTS, offsetof(fencepost_options, names), 1 << FENCEPOST_KIND_MULTI_LOCK},
};

/* The members that have to be zero. */
static const struct gap gaps[] = {
    GAP(reserved_kind),
    GAP(reserved_switches),
    GAP(reserved_end),
};

/* All members together. */
#define MEMBERS_SIZE 128
