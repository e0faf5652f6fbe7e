/* Runs the commands of its input with the C client: the protocol is in ../../README.md. */

#define _POSIX_C_SOURCE 200809L

#include "peer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Each command has a thread, because it may wait. */
static void *run(void *given) {
    command *order = given;
    carry_out(order);
    free(order);
    command_ends();
    return NULL;
}

int main(void) {
    command *order = malloc(sizeof *order);
    while (order != NULL && fgets(order->text, sizeof order->text, stdin) != NULL) {
        pthread_t thread;
        if (!parse(order)) {
            fprintf(stderr, "a line that is no command\n");
            return 2;
        }
        if (!begin(order))
            continue;
        command_begins();
        if (pthread_create(&thread, NULL, run, order) != 0)
            abort();
        pthread_detach(thread);
        order = malloc(sizeof *order);
    }
    free(order);
    command_begins();
    fencepost_result result = names_reset();
    command_ends();
    return result == FENCEPOST_OK ? 0 : 1;
}
