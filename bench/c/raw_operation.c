/* The client libraries alone, with the requests of a claim and of its completion. Names, data and arguments are as long
 * as fencepost's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "operation.h"
#include "raw.h"
#include "rd.h"
#include "scripts.h" /* generated: the texts in core/src/redis/scripts */
#include "zk.h"

#define KEEP_TOMBSTONE "10000"

/* The operation under way: there is one at a time. */
static char scope[128], record[ZK_PATH], lease[2 * ZK_PATH], attempt[64];
static redisContext *connection;
static char claim_sha[41], complete_sha[41];
static zk z;

static void take_next(char key[OPERATION_KEY], unsigned long *number) {
    *number = operation_next(key);
    snprintf(attempt, sizeof attempt, "%016lx%016lx-1", (unsigned long)getpid(), *number);
}

static void run(int count, const char **arguments, const size_t *sizes, const char *wanted) {
    redisReply *reply = redisCommandArgv(connection, count, arguments, sizes);
    /* A cycle that fails must not count as a fast one. */
    if (!reply || reply->type != REDIS_REPLY_STRING || strncmp(reply->str, wanted, strlen(wanted)))
        fail(wanted, reply && reply->str ? reply->str : connection->errstr);
    freeReplyObject(reply);
}

static void claim_on_redis(void *self) {
    char key[OPERATION_KEY];
    unsigned long number;
    (void)self;
    take_next(key, &number);
    snprintf(record, sizeof record, "fencepost:{%s/%s}", scope, key);
    snprintf(lease, sizeof lease, "%s:gone:%s", record, attempt);
    const char *arguments[] = {"EVALSHA", claim_sha,      "2",           record, lease,
                               attempt,   KEEP_TOMBSTONE, "0",           "",     OPERATION_FINGERPRINT,
                               "",        OPERATION_KEPT, OPERATION_KEPT};
    run(13, arguments, NULL, "claimed");
}

static void complete_on_redis(void *self) {
    char channel[ZK_PATH + 8];
    (void)self;
    snprintf(channel, sizeof channel, "%s:ended", record);
    const char *arguments[] = {"EVALSHA",     complete_sha,       "2",    record, lease, attempt, KEEP_TOMBSTONE,
                               OPERATION_TAG, operation_result(), channel};
    size_t sizes[10];
    for (int i = 0; i < 10; i++)
        sizes[i] = i == 8 ? OPERATION_RESULT : strlen(arguments[i]);
    run(10, arguments, sizes, "completed");
}

static void end_redis(void *self) {
    (void)self;
    redisFree(connection);
}

lock raw_operation_redis(const address *at, const char *name) {
    snprintf(scope, sizeof scope, "%s", name);
    connection = rd_open(at);
    rd_load(connection, CLAIM_LUA, claim_sha);
    rd_load(connection, COMPLETE_LUA, complete_sha);
    return (lock){claim_on_redis, complete_on_redis, end_redis, NULL, NULL};
}

static int write_data(char *to, size_t size, const char *state, const char *fence) {
    return snprintf(
        to, size, "fencepost-record:1\nstate:%zu:%s\nattempt:%zu:%s\n%sfingerprint:%zu:%s\nretention:%zu:%s\n",
        strlen(state), state, strlen(attempt), attempt, fence, strlen(OPERATION_FINGERPRINT), OPERATION_FINGERPRINT,
        strlen(OPERATION_KEPT), OPERATION_KEPT);
}

static void check(const char *what) {
    int code = zk_wait(&z);
    if (code != ZOK)
        fail(what, zerror(code));
}

static void claim_on_zookeeper(void *self) {
    char key[OPERATION_KEY], data[512];
    unsigned long number;
    zoo_op_t steps[2];
    (void)self;
    take_next(key, &number);
    /* The directories exist: the benchmark makes them. */
    snprintf(record, sizeof record, "/fencepost/%s/%02lx/%s", scope, number % 256, key);
    snprintf(lease, sizeof lease, "%s/%s", record, attempt);
    int size = write_data(data, sizeof data, "running", "");
    zoo_create_op_init(&steps[0], record, data, size, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    zoo_create_op_init(&steps[1], lease, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, NULL, 0);
    zk_multi(&z, 2, steps);
    zk_get(&z, lease, NULL, NULL);
    check("claim");
}

static void complete_on_zookeeper(void *self) {
    char data[2048], fence[64], number[32];
    zoo_op_t steps[2];
    (void)self;
    snprintf(number, sizeof number, "%lld", (long long)z.czxid);
    snprintf(fence, sizeof fence, "fence:%zu:%s\n", strlen(number), number);
    int size = write_data(data, sizeof data, "done", fence);
    size += snprintf(
        data + size, sizeof data - (size_t)size, "tag:%zu:%s\nresult:%d:%.*s\n", strlen(OPERATION_TAG), OPERATION_TAG,
        OPERATION_RESULT, OPERATION_RESULT, operation_result());
    zoo_delete_op_init(&steps[0], lease, -1);
    zoo_set_op_init(&steps[1], record, data, size, 0, NULL);
    zk_multi(&z, 2, steps);
    check("complete");
}

static void end_zookeeper(void *self) {
    (void)self;
    zk_close(&z);
}

lock raw_operation_zookeeper(const address *at, const char *name) {
    snprintf(scope, sizeof scope, "%s", name);
    zk_open(&z, at, name);
    return (lock){claim_on_zookeeper, complete_on_zookeeper, end_zookeeper, NULL, NULL};
}
