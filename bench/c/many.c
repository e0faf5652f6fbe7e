/* Many threads on one client, each with a lock of its own. */
#include "many.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STACK (256 * 1024)

enum job { RUN, HOLD, WAIT };

typedef struct task {
    lock l;
    pthread_t thread;
    enum job job;
    long cycles;
} task;

static struct {
    task *tasks;
    size_t count;
    pthread_barrier_t start;
    int64_t end;
} own;

/* How long the process has had a processor (ns). */
static int64_t processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The memory that the process occupies (bytes). */
static long long memory(void) {
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*s %lld", &pages) != 1)
        fail("/proc/self/statm", "cannot be read");
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static void *work(void *context) {
    task *t = context;
    if (t->job == RUN) {
        pthread_barrier_wait(&own.start);
        t->cycles = 0;
        do {
            t->l.acquire(t->l.self);
            t->l.release(t->l.self);
            t->cycles++;
        } while (clock_ns() < own.end);
    } else {
        t->l.acquire(t->l.self);
    }
    return NULL;
}

static void start(enum job job) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    for (size_t i = 0; i < own.count; i++) {
        own.tasks[i].job = job;
        if (pthread_create(&own.tasks[i].thread, &small, work, &own.tasks[i]) != 0)
            fail("pthread_create", "there are too many threads");
    }
    pthread_attr_destroy(&small);
}

static void join(void) {
    for (size_t i = 0; i < own.count; i++)
        pthread_join(own.tasks[i].thread, NULL);
}

static void run(long milliseconds) {
    long long cycles = 0;
    pthread_barrier_init(&own.start, NULL, (unsigned)own.count + 1);
    start(RUN);
    int64_t begin = clock_ns(), before = processor_time();
    own.end = begin + (int64_t)milliseconds * 1000000;
    pthread_barrier_wait(&own.start);
    join();
    int64_t took = clock_ns() - begin, busy = processor_time() - before;
    for (size_t i = 0; i < own.count; i++)
        cycles += own.tasks[i].cycles;
    printf("[%lld,%lld,%lld]\n", cycles, (long long)took, (long long)busy);
    pthread_barrier_destroy(&own.start);
}

static void open_more(opening another, const char *name, size_t count) {
    char full[128];
    own.tasks = realloc(own.tasks, (own.count + count) * sizeof *own.tasks);
    if (!own.tasks)
        fail("open", "out of memory");
    for (size_t end = own.count + count; own.count < end; own.count++) {
        snprintf(full, sizeof full, "%s-%zu", name, own.count);
        own.tasks[own.count] = (task){.l = another(full)};
    }
}

static void rest(long milliseconds) {
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

int serve_many(opening another, const char *name) {
    char line[128];
    long number;
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) && strcmp(line, "quit\n") != 0) {
        if (sscanf(line, "run %ld", &number) == 1) {
            run(number);
        } else if (strcmp(line, "memory\n") == 0) {
            printf("[%lld]\n", memory());
        } else {
            if (sscanf(line, "open %ld", &number) == 1) {
                open_more(another, name, (size_t)number);
            } else if (strcmp(line, "hold\n") == 0) {
                start(HOLD);
                join();
            } else if (sscanf(line, "wait %ld", &number) == 1) {
                start(WAIT);
                rest(number);
            } else {
                fail("unknown command", line);
            }
            printf("[]\n");
        }
        fflush(stdout);
    }
    /* Threads that wait for locks of another process end with this one. */
    _exit(0);
}
