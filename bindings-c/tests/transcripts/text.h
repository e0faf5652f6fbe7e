/* A growing text, and functions that append JSON to it. */
#ifndef FENCEPOST_TESTS_TEXT_H
#define FENCEPOST_TESTS_TEXT_H

#include <fencepost.h>

struct text {
    char *data;
    size_t size, capacity;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A JSON string. */
void text_string(struct text *text, fencepost_view view);
/* A number, or null for FENCEPOST_NEVER. */
void text_time(struct text *text, uint64_t time);

#endif
