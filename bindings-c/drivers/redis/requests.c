/* Commands, in the order of their arrival. Each gets one outcome. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static void add(struct requests *requests, struct request *request) {
    request->next = NULL;
    request->previous = requests->last;
    if (requests->last != NULL)
        requests->last->next = request;
    else
        requests->first = request;
    requests->last = request;
    requests->count++;
}

static void take(struct requests *requests, struct request *request) {
    if (request->previous != NULL)
        request->previous->next = request->next;
    else
        requests->first = request->next;
    if (request->next != NULL)
        request->next->previous = request->previous;
    else
        requests->last = request->previous;
    requests->count--;
}

static void discard(struct request *request) {
    free(request->text);
    free(request);
}

/* The driver keeps one unused request, so that an uncontended acquire and release allocate no memory. */
static struct request *make(struct driver *driver) {
    struct request *request = driver->unused;

    if (request == NULL)
        return calloc(1, sizeof *request);
    driver->unused = NULL;
    memset(request, 0, sizeof *request);
    return request;
}

static void keep(struct driver *driver, struct request *request) {
    free(request->text);
    free(driver->unused);
    driver->unused = request;
}

/* Reports the outcome of a command. Without a reply, the connection has ended; the server may have executed the
 * command. */
static void settle(struct request *request, const redisReply *reply, const char *why) {
    struct driver *driver = request->link->driver;
    struct link *link = request->link;
    bool entered;

    if (!driver_enter(driver, &entered)) {
        take(&link->under_way, request);
        discard(request);
        return;
    }
    take(&link->under_way, request);
    if (reply != NULL) {
        if (reply_give(driver->hub, request->command, reply) != FENCEPOST_OK)
            fencepost_client_note(driver->client, request->command, fencepost_detail());
    } else {
        fencepost_client_note(driver->client, request->command, why);
        fencepost_hub_failed(driver->hub, fencepost_now(), request->command, FENCEPOST_FAILURE_UNKNOWN);
    }
    keep(driver, request);
    driver_leave(driver, entered);
}

/* On a connection of the program, hiredis knows to which command a reply belongs. */
static void answered(redisAsyncContext *context, void *reply, void *data) {
    struct request *request = data;

    if (request->link == NULL)
        discard(request);
    else
        settle(request, reply, context->err != 0 ? context->errstr : "the connection was dropped");
}

/* On a connection that the driver made, replies come in the order of the commands in flight. Returns false if no
 * command waits for a reply. */
bool requests_answer(struct link *link, const redisReply *reply) {
    if (link->under_way.first == NULL)
        return false;
    settle(link->under_way.first, reply, NULL);
    return true;
}

static void fail(struct request *request, fencepost_failure failure, const char *why) {
    struct driver *driver = request->link->driver;

    fencepost_client_note(driver->client, request->command, why);
    if (driver->hub != NULL)
        fencepost_hub_failed(driver->hub, fencepost_now(), request->command, failure);
    discard(request);
}

/* A connection that the driver made has ended: reports its commands in flight. */
void requests_lose(struct link *link, const char *why) {
    while (link->ours && link->under_way.first != NULL)
        settle(link->under_way.first, NULL, why);
}

static bool write_command(struct link *link, struct request *request, const char *text, size_t size) {
    if (!link->ours)
        return redisAsyncFormattedCommand(link->context, answered, request, text, size) == REDIS_OK;
    return redisAppendFormattedCommand(&link->context->c, text, size) == REDIS_OK;
}

/* Passes a command to hiredis. */
static void hand_over(struct link *link, struct request *request, const char *text, size_t size) {
    if (!write_command(link, request, text, size)) {
        fail(request, FENCEPOST_FAILURE_NOT_SENT, "the connection is being closed");
        return;
    }
    request->expires = fencepost_now() + ANSWER_WITHIN;
    add(&link->under_way, request);
    link->unwritten = true;
}

/* Passes the waiting commands to hiredis, because the connection is ready. */
void requests_send(struct link *link) {
    struct request *request;
    char *text;

    while (link->phase == READY && (request = link->waiting.first) != NULL) {
        take(&link->waiting, request);
        if (request->expires <= fencepost_now()) {
            fail(request, FENCEPOST_FAILURE_NOT_SENT, "its deadline passed before it could be sent");
            continue;
        }
        text = request->text;
        request->text = NULL;
        hand_over(link, request, text, request->size);
        free(text);
    }
}

/* A connection of the program is silent, and stays open: reports its commands in flight as of unknown outcome. hiredis
 * frees them when it gets their replies, or when the connection ends. */
void requests_in_doubt(struct link *link, const char *why) {
    struct driver *driver = link->driver;
    struct request *request;

    while ((request = link->under_way.first) != NULL) {
        take(&link->under_way, request);
        request->link = NULL;
        fencepost_client_note(driver->client, request->command, why);
        fencepost_hub_failed(driver->hub, fencepost_now(), request->command, FENCEPOST_FAILURE_UNKNOWN);
    }
}

/* The connection was not made: reports the waiting commands. */
void requests_fail(struct link *link, fencepost_failure failure, const char *why) {
    struct request *request;

    while ((request = link->waiting.first) != NULL) {
        take(&link->waiting, request);
        fail(request, failure, why);
    }
}

/* The server has refused the greeting: reports this error as the reply to every waiting command. */
void requests_refuse(struct link *link) {
    struct driver *driver = link->driver;
    struct request *request;

    while ((request = link->waiting.first) != NULL) {
        take(&link->waiting, request);
        if (driver->hub != NULL)
            reply_give_error(driver->hub, request->command, link->trouble);
        discard(request);
    }
}

/* Frees the waiting commands of a closed client. hiredis frees the commands in flight later. */
void requests_forget(struct link *link) {
    struct request *request;

    while ((request = link->waiting.first) != NULL) {
        take(&link->waiting, request);
        discard(request);
    }
    while ((request = link->under_way.first) != NULL) {
        take(&link->under_way, request);
        request->link = NULL;
    }
}

/* Keeps a command until the connection is ready. */
static void wait_for(struct link *link, struct request *request, const struct text *text) {
    request->size = text->size;
    if ((request->text = malloc(text->size)) == NULL) {
        fail(request, FENCEPOST_FAILURE_NOT_SENT, "out of memory");
        return;
    }
    memcpy(request->text, text->data, text->size);
    add(&link->waiting, request);
}

void request_call(struct driver *driver, const fencepost_command *command) {
    struct link *link = &driver->commands;
    struct request *request = make(driver);
    uint64_t id = command->id, deadline = command->deadline;

    if (request == NULL || !protocol_write(&driver->text, command)) {
        free(request);
        fencepost_client_note(driver->client, id, "out of memory");
        fencepost_hub_failed(driver->hub, fencepost_now(), id, FENCEPOST_FAILURE_NOT_SENT);
        return;
    }
    request->link = link;
    request->command = id;
    request->expires = deadline;
    if (link_is_down(link)) {
        fail(
            request, link->phase == OVER ? FENCEPOST_FAILURE_CLOSED : FENCEPOST_FAILURE_NOT_SENT,
            link->phase == OVER ? "the connection has ended" : link->trouble);
        return;
    }
    if (link->phase == READY && !link->busy)
        hand_over(link, request, driver->text.data, driver->text.size);
    else
        wait_for(link, request, &driver->text);
}
