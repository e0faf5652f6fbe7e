/* The counter of tests/mixed and the resources of tests/faults, which check fences. */

#define _POSIX_C_SOURCE 200809L

#include "peer.h"

#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

FILE *counter(const char *address) {
    static char last[256];
    static FILE *connection;
    char host[256];
    struct addrinfo hints = {0}, *found = NULL;
    int at_once = 1;
    if (connection != NULL && strcmp(last, address) == 0)
        return connection;
    if (connection != NULL)
        fclose(connection);
    connection = NULL;
    snprintf(last, sizeof last, "%s", address);
    snprintf(host, sizeof host, "%s", address);
    char *port = strrchr(host, ':');
    if (port == NULL)
        return NULL;
    *port++ = '\0';
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, port, &hints, &found) != 0)
        return NULL;
    int fd = socket(found->ai_family, found->ai_socktype, 0);
    int connected = fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0;
    freeaddrinfo(found);
    if (!connected)
        return NULL;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    return connection = fdopen(fd, "r+");
}

/* Sends a line and reads the reply. Returns whether the resource accepted the line. */
static bool ask(FILE *resource, const char *line, char *reply, int size) {
    fflush(resource);
    fputs(line, resource);
    fflush(resource);
    if (fgets(reply, size, resource) == NULL) {
        fprintf(stderr, "the counter has gone\n");
        exit(1);
    }
    return strncmp(reply, "stale", 5) != 0;
}

bool increment(FILE *resource, uint64_t fence) {
    char line[128], reply[128];
    snprintf(line, sizeof line, "read %" PRIu64 "\n", fence);
    if (!ask(resource, line, reply, sizeof reply))
        return false;
    snprintf(line, sizeof line, "write %" PRIu64 " %lu\n", fence, strtoul(reply, NULL, 10) + 1);
    return ask(resource, line, reply, sizeof reply);
}

bool look(FILE *resource, uint64_t fence) {
    char line[128], reply[128];
    snprintf(line, sizeof line, "look %" PRIu64 "\n", fence);
    return ask(resource, line, reply, sizeof reply);
}

void held(FILE *resource, uint64_t fence, int64_t since, int64_t until) {
    char line[128], reply[128];
    snprintf(line, sizeof line, "held %" PRIu64 " %" PRId64 " %" PRId64 "\n", fence, since, until);
    ask(resource, line, reply, sizeof reply);
}
