/* Acquires fencepost's locks on command, in C: the protocol is in ../../README.md.
 * usage: c_peer LAYOUT HOSTS SESSION_MS, and LOGIN if it is built with GIVEN. */

#define _POSIX_C_SOURCE 200809L

#include "peer.h"

#include <stdlib.h>
#include <string.h>

#ifdef GIVEN
#include <fencepost-zookeeper.h>

#define USAGE "usage: c_given_peer LAYOUT HOSTS SESSION_MS LOGIN\n"
enum { ARGUMENTS = 5 };

/* A client on a handle that the peer makes. Only its user may change its nodes; all users may read them. */
static fencepost_result begin(char **argv) {
    static struct ACL rights[] = {{.id = {.scheme = "auth", .id = ""}}, {.id = {.scheme = "world", .id = "anyone"}}};
    static const struct ACL_vector list = {.count = 2, .data = rights};
    rights[0].perms = ZOO_PERM_ALL;
    rights[1].perms = ZOO_PERM_READ;
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    zhandle_t *handle = zookeeper_init(argv[2], NULL, atoi(argv[3]), NULL, NULL, 0);
    if (handle == NULL || zoo_add_auth(handle, "digest", argv[4], (int)strlen(argv[4]), NULL, NULL) != ZOK)
        return FENCEPOST_RESULT_BAD_ARGUMENT;
    /* The session must exist before the client. */
    while (zoo_state(handle) != ZOO_CONNECTED_STATE)
        pause_ms(1);
    return fencepost_zookeeper_attach(handle, NULL, &list, &client);
}
#else
#define USAGE "usage: c_peer LAYOUT HOSTS SESSION_MS\n"
enum { ARGUMENTS = 4 };

static fencepost_result begin(char **argv) {
    char url[TEXT];
    snprintf(url, sizeof url, "zk://%s?session_timeout=%s", argv[2], argv[3]);
    return fencepost_connect(url, &client);
}
#endif

static void obey(const command *order) {
    static const char *const later[] = {
        "acquire", "release", "release-again", "downgrade", "increment", "work", "workload"};
    const char *verb = order->words[0];
    for (size_t i = 0; i < sizeof later / sizeof *later; i += 1) {
        if (strcmp(verb, later[i]) == 0) {
            work_add(order);
            return;
        }
    }
    if (strcmp(verb, "cancel") == 0) {
        answer(verb, "\"cancelled\": %s", work_cancel() ? "true" : "false");
    } else if (strcmp(verb, "stop") == 0) {
        work_stop();
        answer(verb, "");
    } else if (strcmp(verb, "session") == 0) {
        tell_session();
    } else if (strcmp(verb, "contenders") == 0 && order->count == 3) {
        tell_contenders(order->words[1], order->words[2]);
    } else if (strcmp(verb, "revoke") == 0 && order->count == 2) {
        ask_for(order->words[1]);
    } else {
        complain(verb, "no such command of ours; see tests/interop/README.md");
    }
}

int main(int argc, char **argv) {
    static command order;
    if (argc != ARGUMENTS) {
        fprintf(stderr, USAGE);
        return 2;
    }
    layout = argv[1];
    if (begin(argv) != FENCEPOST_OK) {
        fprintf(stderr, "%s\n", fencepost_detail());
        return 1;
    }
    answer("ready", "\"peer\": \"c-%s\", \"version\": \"\"", layout);
    holds_watch();
    work_begin();
    while (fgets(order.text, sizeof order.text, stdin) != NULL) {
        order.count = 0;
        for (char *word = strtok(order.text, " \r\n"); word != NULL && order.count < WORDS;
             word = strtok(NULL, " \r\n")) {
            order.words[order.count++] = word;
        }
        if (order.count == 0)
            continue;
        if (strcmp(order.words[0], "quit") == 0)
            break;
        obey(&order);
    }
    /* Threads that wait for a lock get an error, and the peer does not wait for them. */
    fencepost_close(client);
    _Exit(0);
}
