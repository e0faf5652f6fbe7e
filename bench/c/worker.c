#define _GNU_SOURCE
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why ? why : "failed");
    exit(1);
}

int64_t clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void read_address(const char *url, address *out) {
    out->session_timeout = 10000;
    if (sscanf(url, "zk://%255[^:]:%d?session_timeout=%d", out->host, &out->port, &out->session_timeout) >= 2) {
        out->is_zookeeper = 1;
    } else if (sscanf(url, "redis://%255[^:]:%d", out->host, &out->port) == 2) {
        out->is_zookeeper = 0;
    } else {
        fail(url, "zk://HOST:PORT?session_timeout=MS or redis://HOST:PORT");
    }
}

static void hold(long microseconds) {
    struct timespec t = {microseconds / 1000000, microseconds % 1000000 * 1000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) != 0) {
    }
}

static void cycle(const lock *l, long times) {
    int64_t *taken = calloc((size_t)times, sizeof *taken);
    if (!taken)
        fail("cycle", "out of memory");
    for (long i = 0; i < times; i++) {
        int64_t start = clock_ns();
        l->acquire(l->self);
        l->release(l->self);
        taken[i] = clock_ns() - start;
    }
    for (long i = 0; i < times; i++)
        printf("%s%lld", i ? "," : "[", (long long)taken[i]);
    printf(times ? "]\n" : "[]\n");
    free(taken);
}

typedef struct turn {
    int64_t called, granted, released;
} turn;

static void contend(const lock *l, long milliseconds, long microseconds) {
    size_t count = 0, room = 0;
    turn *turns = NULL;
    int64_t called, end = clock_ns() + (int64_t)milliseconds * 1000000;
    while ((called = clock_ns()) < end) {
        if (count == room) {
            room = room ? room * 2 : 256;
            turns = realloc(turns, room * sizeof *turns);
            if (!turns)
                fail("contend", "out of memory");
        }
        turn *own = &turns[count++];
        own->called = called;
        l->acquire(l->self);
        own->granted = clock_ns();
        hold(microseconds);
        own->released = clock_ns();
        l->release(l->self);
    }
    printf("[");
    for (size_t i = 0; i < count; i++) {
        const turn *own = &turns[i];
        printf(
            "%s[%lld,%lld,%lld]", i ? "," : "", (long long)own->called, (long long)own->granted,
            (long long)own->released);
    }
    printf("]\n");
    free(turns);
}

static void call(const lock *l, int acquire) {
    int64_t called = clock_ns();
    (acquire ? l->acquire : l->release)(l->self);
    int64_t returned = clock_ns();
    if (l->moment)
        *(acquire ? &returned : &called) = l->moment(l->self);
    printf("[%lld,%lld]\n", (long long)called, (long long)returned);
}

int serve(const lock *l) {
    char line[128];
    long one, two;
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) && strcmp(line, "quit\n") != 0) {
        if (sscanf(line, "cycle %ld", &one) == 1) {
            cycle(l, one);
        } else if (sscanf(line, "contend %ld %ld", &one, &two) == 2) {
            contend(l, one, two);
        } else if (strcmp(line, "acquire\n") == 0 || strcmp(line, "release\n") == 0) {
            call(l, line[0] == 'a');
        } else {
            fail("unknown command", line);
        }
        fflush(stdout);
    }
    l->close(l->self);
    return 0;
}
