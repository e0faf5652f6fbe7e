/* What the parts of the peer in C have in common: the protocol is in ../../README.md. */
#ifndef PEER_H
#define PEER_H

#include <fencepost-testing.h>

#include <stdbool.h>

enum { TEXT = 4096, WORDS = 12 };

/* A command: its number, verb and words; those with an equals sign are options. */
typedef struct command {
    char text[TEXT];
    const char *number, *verb;
    char *words[WORDS], *options[WORDS];
    int count, option_count;
} command;

/* What a name may stand for. */
typedef enum type { CLIENT, LOCK, ATTEMPT, GRANT, FOUND, SCOPE, TAG, RECORD, TYPES } type;

/* words.c */
bool parse(command *order);
/* Decodes a percent-encoded word in its place. */
char *unquote(char *word);
/* The value of an option; NULL if it was not given. */
char *option(const command *order, const char *name);
/* A lock as a command asks for it: NAME CLIENT KIND PATH OPTIONS. */
fencepost_result lock_open(const command *order, fencepost_client *client, fencepost_lock **lock);

/* names.c: what has a name. A name that is given again stands for the new object; the old one stays until the reset. */
void name_give(type of, const char *name, void *object);
/* NULL if nothing has this name. */
void *name_find(type of, const char *name);
/* The newest object of this name, which the caller frees. */
void *name_take(type of, const char *name);
/* Closes all clients, waits until no other command is under way, and frees everything. */
fencepost_result names_reset(void);
void command_begins(void);
void command_ends(void);

/* commands.c */
void say(const char *number, const char *answer, const char *format, ...);
void say_result(const command *order, fencepost_result result);
/* Begins an acquire, in the order of the input; whether there is more to do. */
bool begin(const command *order);
/* Does a command that was begun, and says what has come of it. */
void carry_out(const command *order);

/* operations.c */
fencepost_result claim_start(const command *order, fencepost_attempt **attempt);
void finish_claim(const command *order);
/* Does another command on operations, if it is one. */
bool does_operation(const command *order);

/* work.c */
/* The effect of an operation: a line of a file. */
void effect(const char *path, const char *key, const fencepost_grant *claim);
/* Claims many keys. */
void work(const command *order);

#endif
