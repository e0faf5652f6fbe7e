#include "loop.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_read(void *data) {
    ((struct loop *)data)->reads = true;
}

static void del_read(void *data) {
    ((struct loop *)data)->reads = false;
}

static void add_write(void *data) {
    ((struct loop *)data)->writes = true;
}

static void del_write(void *data) {
    ((struct loop *)data)->writes = false;
}

static void cleanup(void *data) {
    ((struct loop *)data)->context = NULL;
}

static void connected(const redisAsyncContext *context, int status) {
    struct loop *loop = context->data;

    loop->connected = status == REDIS_OK;
}

static void disconnected(const redisAsyncContext *context, int status) {
    struct loop *loop = context->data;

    (void)status;
    loop->disconnects++;
}

void loop_attach(struct loop *loop) {
    redisAsyncContext *context = loop->context;

    context->ev.data = loop;
    context->ev.addRead = add_read;
    context->ev.delRead = del_read;
    context->ev.addWrite = add_write;
    context->ev.delWrite = del_write;
    context->ev.cleanup = cleanup;
    loop->reads = true;
}

void loop_detach(struct loop *loop) {
    memset(&loop->context->ev, 0, sizeof loop->context->ev);
}

bool loop_connect(struct loop *loop, const char *address) {
    char host[256], *port;
    int turns;

    snprintf(host, sizeof host, "%s", address);
    port = strrchr(host, ':');
    *port++ = '\0';
    memset(loop, 0, sizeof *loop);
    loop->context = redisAsyncConnect(host, atoi(port));
    if (loop->context == NULL || loop->context->err != 0)
        return false;
    loop->context->data = loop;
    loop_attach(loop);
    loop->reads = false;
    redisAsyncSetConnectCallback(loop->context, connected);
    redisAsyncSetDisconnectCallback(loop->context, disconnected);
    for (turns = 0; turns < 1000 && loop->context != NULL && !loop->connected; turns++)
        loop_turn(&loop, 1, -1, 10);
    return loop->connected;
}

bool loop_turn(struct loop **loops, int count, int descriptor, int milliseconds) {
    struct pollfd sources[8];
    int i;

    for (i = 0; i < count; i++) {
        sources[i].fd = loops[i]->context == NULL ? -1 : loops[i]->context->c.fd;
        sources[i].events = (short)((loops[i]->reads ? POLLIN : 0) | (loops[i]->writes ? POLLOUT : 0));
        sources[i].revents = 0;
    }
    sources[count].fd = descriptor;
    sources[count].events = POLLIN;
    sources[count].revents = 0;
    poll(sources, (nfds_t)count + 1, milliseconds);
    for (i = 0; i < count; i++) {
        if (loops[i]->context != NULL && sources[i].revents & (POLLOUT | POLLERR | POLLHUP) && loops[i]->writes)
            redisAsyncHandleWrite(loops[i]->context);
        if (loops[i]->context != NULL && sources[i].revents & (POLLIN | POLLERR | POLLHUP) && loops[i]->reads)
            redisAsyncHandleRead(loops[i]->context);
    }
    return sources[count].revents != 0;
}
