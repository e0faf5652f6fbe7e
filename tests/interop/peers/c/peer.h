/* The common header of the peer in C: see ../../README.md. */
#ifndef PEER_H
#define PEER_H

#include <fencepost-client.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { TEXT = 4096, WORDS = 6 };

/* The words of a command. */
typedef struct command {
    char *words[WORDS];
    int count;
    char text[TEXT];
} command;

/* A lock that is held. */
typedef struct hold {
    struct hold *next;
    fencepost_grant *grant;
    char kind[64];
    char path[1024];
    char node[1024];
    bool valid, lost, revoked;
    /* The end of its validity, as it reported at the last check; see `now`. */
    int64_t until;
} hold;

/* say.c: one line at a time, from any thread. */
void say(const char *format, ...);
void answer(const char *command, const char *format, ...);
void complain(const char *command, const char *why);
/* Microseconds of this machine's clock, for comparisons between processes. */
int64_t now(void);
void pause_ms(long ms);

/* recipes.c */
extern fencepost_client *client;
extern const char *layout;
fencepost_result lock_open(const char *kind, const char *path, fencepost_lock **lock);
/* Finds the contender with this fence or this node name. */
fencepost_result find_contender(
    const char *kind, const char *path, uint64_t fence, const char *node, fencepost_contenders **all,
    const fencepost_contender **found);
void tell_contenders(const char *kind, const char *path);
void tell_session(void);
void ask_for(const char *node);

/* holds.c: the holds, and the thread that checks them. */
void holds_watch(void);
void holds_add(hold *fresh);
/* Removes the last hold, or the last hold with this path or node; NULL if there is none. */
hold *holds_take(const char *what);
uint64_t holds_fence(void);

/* counter.c: the resources of tests/mixed and tests/faults. */
FILE *counter(const char *address);
bool increment(FILE *resource, uint64_t fence);
bool look(FILE *resource, uint64_t fence);
void held(FILE *resource, uint64_t fence, int64_t since, int64_t until);

/* work.c: the commands that run one after the other. */
void work_begin(void);
void work_add(const command *order);
bool work_cancel(void);
void work_stop(void);

#endif
