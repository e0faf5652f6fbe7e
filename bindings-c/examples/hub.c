/*
 * Drives the hub itself, over a plain hiredis connection: for programs that own their connection and their loop. This
 * is all that a driver does; see docs/reference/drivers.md. It sends one command after the other and subscribes to no
 * channel, so a waiter polls ten times a second.
 *
 *     hub 127.0.0.1 6379 stock/42
 *
 * cc -std=c99 hub.c $(pkg-config --cflags --libs fencepost hiredis)
 */
#define _GNU_SOURCE
#include <fencepost.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* The clock of a lease continues while the computer is suspended, so this clock must continue, too. */
static uint64_t now(void) {
    struct timespec time;

    clock_gettime(CLOCK_BOOTTIME, &time);
    return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_nsec / 1000u;
}

/* Converts the server's reply for the hub. Scripts return arrays of a few values. */
static void convert(const redisReply *from, fencepost_reply *to, fencepost_reply items[8]) {
    size_t i;

    memset(to, 0, sizeof *to);
    switch (from->type) {
    case REDIS_REPLY_INTEGER:
        to->kind = FENCEPOST_REPLY_KIND_INTEGER;
        to->integer = from->integer;
        break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
        to->kind = from->type == REDIS_REPLY_ERROR ? FENCEPOST_REPLY_KIND_ERROR : FENCEPOST_REPLY_KIND_BYTES;
        to->bytes.data = (const uint8_t *)from->str;
        to->bytes.size = (size_t)from->len;
        break;
    case REDIS_REPLY_ARRAY:
        to->kind = FENCEPOST_REPLY_KIND_ARRAY;
        to->items = items;
        to->item_count = from->elements < 8 ? from->elements : 8;
        for (i = 0; i < to->item_count; i++)
            convert(from->element[i], &items[i], NULL);
        break;
    default:
        to->kind = FENCEPOST_REPLY_KIND_NIL;
    }
}

/* Carries out a command, and reports its outcome. */
static void carry_out(fencepost_hub *hub, redisContext *redis, const fencepost_command *command) {
    const char *arguments[16];
    size_t sizes[16], i;
    uint64_t id = command->id; /* the next call on the hub invalidates what `command` points to */
    fencepost_reply reply = {FENCEPOST_REPLY_KIND_ERROR, 0, {(const uint8_t *)"ERR not here", 12}, NULL, 0}, items[8];
    redisReply *answer;

    if (command->operation != FENCEPOST_OPERATION_CALL) {
        fencepost_hub_reply(hub, now(), id, &reply); /* a driver without channels */
        return;
    }
    for (i = 0; i < command->argument_count && i < 16; i++) {
        arguments[i] = (const char *)command->arguments[i].data;
        sizes[i] = command->arguments[i].size;
    }
    answer = redisCommandArgv(redis, (int)i, arguments, sizes);
    if (answer == NULL) {
        fencepost_hub_failed(hub, now(), id, FENCEPOST_FAILURE_UNKNOWN); /* the server may have executed it */
        redisReconnect(redis);
        return;
    }
    convert(answer, &reply, items);
    fencepost_hub_reply(hub, now(), id, &reply);
    freeReplyObject(answer);
}

/* The application: it sells while it holds the lock, and then releases it. Returns whether it is done. */
static int tell(fencepost_hub *hub, uint64_t key, const fencepost_event *event) {
    switch (event->kind) {
    case FENCEPOST_EVENT_KIND_ACQUIRED:
        printf("sold under fence %" PRIu64 "\n", event->fence);
        fencepost_hub_release(hub, now(), key);
        return 0;
    case FENCEPOST_EVENT_KIND_RELEASED:
        return 1;
    case FENCEPOST_EVENT_KIND_LOST:
    case FENCEPOST_EVENT_KIND_REFUSED:
        fprintf(stderr, "%s\n", fencepost_result_text((int32_t)event->reason));
        return 1;
    default:
        return 0;
    }
}

/* Takes all outputs in their order, and then waits. */
static void drive(fencepost_hub *hub, redisContext *redis) {
    fencepost_output output = {.size = sizeof output};
    int over = 0;

    while (!over) {
        if (fencepost_hub_poll_output(hub, FENCEPOST_ALL, &output) != FENCEPOST_OK)
            return;
        switch (output.kind) {
        case FENCEPOST_OUTPUT_KIND_COMMAND:
            carry_out(hub, redis, output.command);
            break;
        case FENCEPOST_OUTPUT_KIND_EVENT:
            over = tell(hub, output.key, output.event);
            break;
        case FENCEPOST_OUTPUT_KIND_WAIT:
            if (output.wait->until > now())
                poll(NULL, 0, (int)((output.wait->until - now()) / 1000u) + 1);
            fencepost_hub_handle_timeout(hub, now());
            break;
        }
    }
}

int main(int argc, char **argv) {
    static const uint8_t kind[] = "redis-string";
    const char *name = argc > 3 ? argv[3] : "stock/42";
    redisContext *redis = redisConnect(argc > 1 ? argv[1] : "127.0.0.1", argc > 2 ? atoi(argv[2]) : 6379);
    fencepost_settings *settings = NULL;
    fencepost_hub *hub = NULL;
    uint8_t contender[16];
    uint64_t key;
    int code = 1;

    if (redis == NULL || redis->err != 0) {
        fprintf(stderr, "%s\n", redis == NULL ? "out of memory" : redis->errstr);
    } else if (
        getrandom(contender, sizeof contender, 0) == (ssize_t)sizeof contender &&
        fencepost_settings_new(kind, sizeof kind - 1, (const uint8_t *)name, strlen(name), &settings) == FENCEPOST_OK &&
        fencepost_hub_new(FENCEPOST_FAMILY_REDIS, now(), &hub) == FENCEPOST_OK &&
        fencepost_hub_open(hub, now(), settings, contender, now(), &key) == FENCEPOST_OK &&
        fencepost_hub_acquire(hub, now(), key, 5000000 /* µs */) == FENCEPOST_OK) {
        drive(hub, redis);
        code = 0;
    } else {
        fprintf(stderr, "%s\n", fencepost_detail());
    }
    fencepost_hub_free(hub);
    fencepost_settings_free(settings);
    if (redis != NULL)
        redisFree(redis);
    return code;
}
