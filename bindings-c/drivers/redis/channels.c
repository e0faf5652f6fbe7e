/* Subscriptions, on a separate connection. Only one change at a time is in flight, because hiredis 0.14 mixes up the
 * replies to two changes. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static void add(struct driver *driver, struct channel *channel) {
    channel->previous = driver->last_channel;
    if (driver->last_channel != NULL)
        driver->last_channel->next = channel;
    else
        driver->first_channel = channel;
    driver->last_channel = channel;
}

static void take(struct driver *driver, struct channel *channel) {
    if (channel->previous != NULL)
        channel->previous->next = channel->next;
    else
        driver->first_channel = channel->next;
    if (channel->next != NULL)
        channel->next->previous = channel->previous;
    else
        driver->last_channel = channel->previous;
}

static void discard(struct channel *channel) {
    take(channel->driver, channel);
    free(channel);
}

/* Reports the end of a subscription: the connection of the program has ended, or the server returned an error. The text
 * is that of the error. */
static void ended(const redisAsyncContext *context, const struct channel *channel, fencepost_hub *hub) {
    uint64_t now = fencepost_now();

    if (channel->step == LISTENING)
        fencepost_hub_gone(hub, now, channel->command);
    else if (channel->step == SUBSCRIBING && context->err == REDIS_ERR_OTHER)
        reply_give_error(hub, channel->command, context->errstr);
    else if (channel->step == SUBSCRIBING)
        fencepost_hub_failed(hub, now, channel->command, FENCEPOST_FAILURE_UNKNOWN);
}

/* Over RESP3, the replies to a subscription are pushes. */
static bool is_list(const redisReply *reply) {
    return reply->type == REDIS_REPLY_ARRAY || reply->type == REPLY_PUSH;
}

/* Handles a reply to a subscription. Returns whether the subscription has ended. */
static bool on_message(struct channel *channel, const redisReply *reply, fencepost_hub *hub) {
    fencepost_reply confirmed = {FENCEPOST_REPLY_KIND_INTEGER, 1, {NULL, 0}, NULL, 0};
    const char *kind;

    if (!is_list(reply) || reply->elements < 1 || reply->element[0]->type != REDIS_REPLY_STRING)
        return false; /* not a reply to a subscription */
    kind = reply->element[0]->str;
    if (strcmp(kind, "message") == 0) {
        fencepost_hub_message(hub, fencepost_now(), channel->command);
    } else if (strcmp(kind, "subscribe") == 0) {
        channel->sent = false;
        if (channel->step == SUBSCRIBING) {
            channel->step = LISTENING;
            fencepost_hub_reply(hub, fencepost_now(), channel->command, &confirmed);
        }
    } else if (strcmp(kind, "unsubscribe") == 0) {
        return true;
    }
    return false;
}

static bool is_end(const redisReply *reply) {
    return reply == NULL || (is_list(reply) && reply->elements > 0 && reply->element[0]->str != NULL &&
                             strcmp(reply->element[0]->str, "unsubscribe") == 0);
}

/* The channel that a reply on the driver's own connection concerns; NULL if no channel waits for it. Two channels may
 * have the same name: the channel from which the driver unsubscribes, and its successor. */
static struct channel *find(const struct driver *driver, const redisReply *reply) {
    const redisReply *name = reply->elements > 1 ? reply->element[1] : NULL;
    struct channel *channel;
    enum step step;

    if (name == NULL || name->type != REDIS_REPLY_STRING || reply->element[0]->type != REDIS_REPLY_STRING)
        return NULL;
    step = strcmp(reply->element[0]->str, "subscribe") == 0     ? SUBSCRIBING
           : strcmp(reply->element[0]->str, "unsubscribe") == 0 ? UNSUBSCRIBING
                                                                : LISTENING;
    for (channel = driver->first_channel; channel != NULL; channel = channel->next) {
        if ((channel->step == step || (channel->sent && step == SUBSCRIBING)) && channel->size == (size_t)name->len &&
            memcmp(channel->name, name->str, name->len) == 0)
            return channel;
    }
    return NULL;
}

static struct channel *changing(const struct driver *driver) {
    struct channel *channel = driver->first_channel;

    while (channel != NULL && !channel->sent)
        channel = channel->next;
    return channel;
}

/* Handles every reply on the driver's own connection. */
void channels_answer(struct driver *driver, const redisReply *reply) {
    struct channel *channel;

    driver->subscriptions.last_received = fencepost_now();
    driver->subscriptions.pinged = false;
    if (is_list(reply)) {
        if ((channel = find(driver, reply)) != NULL && on_message(channel, reply, driver->hub))
            discard(channel);
    } else if (reply->type == REDIS_REPLY_ERROR && (channel = changing(driver)) != NULL) {
        /* Otherwise the error is the reply to a ping: old servers do not allow a ping here. */
        if (channel->step == SUBSCRIBING)
            reply_give_error(driver->hub, channel->command, reply->str);
        discard(channel);
    }
    channels_send(driver);
}

/* Handles every reply for a channel whose client is closed. When all of them have ended, the next client on the same
 * connection may subscribe. */
static void received_late(const redisAsyncContext *context, const redisReply *reply, struct channel *channel) {
    struct link *link;
    bool entered;

    if (!is_end(reply))
        return;
    taken_drop(channel);
    if (reply == NULL || (link = taken_find(context)) == NULL || !driver_enter(link->driver, &entered))
        return;
    channels_send(link->driver);
    driver_leave(link->driver, entered);
}

