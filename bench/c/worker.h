/* The worker's side of the protocol (../README.md): a program gives it a lock, and calls serve. */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include <stdint.h>

/* A way to take a lock. Any error ends the program by `fail`. */
typedef struct lock {
    void (*acquire)(void *self);
    void (*release)(void *self);
    void (*close)(void *self);
    /* The moment at which the last acquire or release counts as returned or called, where that is not the call itself;
     * else NULL. */
    int64_t (*moment)(void *self);
    void *self;
} lock;

/* An address: zk://HOST:PORT?session_timeout=MS or redis://HOST:PORT. */
typedef struct address {
    char host[256];
    int port;
    int session_timeout; /* ms */
    int is_zookeeper;
} address;

void read_address(const char *url, address *out);

/* Nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share. */
int64_t clock_ns(void);

/* Says "ready" and obeys until "quit". */
int serve(const lock *l);

/* Ends the program with a message. */
void fail(const char *what, const char *why);

#endif
