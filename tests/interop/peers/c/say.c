/* Lines of JSON, and the clock. */

#define _POSIX_C_SOURCE 200809L

#include "peer.h"

#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t speaking = PTHREAD_MUTEX_INITIALIZER;

static void print(const char *begin, const char *format, va_list arguments) {
    pthread_mutex_lock(&speaking);
    fputs(begin, stdout);
    vprintf(format, arguments);
    puts("}");
    fflush(stdout);
    pthread_mutex_unlock(&speaking);
}

void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print("{", format, arguments);
    va_end(arguments);
}

void answer(const char *command, const char *format, ...) {
    char begin[128];
    va_list arguments;
    snprintf(begin, sizeof begin, "{\"answer\": \"%s\", \"ok\": true%s", command, *format ? ", " : "");
    va_start(arguments, format);
    print(begin, format, arguments);
    va_end(arguments);
}

void complain(const char *command, const char *why) {
    char text[TEXT];
    size_t length = 0;
    for (; *why != '\0' && length + 2 < sizeof text; why += 1) {
        if (*why == '"' || *why == '\\')
            text[length++] = '\\';
        text[length++] = (unsigned char)*why < ' ' ? ' ' : *why;
    }
    text[length] = '\0';
    say("\"answer\": \"%s\", \"ok\": false, \"error\": \"%s\"", command, text);
}

int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

void pause_ms(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}
