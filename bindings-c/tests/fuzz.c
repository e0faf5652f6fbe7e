/*
 * Passes random arguments to every function of libfencepost: each call succeeds or returns an error, and never a panic;
 * the number of outputs is bounded; and the hub still works. The test prints the seed. FENCEPOST_SEED sets the seed,
 * and FENCEPOST_CASES the number of stories.
 *
 * Every buffer has exactly its size, and is freed after the call, so that memory checkers detect a read beyond its end
 * or after the call.
 */
#include "chance.h"

#define MOST_OUTPUTS 300
/* A deadline beyond this is the same as no deadline. */
#define FAR ((uint64_t)1 << 60)

/* ---- a story: one hub, and the calls on it ---- */

struct story {
    enum kind kind;
    fencepost_hub *hub;
    fencepost_memory *memory;
    /* The latest time that was passed. */
    uint64_t latest;
    bool over;
    /* The part of a server that one acquire needs: paths of nodes. */
    char nodes[8][512];
    size_t node_count;
    bool answers;
};

static uint64_t open_one(struct story *story, uint64_t at, const char *name) {
    fencepost_settings *settings = settings_for(story->kind, name);
    static uint64_t contender[2];
    uint64_t key = 0;

    contender[0]++;
    CHECK_RESULT(fencepost_hub_open(story->hub, at, settings, (const uint8_t *)contender, 1, &key), FENCEPOST_OK);
    fencepost_settings_free(settings);
    return key;
}

static void begin(struct story *story) {
    int i;

    memset(story, 0, sizeof *story);
    story->kind = (enum kind)below(KINDS);
    if (story->kind == ON_MEMORY) {
        CHECK_RESULT(fencepost_memory_new(&story->memory), FENCEPOST_OK);
        CHECK_RESULT(fencepost_memory_hub(story->memory, 0, 1, 0, &story->hub), FENCEPOST_OK);
    } else {
        uint32_t family = story->kind == ON_REDIS ? FENCEPOST_FAMILY_REDIS : FENCEPOST_FAMILY_ZOOKEEPER;

        CHECK_RESULT(fencepost_hub_new(family, 1, &story->hub), FENCEPOST_OK);
    }
    if (story->kind == ON_ZOOKEEPER) {
        CHECK_RESULT(fencepost_hub_session(story->hub, 0, FENCEPOST_SESSION_STATE_CONNECTING, 0, 0), FENCEPOST_OK);
        CHECK_RESULT(
            fencepost_hub_session(story->hub, 0, FENCEPOST_SESSION_STATE_CONNECTED, SESSION, 10000000), FENCEPOST_OK);
    }
    for (i = 0; i < 2; i++)
        CHECK_RESULT(
            fencepost_hub_acquire(story->hub, 0, open_one(story, 0, "stock"), FENCEPOST_FOREVER), FENCEPOST_OK);
}

/* Carries out a command. */
static void answer(struct story *story, uint64_t at, const fencepost_command *command) {
    fencepost_reply granted = {0}, items[2] = {{0}, {0}};
    fencepost_view names[8];
    size_t i, count = 0, size = command->path.size;
    char path[512];

    memcpy(path, command->path.data, size < 480 ? size : 480);
    switch (command->operation) {
    case FENCEPOST_OPERATION_CREATE:
        if (command->flags == FENCEPOST_FLAG_EPHEMERAL_SEQUENTIAL) {
            size += (size_t)snprintf(path + size, 16, "%010u", (unsigned)story->node_count);
            memcpy(story->nodes[story->node_count], path, size);
            story->nodes[story->node_count++][size] = '\0';
        }
        check_status(fencepost_hub_created(story->hub, at, command->id, SESSION, (uint8_t *)path, size, 5));
        break;
    case FENCEPOST_OPERATION_CHILDREN:
        for (i = 0; i < story->node_count; i++)
            if (strncmp(story->nodes[i], path, size) == 0 && story->nodes[i][size] == '/') {
                names[count].data = (const uint8_t *)story->nodes[i] + size + 1;
                names[count].size = strlen(story->nodes[i]) - size - 1;
                count++;
            }
        check_status(fencepost_hub_children(story->hub, at, command->id, SESSION, names, count));
        break;
    case FENCEPOST_OPERATION_GET:
        check_status(fencepost_hub_data(story->hub, at, command->id, SESSION, NULL, 0, 1, 1, SESSION, 0, 0, 0));
        break;
    case FENCEPOST_OPERATION_DELETE:
        for (i = 0; i < story->node_count; i++)
            if (strlen(story->nodes[i]) == size && memcmp(story->nodes[i], path, size) == 0)
                story->nodes[i][0] = '\0';
        check_status(fencepost_hub_done(story->hub, at, command->id, SESSION));
        break;
    case FENCEPOST_OPERATION_SYNC:
        check_status(fencepost_hub_done(story->hub, at, command->id, SESSION));
        break;
    case FENCEPOST_OPERATION_MULTI:
        /* A multi that only checks: a mutex creates no nodes with it. */
        check_status(fencepost_hub_children(story->hub, at, command->id, SESSION, NULL, 0));
        break;
    default:
        granted.kind = FENCEPOST_REPLY_KIND_ARRAY;
        granted.items = items;
        granted.item_count = 2;
        items[0].kind = FENCEPOST_REPLY_KIND_INTEGER;
        items[0].integer = 1;
        items[1].kind = FENCEPOST_REPLY_KIND_BYTES;
        items[1].bytes.data = (const uint8_t *)"17";
        items[1].bytes.size = 2;
        check_status(fencepost_hub_reply(story->hub, at, command->id, &granted));
    }
}

