/* Errors with their texts, and the time. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "internal.h"

/* Stores an error. If the format is NULL, the text is the default text of the result. */
fencepost_result fault(fencepost_result result, const char *format, ...) {
    char text[512];
    va_list arguments;

    if (format == NULL) {
        snprintf(text, sizeof text, "%s", fencepost_result_text(result));
    } else {
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
    }
    fencepost_set_detail((const uint8_t *)text, strlen(text));
    return result;
}

uint64_t fencepost_now(void) {
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}
