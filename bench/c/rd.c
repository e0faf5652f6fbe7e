#include "rd.h"

#include <stdio.h>

redisContext *rd_open(const address *at) {
    struct timeval limit = {10, 0};
    redisContext *c = redisConnectWithTimeout(at->host, at->port, limit);
    if (!c || c->err)
        fail(at->host, c ? c->errstr : "out of memory");
    return c;
}

redisReply *rd_call(redisContext *c, int count, const char **arguments) {
    redisReply *reply = redisCommandArgv(c, count, arguments, NULL);
    if (!reply)
        fail(arguments[0], c->errstr);
    if (reply->type == REDIS_REPLY_ERROR)
        fail(arguments[0], reply->str);
    return reply;
}

void rd_load(redisContext *c, const char *text, char sha[41]) {
    const char *arguments[] = {"SCRIPT", "LOAD", text};
    redisReply *reply = rd_call(c, 3, arguments);
    snprintf(sha, 41, "%s", reply->str);
    freeReplyObject(reply);
}
