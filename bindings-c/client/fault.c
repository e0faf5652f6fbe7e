/* Errors with their words, time, and random numbers. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "internal.h"

/* Names a failure; without a format, in the words that belong to the result. */
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

/* A seed: it spreads retries and decides nothing, so any number will do. */
uint64_t random_number(void) {
    uint64_t number = 0;

    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number)
        number = fencepost_now();
    return number;
}

/* Who contends. Uniqueness is a safety property: without the system's random source there is no acquire. */
fencepost_result random_owner(uint8_t owner[16]) {
    if (getrandom(owner, 16, 0) != 16)
        return fault(FENCEPOST_RESULT_SYSTEM_ERROR, "the operating system gives no random bytes");
    return FENCEPOST_RESULT_OK;
}
