/* Commands in the form of the protocol. hiredis's own function calls printf for every number, and allocates memory for
 * every command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The maximum number of digits of a size, with the bytes around them. */
#define HEAD 24

static bool reserve(struct text *text, size_t size) {
    char *data;

    if (size <= text->capacity)
        return true;
    if ((data = realloc(text->data, size * 2)) == NULL)
        return false;
    text->data = data;
    text->capacity = size * 2;
    return true;
}

/* Writes `*3\r\n` or `$40\r\n`, for example. Nearly all numbers have one or two digits. */
static void write_head(struct text *text, char kind, size_t number) {
    char *to = text->data + text->size;

    *to++ = kind;
    if (number < 100) {
        if (number >= 10)
            *to++ = (char)('0' + number / 10);
        *to++ = (char)('0' + number % 10);
    } else {
        to += sprintf(to, "%zu", number);
    }
    *to++ = '\r';
    *to++ = '\n';
    text->size = (size_t)(to - text->data);
}

/* Replaces the text by a command. Returns false if there is no memory. */
bool protocol_write(struct text *text, const fencepost_command *command) {
    size_t needed = HEAD, i;

    for (i = 0; i < command->argument_count; i++)
        needed += HEAD + command->arguments[i].size + 2;
    if (!reserve(text, needed))
        return false;
    text->size = 0;
    write_head(text, '*', command->argument_count);
    for (i = 0; i < command->argument_count; i++) {
        const fencepost_view *argument = &command->arguments[i];
        write_head(text, '$', argument->size);
        if (argument->size > 0)
            memcpy(text->data + text->size, argument->data, argument->size);
        memcpy(text->data + text->size + argument->size, "\r\n", 2);
        text->size += argument->size + 2;
    }
    return true;
}