/* Handles every reply for a channel on a connection of the program. */
static void received(redisAsyncContext *context, void *reply, void *data) {
    struct channel *channel = data;
    struct driver *driver = channel->driver;
    bool entered, over;

    if (driver == NULL) {
        received_late(context, reply, channel);
        return;
    }
    if (!driver_enter(driver, &entered)) {
        if (is_end(reply))
            discard(channel);
        return;
    }
    if (reply == NULL) {
        ended(context, channel, driver->hub);
        over = true;
    } else {
        over = on_message(channel, reply, driver->hub);
    }
    if (over)
        discard(channel);
    if (reply != NULL)
        channels_send(driver);
    driver_leave(driver, entered);
}

static bool send(struct driver *driver, struct channel *channel) {
    const char *arguments[2] = {channel->step == SUBSCRIBING ? "SUBSCRIBE" : "UNSUBSCRIBE", channel->name};
    size_t sizes[2] = {strlen(arguments[0]), channel->size};

    if (driver->subscriptions.ours)
        return redisAppendCommandArgv(&driver->subscriptions.context->c, 2, arguments, sizes) == REDIS_OK;
    return redisAsyncCommandArgv(driver->subscriptions.context, received, channel, 2, arguments, sizes) == REDIS_OK;
}

/* Sends the next change, if none is in flight. It also waits for the changes of an earlier client on the same
 * connection: hiredis finds a channel by its name, so it would pass their replies to a new channel with the same name.
 */
void channels_send(struct driver *driver) {
    struct channel *channel, *next = NULL;

    if (driver->subscriptions.phase != READY || driver->subscriptions.busy)
        return;
    if (driver->first_channel == NULL || (!driver->subscriptions.ours && taken_has_left(driver->subscriptions.context)))
        return;
    for (channel = driver->first_channel; channel != NULL; channel = channel->next) {
        if (channel->sent)
            return;
        if (next == NULL && channel->step != LISTENING)
            next = channel;
    }
    if (next != NULL && send(driver, next)) {
        next->sent = true;
        driver->subscriptions.unwritten = true;
    }
}

void channel_subscribe(struct driver *driver, const fencepost_command *command) {
    const fencepost_view *name = &command->arguments[0];
    struct channel *channel = calloc(1, sizeof *channel + name->size + 1);
    uint64_t id = command->id;

    if (channel == NULL) {
        fencepost_hub_failed(driver->hub, fencepost_now(), id, FENCEPOST_FAILURE_NOT_SENT);
        return;
    }
    channel->driver = driver;
    channel->command = id;
    channel->size = name->size;
    memcpy(channel->name, name->data, name->size);
    add(driver, channel);
    if (!link_is_down(&driver->subscriptions)) {
        channels_send(driver);
        return;
    }
    discard(channel);
    if (driver->subscriptions.phase == OVER)
        reply_give_error(driver->hub, id, "ERR this client has no connection for subscriptions");
    else
        fencepost_hub_failed(driver->hub, fencepost_now(), id, FENCEPOST_FAILURE_NOT_SENT);
}

void channel_unsubscribe(struct driver *driver, const fencepost_command *command) {
    const fencepost_view *name = &command->arguments[0];
    struct channel *channel;

    for (channel = driver->first_channel; channel != NULL; channel = channel->next) {
        if (channel->step != UNSUBSCRIBING && channel->size == name->size &&
            memcmp(channel->name, name->data, name->size) == 0)
            break;
    }
    if (channel == NULL)
        return;
    if (channel->step == SUBSCRIBING && !channel->sent) {
        discard(channel);
        return;
    }
    channel->step = UNSUBSCRIBING;
    channels_send(driver);
}

/* Reports that the connection has ended or was not made. On a connection of the program, hiredis also calls `received`
 * for the channels that it knows, before or after this. */
void channels_fail(struct driver *driver) {
    struct link *link = &driver->subscriptions;
    struct channel *channel, *next;

    for (channel = driver->first_channel; channel != NULL; channel = next) {
        uint64_t command = channel->command, now = fencepost_now();
        bool known = channel->sent || channel->step != SUBSCRIBING, lost = channel->step == LISTENING;

        next = channel->next;
        if (known && !link->ours)
            continue;
        if (driver->hub == NULL || channel->step == UNSUBSCRIBING)
            ; /* no machine waits for it */
        else if (lost)
            fencepost_hub_gone(driver->hub, now, command);
        else if (link->trouble[0] != '\0')
            reply_give_error(driver->hub, command, link->trouble);
        else
            fencepost_hub_failed(
                driver->hub, now, command, known ? FENCEPOST_FAILURE_UNKNOWN : FENCEPOST_FAILURE_NOT_SENT);
        discard(channel);
    }
}

/* Frees the channels of a closed client. On a connection of the program, the driver unsubscribes from them, and frees
 * them when the server has confirmed that. */
void channels_forget(struct driver *driver) {
    struct channel *channel;
    bool known;

    while ((channel = driver->first_channel) != NULL) {
        known = channel->sent || channel->step != SUBSCRIBING;
        take(driver, channel);
        channel->driver = NULL;
        if (!known || driver->subscriptions.context == NULL) {
            free(channel);
            continue;
        }
        taken_leave(channel, driver->subscriptions.context);
        if (channel->step != UNSUBSCRIBING || !channel->sent) {
            channel->step = UNSUBSCRIBING;
            send(driver, channel);
        }
    }
}
