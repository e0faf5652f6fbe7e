/* What tests on servers need: addresses, the control port, other processes, raw connections. */
#ifndef FENCEPOST_TESTS_SUPPORT_H
#define FENCEPOST_TESTS_SUPPORT_H

#include <fencepost-driver.h>
#include <hiredis/hiredis.h>
#include <sys/types.h>
#include <zookeeper/zookeeper.h>

#include "check.h"

/* How long anything may take, in milliseconds: a test that waits longer has failed. Valgrind is slow. */
#define LONG 20000

/* Enough for a busy server to answer that another client holds the lock (ms). */
#define BRIEF 1000

enum family { MEMORY, ZOOKEEPER, REDIS, FAMILIES };

/* A server, by what the environment says; NULL: it does not run. */
const char *server(enum family family);
/* The same, and NULL where the test program has been built for another family: what it tests there is what the program
 * that was built for all of them tests. */
const char *address(enum family family);
const char *label(enum family family);
/* A URL of it, in one of a few buffers; `rest` is added. */
const char *url(enum family family, const char *rest);
/* A URL of an address. */
const char *url_of(const char *scheme, const char *address, const char *rest);
/* A name that no other test has. */
const char *new_name(const char *what);

/* Connects, or ends the test program. */
fencepost_client *client_of(const char *url);
void close_client(fencepost_client *client);
/* Acquires at once; NULL if it did not work. */
fencepost_grant *hold(fencepost_client *client, const char *name);
void let_go(fencepost_grant *grant);
/* The same with options; and a lock. */
fencepost_grant *hold_with(fencepost_client *client, const char *name, const fencepost_options *options);
fencepost_lock *lock_with(fencepost_client *client, const char *name, const fencepost_options *options);
/* How many hold a ZooKeeper lock or wait for it. */
size_t contenders(fencepost_client *client, const char *name, const fencepost_options *options);

/* A connection to HOST:PORT; -1: there is none. */
int dial(const char *address);
/* Does a verb on the control port; the value of `key` in its answer, or NULL if it failed. In one of a few buffers. */
const char *control(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A proxy in front of a server: its id, and its address. */
const char *proxy_open(const char *server, const char **address);

/* Another process that runs the program `holder`, and has said a line. */
struct process {
    pid_t id;
    FILE *out;
};
bool process_start(struct process *process, const char *mode, const char *url, const char *name);
void process_kill(struct process *process, int signal);

/* Raw connections. */
redisReply *redis(const char *format, ...);
/* Whether fencepost has taken the ZooKeeper library with threads for this program. */
bool is_threaded(void);
zhandle_t *zookeeper_open(const char *hosts, int timeout);
/* The full path of the first node in a lock's directory whose name contains a part. */
bool zookeeper_find(zhandle_t *handle, const char *directory, const char *part, char *path, size_t size);

/* Milliseconds since some time. */
int64_t millis(void);
/* Asks again and again, for a while. */
#define EVENTUALLY(condition)                                                                                          \
    do {                                                                                                               \
        int64_t end_ = millis() + LONG;                                                                                \
        int holds_;                                                                                                    \
        while (!(holds_ = (condition)) && millis() < end_)                                                             \
            poll(NULL, 0, 2);                                                                                          \
        check(holds_, #condition, __FILE__, __LINE__);                                                                 \
    } while (0)

#endif
