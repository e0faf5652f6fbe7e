/* The worker's side of the protocol (../README.md): a program passes a lock to serve. */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include <stdint.h>

/* A way to acquire a lock. Any error ends the program by `fail`. */
typedef struct lock {
    void (*acquire)(void *self);
    void (*release)(void *self);
    void (*close)(void *self);
    /* The time at which the last acquire counts as returned, or the last release as called. NULL if these are the times
     * of the calls themselves. */
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

/* Prints "ready" and runs commands until "quit". */
int serve(const lock *l);

/* Ends the program with a message. */
void fail(const char *what, const char *why);

#endif