/* Polls until no output is left, and reads everything. `last` gets the kind of the last event of the machine `key`. */
static fencepost_wait drain(struct story *story, uint64_t at, uint64_t key, fencepost_event_kind *last) {
    fencepost_output output = {.size = sizeof output};
    size_t i, count;

    for (count = 0; count < MOST_OUTPUTS; count++) {
        CHECK_RESULT(fencepost_hub_poll_output(story->hub, FENCEPOST_ALL, &output), FENCEPOST_OK);
        if (output.kind == FENCEPOST_OUTPUT_KIND_WAIT)
            return *output.wait;
        if (output.kind == FENCEPOST_OUTPUT_KIND_COMMAND) {
            look_at(output.command->path);
            look_at(output.command->data);
            for (i = 0; i < output.command->argument_count; i++)
                look_at(output.command->arguments[i]);
            CHECK(fencepost_operation_name(output.command->operation) != NULL);
            if (story->answers)
                answer(story, at, output.command);
        } else {
            look_at(output.event->detail);
            CHECK(fencepost_event_name(output.event->kind) != NULL);
            if (output.key == key)
                *last = output.event->kind;
        }
    }
    CHECK(!"more outputs than one call may bring");
    return (fencepost_wait){FENCEPOST_NEVER, FENCEPOST_TIMER_NONE};
}

static uint64_t worked;

/* A complete acquire and release, after any inputs. */
static void works(struct story *story) {
    fencepost_event_kind last = FENCEPOST_EVENT_KIND_QUEUED;
    uint64_t at = story->latest, key;
    int round;

    story->answers = true;
    if (story->kind == ON_ZOOKEEPER) {
        /* Ends the session first: a session keeps the timeout of its first report, which may have any length. */
        check_status(fencepost_hub_session(story->hub, at, FENCEPOST_SESSION_STATE_EXPIRED, SESSION, 0));
        check_status(fencepost_hub_session(story->hub, at, FENCEPOST_SESSION_STATE_CONNECTED, SESSION, 10000000));
    }
    key = open_one(story, at, "works");
    CHECK_RESULT(fencepost_hub_acquire(story->hub, at, key, FENCEPOST_FOREVER), FENCEPOST_OK);
    for (round = 0; round < 40 && last != FENCEPOST_EVENT_KIND_RELEASED; round++) {
        fencepost_wait wait = drain(story, at, key, &last);

        if (last == FENCEPOST_EVENT_KIND_ACQUIRED || last == FENCEPOST_EVENT_KIND_EXTENDED) {
            /* The grant was reported and polled: the release is the next event. */
            fencepost_result result = fencepost_hub_release(story->hub, at, key);

            CHECK(result == FENCEPOST_OK || result == FENCEPOST_RESULT_NOT_HELD);
        } else if (last != FENCEPOST_EVENT_KIND_RELEASED) {
            if (wait.until != FENCEPOST_NEVER && wait.until > at)
                at = wait.until;
            check_status(fencepost_hub_handle_timeout(story->hub, at));
        }
    }
    CHECK(last == FENCEPOST_EVENT_KIND_RELEASED);
    worked++;
}

/* ---- the calls ---- */

