/* Functions for tests on servers: addresses, the control port, other processes, raw connections. */
#ifndef FENCEPOST_TESTS_SUPPORT_H
#define FENCEPOST_TESTS_SUPPORT_H

#include <fencepost-driver.h>
#include <hiredis/hiredis.h>
#include <sys/types.h>
#include <zookeeper/zookeeper.h>

#include "check.h"

/* The limit for any wait, in milliseconds: a test that waits longer fails. Valgrind is slow. */
#define LONG 20000

/* Enough time for a busy server to reply that another client holds the lock (ms). */
#define BRIEF 1000

enum family { MEMORY, ZOOKEEPER, REDIS, FAMILIES };

/* The address of a server, from the environment; NULL if it does not run. */
const char *server(enum family family);
/* The same; but NULL if the test program was built for another family. The program for all families tests the others.
 */
const char *address(enum family family);
const char *label(enum family family);
/* The URL of a server, with `rest` at the end, in one of several buffers. */
const char *url(enum family family, const char *rest);
/* The URL of an address. */
const char *url_of(const char *scheme, const char *address, const char *rest);
/* A name that no other test uses. */
const char *new_name(const char *what);

/* Connects, or ends the test program. */
fencepost_client *client_of(const char *url);
void close_client(fencepost_client *client);
/* Acquires; NULL on a failure. */
fencepost_grant *hold(fencepost_client *client, const char *name);
void let_go(fencepost_grant *grant);
/* The same with options; and a lock object with options. */
fencepost_grant *hold_with(fencepost_client *client, const char *name, const fencepost_options *options);
fencepost_lock *lock_with(fencepost_client *client, const char *name, const fencepost_options *options);
/* The number of holders and waiters of a ZooKeeper lock. */
size_t contenders(fencepost_client *client, const char *name, const fencepost_options *options);

/* Connects to HOST:PORT; -1 on a failure. */
int dial(const char *address);
/* Runs a command on the control port. Returns the value of `key` in its reply, or NULL on a failure, in one of several
 * buffers. */
const char *control(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Opens a proxy in front of a server. Returns its id, and its address in `address`. */
const char *proxy_open(const char *server, const char **address);

/* Another process that runs the program `holder` and has printed a line. */
struct process {
    pid_t id;
    FILE *out;
};
bool process_start(struct process *process, const char *mode, const char *url, const char *name);
void process_kill(struct process *process, int signal);

/* Raw connections. */
redisReply *redis(const char *format, ...);
/* Whether fencepost uses the ZooKeeper library with threads in this program. */
bool is_threaded(void);
zhandle_t *zookeeper_open(const char *hosts, int timeout);
/* The full path of the first node in a lock's directory whose name contains a part. */
bool zookeeper_find(zhandle_t *handle, const char *directory, const char *part, char *path, size_t size);

/* Milliseconds since some time. */
int64_t millis(void);
/* Evaluates a condition again and again until it holds, for a limited time. */
#define EVENTUALLY(condition)                                                                                          \
    do {                                                                                                               \
        int64_t end_ = millis() + LONG;                                                                                \
        int holds_;                                                                                                    \
        while (!(holds_ = (condition)) && millis() < end_)                                                             \
            poll(NULL, 0, 2);                                                                                          \
        check(holds_, #condition, __FILE__, __LINE__);                                                                 \
    } while (0)

#endif
