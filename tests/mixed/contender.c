/* The contender in C: see README.md. */

#define _POSIX_C_SOURCE 200809L

#include <fencepost-client.h>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, fencepost_detail());
    exit(1);
}

static FILE *dial(const char *host, const char *port) {
    struct addrinfo hints = {0}, *found = NULL;
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, port, &hints, &found) != 0) return NULL;
    int fd = socket(found->ai_family, found->ai_socktype, 0);
    int at_once = 1;
    int connected = fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0;
    freeaddrinfo(found);
    if (!connected) return NULL;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    return fdopen(fd, "r+");
}

/* Sends a line and reads the reply. Returns whether the counter accepted the line. */
static int ask(FILE *counter, const char *line, char *answer, int size) {
    fflush(counter);
    fputs(line, counter);
    fflush(counter);
    if (fgets(answer, size, counter) == NULL) {
        fprintf(stderr, "the counter has gone\n");
        exit(1);
    }
    return strncmp(answer, "stale", 5) != 0;
}

/* Increments in three steps: send the fence and read, work, write. */
static int increment(FILE *counter, unsigned long long fence) {
    char line[80], answer[80];
    snprintf(line, sizeof line, "read %llu\n", fence);
    if (!ask(counter, line, answer, sizeof answer)) return 0;
    snprintf(line, sizeof line, "write %llu %lu\n", fence, strtoul(answer, NULL, 10) + 1);
    return ask(counter, line, answer, sizeof answer);
}

/* Whether the grant has ended. */
static int is_loss(fencepost_result result) {
    return result >= 400 && result < 500;
}

int main(int argc, char **argv) {
    fencepost_client *client = NULL;
    fencepost_lock *lock = NULL;
    if (argc != 6 && argc != 7) {
        fprintf(stderr, "usage: contender URL LOCK ROUNDS COUNTER_HOST COUNTER_PORT [TTL_MS]\n");
        return 2;
    }
    FILE *counter = dial(argv[4], argv[5]);
    if (counter == NULL) {
        perror("the counter");
        return 1;
    }
    if (fencepost_connect(argv[1], &client) != FENCEPOST_OK) fail("connect");
    if (fencepost_lock_new(client, argv[2], &lock) != FENCEPOST_OK) fail("lock");
    if (argc == 7 && fencepost_lock_set_ttl(lock, strtol(argv[6], NULL, 10)) != FENCEPOST_OK) fail("ttl");
    long rounds = strtol(argv[3], NULL, 10), done = 0, stale = 0, lost = 0;
    while (done < rounds) {
        fencepost_grant *grant = NULL;
        fencepost_result result = fencepost_lock_acquire(lock, FENCEPOST_FOREVER, &grant);
        if (is_loss(result)) {
            lost += 1;
            continue;
        }
        if (result != FENCEPOST_OK) fail("acquire");
        if (increment(counter, fencepost_grant_fence(grant)))
            done += 1;
        else
            stale += 1;
        result = fencepost_release(grant);
        if (is_loss(result))
            lost += 1;
        else if (result != FENCEPOST_OK)
            fail("release");
        fencepost_grant_free(grant);
    }
    fencepost_lock_free(lock);
    if (fencepost_close(client) != FENCEPOST_OK) fail("close");
    fencepost_client_free(client);
    fclose(counter);
    printf("{\"done\": %ld, \"stale\": %ld, \"lost\": %ld}\n", done, stale, lost);
    return 0;
}
