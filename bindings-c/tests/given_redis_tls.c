/* A connection of the program with TLS, which hiredis has since 1.0. The client encrypts everything that it writes: the
 * server accepts nothing else. */
#include <fencepost-redis.h>
#include <hiredis/hiredis_ssl.h>
#include <poll.h>

#include "support.h"

static int greeted;

static void on_greeting(redisAsyncContext *context, void *reply, void *data) {
    (void)context, (void)data;
    greeted = reply != NULL && ((redisReply *)reply)->type == REDIS_REPLY_STATUS ? 1 : -1;
}

/* Connects and authenticates. This function runs the connection itself. */
static redisAsyncContext *open_one(redisSSLContext *tls) {
    redisAsyncContext *context;
    struct pollfd source;
    char host[256], *port;
    int64_t end = millis() + LONG;

    snprintf(host, sizeof host, "%s", getenv("FENCEPOST_REDIS_TLS"));
    port = strrchr(host, ':');
    *port++ = '\0';
    context = redisAsyncConnect(host, atoi(port));
    source.fd = context->c.fd;
    source.events = POLLOUT;
    poll(&source, 1, LONG);
    if (redisInitiateSSLWithContext(&context->c, tls) != REDIS_OK)
        return NULL;
    greeted = 0;
    redisAsyncCommand(context, on_greeting, NULL, "AUTH %s", getenv("FENCEPOST_REDIS_TLS_PASSWORD"));
    source.events = POLLIN;
    while (greeted == 0 && millis() < end) {
        redisAsyncHandleWrite(context);
        if (poll(&source, 1, 10) > 0)
            redisAsyncHandleRead(context);
    }
    return greeted == 1 ? context : NULL;
}

static void commands_are_encrypted(void) {
    redisSSLContextError error;
    redisSSLContext *tls;
    redisAsyncContext *commands, *subscriptions;
    fencepost_grant *waiting = NULL, *grant;
    fencepost_client *client;
    const char *name = new_name("tls");
    int i;

    redisInitOpenSSL();
    tls = redisCreateSSLContext(getenv("FENCEPOST_REDIS_TLS_CA"), NULL, NULL, NULL, NULL, &error);
    NEED(tls != NULL);
    commands = open_one(tls);
    subscriptions = open_one(tls);
    NEED(commands != NULL && subscriptions != NULL);
    CHECK_RESULT(fencepost_redis_attach(commands, subscriptions, &client), FENCEPOST_OK);
    for (i = 0; i < 20; i++)
        let_go(hold(client, name));
    grant = hold(client, name);
    NEED(grant != NULL);
    CHECK_RESULT(fencepost_acquire(client, name, BRIEF, &waiting), FENCEPOST_RESULT_TIMEOUT);
    CHECK_RESULT(fencepost_extend(grant), FENCEPOST_OK);
    let_go(grant);
    close_client(client);
    redisAsyncFree(commands);
    redisAsyncFree(subscriptions);
    redisFreeSSLContext(tls);
}

int main(void) {
    TEST(commands_are_encrypted);
    return check_close();
}
