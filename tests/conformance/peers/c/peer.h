/* The common header of the peer in C: the protocol is in ../../README.md. */
#ifndef PEER_H
#define PEER_H

#include <fencepost-testing.h>

#include <stdbool.h>

enum { TEXT = 4096, WORDS = 12 };

/* A command: its number, verb and words; words with an equals sign are options. */
typedef struct command {
    char text[TEXT];
    const char *number, *verb;
    char *words[WORDS], *options[WORDS];
    int count, option_count;
} command;

/* The types of named objects. */
typedef enum type { CLIENT, LOCK, ATTEMPT, GRANT, FOUND, SCOPE, TAG, RECORD, TYPES } type;

/* words.c */
bool parse(command *order);
/* Decodes a percent-encoded word in its place. */
char *unquote(char *word);
/* The value of an option; NULL if it was not given. */
char *option(const command *order, const char *name);
/* Opens the lock of a command: NAME CLIENT KIND PATH OPTIONS. */
fencepost_result lock_open(const command *order, fencepost_client *client, fencepost_lock **lock);

/* names.c: the objects by name. A second object with the same name hides the first, which stays until the reset. */
void name_give(type of, const char *name, void *object);
/* The newest object with this name; NULL if there is none. */
void *name_find(type of, const char *name);
/* Removes the newest object with this name, which the caller frees. */
void *name_take(type of, const char *name);
/* Closes all clients, waits until no other command runs, and frees everything. */
fencepost_result names_reset(void);
void command_begins(void);
void command_ends(void);

/* commands.c */
void say(const char *number, const char *answer, const char *format, ...);
void say_result(const command *order, fencepost_result result);
/* Begins an acquire, in the order of the input. Returns whether the command needs carry_out. */
bool begin(const command *order);
/* Runs a command after begin, and prints its answer. */
void carry_out(const command *order);

/* operations.c */
fencepost_result claim_start(const command *order, fencepost_attempt **attempt);
void finish_claim(const command *order);
/* Runs another command on operations. Returns whether it was one. */
bool does_operation(const command *order);

/* work.c */
/* The effect of an operation: a line of a file. */
void effect(const char *path, const char *key, const fencepost_grant *claim);
/* Claims many keys. */
void work(const command *order);

#endif
