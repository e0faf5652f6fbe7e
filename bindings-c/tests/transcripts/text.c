#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void text_add(struct text *text, const char *format, ...) {
    va_list arguments;
    size_t length;

    va_start(arguments, format);
    length = (size_t)vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (text->size + length + 1 > text->capacity) {
        text->capacity = (text->size + length + 1) * 2;
        text->data = realloc(text->data, text->capacity);
        if (text->data == NULL)
            abort();
    }
    va_start(arguments, format);
    vsnprintf(text->data + text->size, length + 1, format, arguments);
    va_end(arguments);
    text->size += length;
}

/* Escapes like every JSON writer of the project: with the short form of an escape if there is one. */
static void add_byte(struct text *text, uint8_t byte) {
    static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    size_t i;

    for (i = 0; i + 1 < sizeof shorts; i += 2) {
        if (byte == (uint8_t)shorts[i]) {
            text_add(text, "\\%c", shorts[i + 1]);
            return;
        }
    }
    if (byte < 0x20)
        text_add(text, "\\u%04x", byte);
    else
        text_add(text, "%c", byte);
}

void text_string(struct text *text, fencepost_view view) {
    size_t i;

    text_add(text, "\"");
    for (i = 0; i < view.size; i++)
        add_byte(text, view.data[i]);
    text_add(text, "\"");
}

void text_time(struct text *text, uint64_t time) {
    if (time == FENCEPOST_NEVER)
        text_add(text, "null");
    else
        text_add(text, "%" PRIu64, time);
}