/* Makes one random call. Without a hub (NULL), the call has to return the error for that. */
static void say(struct story *story) {
    fencepost_hub *hub = rarely(16) ? NULL : story->hub;
    uint64_t at = now(), id = number(), key = number();
    int64_t session = rarely(3) ? (int64_t)number() : SESSION;
    fencepost_view words = some_text(), names[4];
    fencepost_reply reply = some_reply(0);
    fencepost_result result = FENCEPOST_OK;
    fencepost_output output = {.size = sizeof output};
    size_t i, count = below(5);
    /* Sometimes the number of no kind at all. */
    uint32_t code = rarely(6) ? (uint32_t)number() : (uint32_t)below(7);
    bool reached = hub != NULL, called = true;

    for (i = 0; i < count; i++)
        names[i] = some_text();
    switch (below(25)) {
    case 24:
        result = fencepost_hub_complete(hub, at, key, words.data, words.size, words.data, words.size);
        break;
    case 23:
        result = fencepost_hub_leave(hub, at, key);
        break;
    case 22:
        result = fencepost_hub_downgrade(hub, at, key);
        break;
    case 0:
        result = fencepost_hub_acquire(hub, at, key, (int64_t)number());
        break;
    case 1:
        result = fencepost_hub_try_acquire(hub, at, key);
        break;
    case 2:
        result = fencepost_hub_extend(hub, at, key);
        break;
    case 3:
        result = fencepost_hub_release(hub, at, key);
        break;
    case 4:
        result = fencepost_hub_cancel(hub, at, key);
        break;
    case 5:
        result = fencepost_hub_close(hub, at, key, NULL);
        break;
    case 6:
        result = fencepost_hub_handle_timeout(hub, at);
        break;
    case 7:
        result = fencepost_hub_session(hub, at, code, session, number());
        CHECK(code >= 1 && code <= 6 ? 1 : result != FENCEPOST_OK);
        break;
    case 8:
        result = fencepost_hub_watch(hub, at, id, session, code);
        CHECK(code >= 1 && code <= 3 ? 1 : result != FENCEPOST_OK);
        break;
    case 9:
        result = fencepost_hub_message(hub, at, id);
        break;
    case 10:
        result = fencepost_hub_gone(hub, at, id);
        break;
    case 11:
        result = fencepost_hub_created(hub, at, id, session, words.data, words.size, (int64_t)number());
        break;
    case 12:
        result = fencepost_hub_children(hub, at, id, session, names, count);
        break;
    case 13:
        /* Any number of names, and no names. */
        count = (size_t)number();
        result = fencepost_hub_children(hub, at, id, session, NULL, count);
        CHECK(count == 0 || result == FENCEPOST_RESULT_NULL_POINTER);
        break;
    case 14:
        result = fencepost_hub_data(
            hub, at, id, session, words.data, words.size, (int64_t)number(), (int64_t)number(), session,
            (int32_t)number(), (int64_t)number(), (int64_t)number());
        break;
    case 15:
        result = fencepost_hub_done(hub, at, id, session);
        break;
    case 16:
        result = fencepost_hub_error(hub, at, id, session, -(int32_t)below(130));
        break;
    case 17:
        result = fencepost_hub_reply(hub, at, id, rarely(8) ? NULL : &reply);
        break;
    case 18:
        result = fencepost_hub_failed(hub, at, id, code);
        CHECK(code >= 1 && code <= 3 ? 1 : result != FENCEPOST_OK);
        break;
    case 19:
        result = fencepost_hub_poll_output(hub, key, rarely(8) ? NULL : &output);
        break;
    case 20:
        called = rarely(4);
        if (called) {
            result = fencepost_hub_shutdown(hub, at);
            story->over = story->over || reached;
        }
        break;
    default:
        called = false;
        reached = reached && (fencepost_hub_pending(hub) > 0 || fencepost_hub_id(hub) > 0);
        break;
    }
    if (reached && at > story->latest)
        story->latest = at;
    if (hub == NULL && called)
        CHECK(result != FENCEPOST_OK);
    check_status(result);
}

/* Opens a machine with random arguments. */
static void open_anything(struct story *story) {
    fencepost_settings *settings = settings_for((enum kind)below(KINDS), "other");
    fencepost_view bytes = copy("sixteen random b", 16);
    uint64_t key = 0, at = below(60) * 1000000;
    bool no_hub = rarely(8), no_settings = rarely(8), no_owner = rarely(8), no_key = rarely(8);
    fencepost_result result = fencepost_hub_open(
        no_hub ? NULL : story->hub, at, no_settings ? NULL : settings, no_owner ? NULL : bytes.data, any(),
        no_key ? NULL : &key);

    if (no_hub || no_settings || no_owner || no_key)
        CHECK(result == FENCEPOST_RESULT_NULL_POINTER);
    CHECK((result == FENCEPOST_OK) == (key != 0));
    if (at > story->latest)
        story->latest = at;
    check_status(result);
    fencepost_settings_free(settings);
}

static void one_story(void) {
    struct story story;
    fencepost_event_kind last;
    size_t steps = below(40);

    begin(&story);
    while (steps-- > 0) {
        if (rarely(12))
            open_anything(&story);
        else
            say(&story);
        /* Sometimes several inputs come before a poll. */
        if (!rarely(4))
            drain(&story, 0, 0, &last);
    }
    drain(&story, 0, 0, &last);
    if (story.latest < FAR && !story.over)
        works(&story);
    fencepost_hub_free(story.hub);
    fencepost_memory_free(story.memory);
}

static void a_hub_takes_anything(void) {
    uint64_t left;

    for (left = stories; left > 0 && check_broken == 0; left--)
        one_story();
    /* Most hubs were not shut down, and did not get a time that is too late. */
    CHECK(worked > stories / 4);
}

int main(void) {
    fuzz_begin();
    TEST(a_hub_takes_anything);
    return check_close();
}
