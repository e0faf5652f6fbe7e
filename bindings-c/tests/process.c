/* The effects of a client on its process: its descriptors, the signals of its threads, the texts of its errors. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support.h"

#define MOST_DESCRIPTORS 256

/* A client that holds a lock and waits for it as another contender: it has all connections and threads that a client
 * may have. */
struct full {
    fencepost_client *client;
    fencepost_grant *grant;
    fencepost_lock *lock;
    fencepost_attempt *attempt;
};

static void fill(struct full *full, const char *at) {
    const char *name = new_name("full");

    full->client = client_of(at);
    full->grant = hold(full->client, name);
    full->lock = lock_with(full->client, name, NULL);
    CHECK_RESULT(fencepost_lock_acquire_start(full->lock, LONG, &full->attempt), FENCEPOST_OK);
}

static void empty(struct full *full) {
    fencepost_attempt_free(full->attempt);
    fencepost_lock_free(full->lock);
    let_go(full->grant);
    close_client(full->client);
}

static void open_descriptors(bool *open) {
    int i;

    for (i = 3; i < MOST_DESCRIPTORS; i++)
        open[i] = fcntl(i, F_GETFD) >= 0;
}

static bool is_kind(int descriptor, const char *kind) {
    char link[64], target[64];
    size_t size = strlen(kind);

    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    return readlink(link, target, sizeof target) > (ssize_t)size && memcmp(target, kind, size) == 0;
}

/* The number of new descriptors that are sockets. */
static int new_sockets(const bool *before) {
    int i, count = 0;

    for (i = 3; i < MOST_DESCRIPTORS; i++)
        count += !before[i] && is_kind(i, "socket:");
    return count;
}

/* libzookeeper_mt has a pipe that started programs inherit. */
static bool is_the_librarys_own(int descriptor) {
    return is_threaded() && is_kind(descriptor, "pipe:");
}

/* A new descriptor that a started program would inherit; -1 if there is none. */
static int survivor(const bool *before) {
    int i, flags;

    for (i = 3; i < MOST_DESCRIPTORS; i++) {
        flags = before[i] ? FD_CLOEXEC : fcntl(i, F_GETFD);
        if (flags >= 0 && !(flags & FD_CLOEXEC) && !is_the_librarys_own(i))
            return i;
    }
    return -1;
}

static void no_descriptor_survives_exec(const char *at, int sockets) {
    bool before[MOST_DESCRIPTORS];
    struct full full;

    open_descriptors(before);
    fill(&full, at);
    EVENTUALLY(new_sockets(before) >= sockets);
    /* hiredis makes a socket, and the driver sets FD_CLOEXEC afterwards. */
    EVENTUALLY(survivor(before) < 0);
    CHECK(fencepost_client_fd(full.client) >= 3);
    CHECK(fcntl(fencepost_client_fd(full.client), F_GETFD) & FD_CLOEXEC);
    empty(&full);
}

static void descriptors(enum family family) {
    /* On Redis, one for commands and one for subscriptions. */
    no_descriptor_survives_exec(url(family, ""), family == MEMORY ? 0 : family == ZOOKEEPER ? 1 : 2);
}

static void descriptors_with_tls(void) {
    const char *ca = getenv("FENCEPOST_REDIS_TLS_CA"), *port = strrchr(getenv("FENCEPOST_REDIS_TLS"), ':');
    char at[512];

    snprintf(at, sizeof at, "rediss://:%s@localhost%s?ca=%s", getenv("FENCEPOST_REDIS_TLS_PASSWORD"), port, ca);
    /* Each connection has a socket, and the pair of sockets for hiredis. */
    no_descriptor_survives_exec(at, 6);
}

/* Whether a thread blocks a signal; -1 if the thread has ended. */
static int blocks(const char *thread, int signal) {
    char path[300], line[256];
    unsigned long long mask = 0;
    int found = -1;
    FILE *status;

    snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
    if ((status = fopen(path, "r")) == NULL)
        return -1;
    while (fgets(line, sizeof line, status) != NULL) {
        if (sscanf(line, "SigBlk: %llx", &mask) == 1)
            found = (mask >> (signal - 1)) & 1;
    }
    fclose(status);
    return found;
}

/* Checks all threads except this one, and returns their number. */
static int check_threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    pid_t self = (pid_t)syscall(SYS_gettid);
    struct dirent *task;
    int count = 0;

    while ((task = readdir(tasks)) != NULL) {
        if (task->d_name[0] == '.' || atoi(task->d_name) == self)
            continue;
        CHECK(blocks(task->d_name, SIGTERM) != 0 && blocks(task->d_name, SIGINT) != 0);
        count++;
    }
    closedir(tasks);
    return count;
}

/* Only the program's threads receive its signals. */
static void signals(enum family family) {
    struct full full;

    fill(&full, url(family, ""));
    EVENTUALLY(check_threads() > 0);
    empty(&full);
}

/* The text of an error stays valid while the program makes calls that cannot fail. */
static void words_of_an_error_stay(enum family family) {
    fencepost_client *client = client_of(url(family, ""));
    fencepost_grant *grant = hold(client, new_name("words")), *none = NULL;
    fencepost_lock *lock = lock_with(client, new_name("words"), NULL);
    fencepost_attempt *attempt = NULL;
    const char *words;
    char copy[512];

    CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
    CHECK_RESULT(fencepost_acquire(client, "", LONG, &none), FENCEPOST_RESULT_EMPTY_NAME);
    words = fencepost_detail();
    snprintf(copy, sizeof copy, "%s", words);
    CHECK(strlen(copy) > 0);
    fencepost_grant_fence(grant);
    fencepost_grant_is_valid(grant);
    fencepost_grant_remaining(grant);
    fencepost_grant_is_lost(grant);
    fencepost_grant_revoke_requested(grant);
    fencepost_grant_mixed_layouts(grant);
    fencepost_attempt_ahead(attempt);
    fencepost_contenders_count(NULL);
    fencepost_client_timeout(client);
    fencepost_result_name(FENCEPOST_RESULT_TIMEOUT);
    fencepost_result_text(FENCEPOST_RESULT_TIMEOUT);
    fencepost_version();
    CHECK(fencepost_detail() == words && strcmp(words, copy) == 0);
    fencepost_attempt_free(attempt);
    fencepost_lock_free(lock);
    let_go(grant);
    close_client(client);
}

int main(void) {
    enum family family;

    for (family = MEMORY; family < FAMILIES; family++) {
        if (address(family) == NULL)
            continue;
        TEST_ON(descriptors, family, label(family));
        TEST_ON(signals, family, label(family));
        TEST_ON(words_of_an_error_stay, family, label(family));
    }
    if (WITH_TLS && getenv("FENCEPOST_REDIS_TLS") != NULL)
        TEST(descriptors_with_tls);
    return check_close();
}
