/* Commands: in the order of their arrival, each answered once. */
#include <stdlib.h>

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
    if (request->text != NULL)
        redisFreeCommand(request->text);
    free(request);
}

/* hiredis has the answer; or, without one, the connection has ended. A command under way was on a working connection:
 * perhaps carried out. */
static void answered(redisAsyncContext *context, void *reply, void *data) {
    struct request *request = data;
    struct driver *driver;
    bool entered;

    if (request->link == NULL) {
        discard(request);
        return;
    }
    driver = request->link->driver;
    take(&request->link->under_way, request);
    if (driver_enter(driver, &entered)) {
        if (reply != NULL) {
            reply_give(driver->hub, request->command, reply);
        } else {
            fencepost_client_note(
                driver->client, request->command, context->err != 0 ? context->errstr : "the connection was dropped");
            fencepost_hub_failed(driver->hub, fencepost_now(), request->command, FENCEPOST_FAILURE_UNKNOWN);
        }
        driver_leave(driver, entered);
    }
    discard(request);
}

static void fail(struct request *request, fencepost_failure failure, const char *why) {
    struct driver *driver = request->link->driver;

    fencepost_client_note(driver->client, request->command, why);
    if (driver->hub != NULL)
        fencepost_hub_failed(driver->hub, fencepost_now(), request->command, failure);
    discard(request);
}

/* Hands what waits to hiredis, now that the connection is ready. */
void requests_send(struct link *link) {
    struct request *request;

    while ((request = link->waiting.first) != NULL) {
        take(&link->waiting, request);
        if (redisAsyncFormattedCommand(link->context, answered, request, request->text, (size_t)request->size) !=
            REDIS_OK) {
            fail(request, FENCEPOST_FAILURE_NOT_SENT, "the connection is being closed");
            continue;
        }
        redisFreeCommand(request->text);
        request->text = NULL;
        add(&link->under_way, request);
        link->unwritten = true;
    }
}

/* The connection has not come about. */
void requests_fail(struct link *link, fencepost_failure failure, const char *why) {
    struct request *request;

    while ((request = link->waiting.first) != NULL) {
        take(&link->waiting, request);
        fail(request, failure, why);
    }
}

/* The server has refused the greeting: that is its answer to whatever waits. */
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

/* Nobody wants to know any more. hiredis frees what is under way in its time. */
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

static int format(const fencepost_command *command, char **text) {
    const char *usual_arguments[16], **arguments = usual_arguments;
    size_t usual_sizes[16], *sizes = usual_sizes, count = command->argument_count, i;
    int size = -1;

    if (count > 16) {
        arguments = malloc(count * sizeof *arguments);
        sizes = malloc(count * sizeof *sizes);
    }
    if (arguments != NULL && sizes != NULL) {
        for (i = 0; i < count; i++) {
            arguments[i] = (const char *)command->arguments[i].data;
            sizes[i] = command->arguments[i].size;
        }
        size = (int)redisFormatCommandArgv(text, (int)count, arguments, sizes);
    }
    if (count > 16) {
        free(arguments);
        free(sizes);
    }
    return size;
}

void request_call(struct driver *driver, const fencepost_command *command) {
    struct link *link = &driver->commands;
    struct request *request = calloc(1, sizeof *request);
    uint64_t now = fencepost_now(), id = command->id;

    if (request == NULL || (request->size = format(command, &request->text)) < 0) {
        free(request);
        fencepost_client_note(driver->client, id, "out of memory");
        fencepost_hub_failed(driver->hub, now, id, FENCEPOST_FAILURE_NOT_SENT);
        return;
    }
    request->link = link;
    request->command = id;
    request->expires = command->deadline < FENCEPOST_NEVER - GRACE ? command->deadline + GRACE : now + LONGEST_ANSWER;
    if (!link_need(link)) {
        fail(
            request, link->phase == OVER ? FENCEPOST_FAILURE_CLOSED : FENCEPOST_FAILURE_NOT_SENT,
            link->phase == OVER ? "the connection has ended" : link->trouble);
        return;
    }
    add(&link->waiting, request);
    if (link->phase == READY)
        requests_send(link);
}
