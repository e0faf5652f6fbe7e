/* Random values that no program would pass, from a seed, in buffers that live for one call. */
#ifndef FENCEPOST_TESTS_CHANCE_H
#define FENCEPOST_TESTS_CHANCE_H

#include "check.h"

#define MOST_BUFFERS 64
/* The session of a story's server. */
#define SESSION 77

/* ---- chance ---- */

static uint64_t chance_state;

/* splitmix64 */
static uint64_t any(void) {
    uint64_t mixed = chance_state += 0x9e3779b97f4a7c15u;

    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

static uint64_t below(uint64_t end) {
    return any() % end;
}

/* Returns true once in so many calls, on average. */
static bool rarely(uint64_t times) {
    return below(times) == 0;
}

static uint64_t number(void) {
    static const uint64_t edges[] = {
        0, 1, 2, SESSION, INT32_MAX, UINT32_MAX, (uint64_t)1 << 53, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};

    switch (below(4)) {
    case 0:
        return edges[below(sizeof edges / sizeof *edges)];
    case 1:
        return any();
    default:
        return below(16);
    }
}

/* Usually a time that a program might pass. */
static inline uint64_t now(void) {
    return rarely(24) ? number() : below(60) * 1000000;
}

/* ---- buffers that live for one call ---- */

static void *buffers[MOST_BUFFERS];
static size_t buffer_count;

static void *buffer(size_t size) {
    void *made = malloc(size);

    if ((made == NULL && size > 0) || buffer_count == MOST_BUFFERS)
        abort();
    return buffers[buffer_count++] = made;
}

static void free_buffers(void) {
    while (buffer_count > 0)
        free(buffers[--buffer_count]);
}

static fencepost_view copy(const void *data, size_t size) {
    fencepost_view view = {NULL, size};
    uint8_t *made = buffer(size);

    if (size > 0)
        memcpy(made, data, size);
    view.data = made;
    return view;
}

static fencepost_view text(const char *words) {
    return copy(words, strlen(words));
}

static fencepost_view some_bytes(void) {
    size_t size = below(24), i;
    uint8_t bytes[24];

    for (i = 0; i < size; i++)
        bytes[i] = (uint8_t)any();
    return copy(bytes, size);
}

/* A text; or NULL, with or without a size; or bytes that are not a text. */
static fencepost_view some_text(void) {
    static const char *const words[] = {
        "",
        "stock",
        "/shop/stock",
        "a//b",
        "lock-0000000001",
        "redis-string",
        "zookeeper-mutex",
        "ttl",
        "renew",
        "prefix",
        "max_hold",
        "memory:",
        "zk://h:1/p?session_timeout=",
        "redis://u:p@h:1/2",
        "\xff",
        "\xc3\x28",
        "\"*\""};
    fencepost_view nothing = {NULL, 0};

    switch (below(16)) {
    case 0:
        nothing.size = (size_t)number();
        return nothing;
    case 1:
        return nothing;
    case 2:
        return some_bytes();
    default:
        return text(words[below(sizeof words / sizeof *words)]);
    }
}

static inline fencepost_reply some_reply(int depth) {
    static const char *const errors[] = {"NOSCRIPT", "LOADING", "NOPERM", "WRONGTYPE x", "ERR", ""};
    fencepost_reply reply;
    fencepost_reply *items;
    size_t i;

    memset(&reply, 0, sizeof reply);
    reply.kind = (uint32_t)below(5);
    if (rarely(16))
        reply.kind = (uint32_t)number();
    reply.integer = (int64_t)number();
    reply.bytes = reply.kind == FENCEPOST_REPLY_KIND_ERROR ? text(errors[below(6)]) : some_text();
    if (reply.kind != FENCEPOST_REPLY_KIND_ARRAY)
        return reply;
    if (rarely(8) || depth > 20 || buffer_count > MOST_BUFFERS / 2) {
        /* An array without its items. */
        reply.item_count = (size_t)number();
        return reply;
    }
    /* Sometimes it is nested more deeply than the hub accepts. */
    reply.item_count = depth > 2 ? 1 : below(3);
    items = buffer(reply.item_count * sizeof *items);
    for (i = 0; i < reply.item_count; i++)
        items[i] = some_reply(depth + 1);
    reply.items = items;
    return reply;
}

static unsigned checksum;

/* Reads every byte. */
static inline void look_at(fencepost_view view) {
    size_t i;

    for (i = 0; i < view.size; i++)
        checksum += view.data[i];
}

/* Checks a result: it has a name and is not a panic, and a failure has a detail. */
static inline void check_status(fencepost_result result) {
    CHECK(result != FENCEPOST_RESULT_PANIC);
    CHECK(fencepost_result_name(result) != NULL && fencepost_result_text(result) != NULL);
    if (result != FENCEPOST_OK)
        CHECK(fencepost_detail()[0] != '\0');
    free_buffers();
}

enum kind { ON_ZOOKEEPER, ON_REDIS, ON_MEMORY, KINDS };

static inline fencepost_settings *settings_for(enum kind kind, const char *name) {
    const char *word = kind == ON_REDIS ? "redis-string" : "zookeeper-mutex";
    fencepost_settings *settings = NULL;

    CHECK_RESULT(
        fencepost_settings_new((const uint8_t *)word, strlen(word), (const uint8_t *)name, strlen(name), &settings),
        FENCEPOST_OK);
    return settings;
}

static uint64_t stories;

static inline uint64_t setting(const char *name, uint64_t otherwise) {
    const char *given = getenv(name);

    return given == NULL ? otherwise : strtoull(given, NULL, 10);
}

/* Reads the seed and the number of stories from the environment. */
static inline void fuzz_begin(void) {
    uint64_t seed = setting("FENCEPOST_SEED", 20261121);

    stories = setting("FENCEPOST_CASES", 5000);
    printf("seed %" PRIu64 ", %" PRIu64 " cases: FENCEPOST_SEED=%" PRIu64 " repeats them\n", seed, stories, seed);
    chance_state = seed;
}

#endif
