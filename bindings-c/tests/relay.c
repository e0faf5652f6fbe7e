#include "relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support.h"

#define MOST_PAIRS 32

/* A part of a reply that is not due yet. */
struct piece {
    struct piece *next;
    int64_t due;
    ssize_t size;
    char data[4096];
};

/* A client, and its connection with the server. */
struct pair {
    int ends[2];
    struct piece *first, **last;
};

struct relay {
    pthread_t thread;
    pthread_mutex_t mutex; /* protects the members that the test reads or changes */
    char address[64], target[64];
    int64_t delay;
    int connections;
    int listener, stop[2];
    struct pair pairs[MOST_PAIRS];
    int count;
};

static void end_pair(struct relay *relay, int i) {
    struct pair *pair = &relay->pairs[i];
    struct piece *piece;

    close(pair->ends[0]);
    close(pair->ends[1]);
    while ((piece = pair->first) != NULL) {
        pair->first = piece->next;
        free(piece);
    }
    if (i != --relay->count) {
        *pair = relay->pairs[relay->count];
        if (pair->first == NULL)
            pair->last = &pair->first;
    }
}

static void begin_pair(struct relay *relay) {
    struct pair *pair = &relay->pairs[relay->count];

    pair->ends[0] = accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC);
    pthread_mutex_lock(&relay->mutex);
    relay->connections++;
    pair->ends[1] = relay->count < MOST_PAIRS - 1 ? dial(relay->target) : -1;
    pthread_mutex_unlock(&relay->mutex);
    pair->first = NULL;
    pair->last = &pair->first;
    relay->count++;
    if (pair->ends[1] < 0)
        end_pair(relay, relay->count - 1);
}

/* Reads from one end. Returns false if the connection has ended. */
static bool take(struct relay *relay, struct pair *pair, int from) {
    struct piece *piece = malloc(sizeof *piece);

    piece->size = recv(pair->ends[from], piece->data, sizeof piece->data, 0);
    if (piece->size <= 0 || from == 0) {
        bool passed =
            piece->size > 0 && send(pair->ends[1], piece->data, (size_t)piece->size, MSG_NOSIGNAL) == piece->size;
        free(piece);
        return passed;
    }
    pthread_mutex_lock(&relay->mutex);
    piece->due = millis() + relay->delay;
    pthread_mutex_unlock(&relay->mutex);
    piece->next = NULL;
    *pair->last = piece;
    pair->last = &piece->next;
    return true;
}

/* Sends the client the parts that are due. Returns the time until the next part, or -1. */
static int64_t give(struct pair *pair) {
    struct piece *piece;

    while ((piece = pair->first) != NULL && piece->due <= millis()) {
        /* The next read detects a client that has closed the connection. */
        if (send(pair->ends[0], piece->data, (size_t)piece->size, MSG_NOSIGNAL) < 0)
            shutdown(pair->ends[0], SHUT_RDWR);
        if ((pair->first = piece->next) == NULL)
            pair->last = &pair->first;
        free(piece);
    }
    return piece == NULL ? -1 : piece->due - millis() + 1;
}

static void *run(void *argument) {
    struct relay *relay = argument;
    struct pollfd sources[2 + 2 * MOST_PAIRS];
    int64_t left, least;
    int i;

    for (;;) {
        least = -1;
        for (i = 0; i < relay->count; i++) {
            left = give(&relay->pairs[i]);
            least = left >= 0 && (least < 0 || left < least) ? left : least;
            sources[2 + 2 * i] = (struct pollfd){relay->pairs[i].ends[0], POLLIN, 0};
            sources[3 + 2 * i] = (struct pollfd){relay->pairs[i].ends[1], POLLIN, 0};
        }
        sources[0] = (struct pollfd){relay->stop[0], POLLIN, 0};
        sources[1] = (struct pollfd){relay->listener, POLLIN, 0};
        poll(sources, (nfds_t)(2 + 2 * relay->count), (int)least);
        if (sources[0].revents != 0)
            return NULL;
        for (i = relay->count - 1; i >= 0; i--) {
            if ((sources[2 + 2 * i].revents != 0 && !take(relay, &relay->pairs[i], 0)) ||
                (sources[3 + 2 * i].revents != 0 && !take(relay, &relay->pairs[i], 1)))
                end_pair(relay, i);
        }
        if (sources[1].revents != 0)
            begin_pair(relay);
    }
}

struct relay *relay_open(const char *host, const char *target) {
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    struct sockaddr_in four = {.sin_family = AF_INET};
    bool is_six = inet_pton(AF_INET6, host, &six.sin6_addr) == 1;
    struct sockaddr *place = is_six ? (struct sockaddr *)&six : (struct sockaddr *)&four;
    socklen_t size = is_six ? sizeof six : sizeof four;
    struct relay *relay = calloc(1, sizeof *relay);

    inet_pton(AF_INET, host, &four.sin_addr);
    relay->listener = socket(place->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(relay->listener, place, size) != 0 || listen(relay->listener, 64) != 0 || pipe(relay->stop) != 0 ||
        getsockname(relay->listener, place, &size) != 0) {
        perror("no relay");
        exit(1);
    }
    snprintf(
        relay->address, sizeof relay->address, is_six ? "[%s]:%d" : "%s:%d", host,
        ntohs(is_six ? six.sin6_port : four.sin_port));
    snprintf(relay->target, sizeof relay->target, "%s", target);
    pthread_mutex_init(&relay->mutex, NULL);
    pthread_create(&relay->thread, NULL, run, relay);
    return relay;
}

const char *relay_address(const struct relay *relay) {
    return relay->address;
}

void relay_turn(struct relay *relay, const char *target) {
    pthread_mutex_lock(&relay->mutex);
    snprintf(relay->target, sizeof relay->target, "%s", target);
    pthread_mutex_unlock(&relay->mutex);
}

void relay_delay(struct relay *relay, int64_t milliseconds) {
    pthread_mutex_lock(&relay->mutex);
    relay->delay = milliseconds;
    pthread_mutex_unlock(&relay->mutex);
}

int relay_connections(struct relay *relay) {
    int count;

    pthread_mutex_lock(&relay->mutex);
    count = relay->connections;
    pthread_mutex_unlock(&relay->mutex);
    return count;
}

void relay_close(struct relay *relay) {
    close(relay->stop[1]);
    pthread_join(relay->thread, NULL);
    while (relay->count > 0)
        end_pair(relay, relay->count - 1);
    close(relay->listener);
    close(relay->stop[0]);
    pthread_mutex_destroy(&relay->mutex);
    free(relay);
}
