/* Chooses the server that the library tries next. The library has a list of servers in its own order. After an error,
 * it advances by one step in that list, and by another step when it connects. So with two servers, it would always try
 * the same one. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* A limit: an ensemble has fewer addresses. */
#define MOST_STEPS 64

/* The library writes the current server into one static buffer for all handles. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

FENCEPOST_FORK_SAFE(mutex, )

/* The server that the handle has tried last. A thread of libzookeeper_mt may write its log into the same buffer. So
 * this reads twice: if the texts are equal, they are complete. A wrong text would only cost one more attempt to
 * connect. */
void server_current(zhandle_t *handle, char server[SERVER_SIZE]) {
    char again[SERVER_SIZE];
    int tries = 4;

    pthread_mutex_lock(&mutex);
    do {
        snprintf(again, SERVER_SIZE, "%s", zoo_get_current_server(handle));
        snprintf(server, SERVER_SIZE, "%s", zoo_get_current_server(handle));
    } while (strcmp(again, server) != 0 && --tries > 0);
    pthread_mutex_unlock(&mutex);
}

/* Advances in the list until this server is the current one. Returns the number of steps; 0 if the server is not in the
 * list. */
static int go_to(zhandle_t *handle, const char *server) {
    char current[SERVER_SIZE];
    int steps;

    for (steps = 1; steps <= MOST_STEPS; steps++) {
        zoo_cycle_next_server(handle);
        server_current(handle, current);
        if (strcmp(current, server) == 0)
            return steps;
    }
    return 0;
}

/* Makes the server after this one the next one, and writes its name to `server`. The library must have no connection.
 */
void server_pass(zhandle_t *handle, char server[SERVER_SIZE]) {
    char next[SERVER_SIZE];

    if (server[0] == '\0' || go_to(handle, server) == 0)
        return;
    zoo_cycle_next_server(handle);
    server_current(handle, next);
    go_to(handle, server);
    memcpy(server, next, SERVER_SIZE);
}

/* Makes the server after this one the next one. The library has a connection, which is about to end with an error. */
void server_pass_early(zhandle_t *handle, const char server[SERVER_SIZE]) {
    int count = go_to(handle, server) == 0 ? 0 : go_to(handle, server);

    while (--count > 0)
        zoo_cycle_next_server(handle);
}
