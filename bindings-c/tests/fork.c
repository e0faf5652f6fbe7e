/* A program forks while its threads use fencepost. */
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static bool stop; /* of all threads: atomic */

static void *use_it(void *argument) {
    fencepost_client *client = argument;

    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        fencepost_grant *grant = NULL;

        if (fencepost_acquire(client, "c-tests/forking", LONG, &grant) == FENCEPOST_OK)
            fencepost_release(grant);
        fencepost_grant_free(grant);
    }
    return argument;
}

/* Makes and frees clients of a server inside the process. */
static void *connect_it(void *argument) {
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        fencepost_client *client = NULL;

        if (fencepost_connect("memory:forking", &client) != FENCEPOST_OK)
            return NULL;
        fencepost_client_free(client);
    }
    return argument;
}

/* The work of a child: it acquires a lock with its own client, on its own server. */
static int child_of(const char *where, const char *name) {
    fencepost_client *client = NULL;
    fencepost_grant *grant = NULL;

    if (fencepost_connect(where, &client) != FENCEPOST_OK)
        return 2;
    if (fencepost_acquire(client, name, LONG, &grant) != FENCEPOST_OK)
        return 3;
    if (fencepost_release(grant) != FENCEPOST_OK)
        return 4;
    return 0;
}

/* Returns the exit status of a child. Kills a child that hangs. */
static int end_of(pid_t child) {
    int64_t end = millis() + 2 * LONG;
    int status = -1;

    while (waitpid(child, &status, WNOHANG) == 0) {
        if (millis() > end)
            kill(child, SIGKILL);
        poll(NULL, 0, 1);
    }
    return status;
}

/* The number of threads that work while the process forks. AddressSanitizer's allocator (before GCC 14) does not
 * release its locks in the child, so the child could wait in malloc for a thread that it does not have. */
#ifdef __SANITIZE_ADDRESS__
#define AT_WORK 0
#else
#define AT_WORK 3
#endif

/* libzookeeper_mt resolves names in its own threads, and a fork does not wait for these. So this test connects before
 * the fork. */
static bool looks_up_itself(void) {
    return is_threaded();
}

/* The parent's threads may be at any point when the parent forks. The child does not use the parent's server inside the
 * process. */
static void fork_at_any_moment(enum family family) {
    char where[1024];
    fencepost_client *client;
    pthread_t threads[3];
    int round, i;

    snprintf(where, sizeof where, "%s", family == MEMORY ? "memory:forking" : url(family, ""));
    client = client_of(where);
    if (family == ZOOKEEPER && looks_up_itself())
        let_go(hold(client, new_name("connected")));
    stop = false;
    for (i = 0; i < AT_WORK; i++)
        pthread_create(&threads[i], NULL, i == 0 ? connect_it : use_it, client);
    for (round = 0; round < 100; round++) {
        int status;
        const char *name = new_name("child");
        pid_t child = fork();

        if (child == 0)
            _exit(child_of(where, name));
        status = end_of(child);
        if (status != 0)
            printf("    round %d: the child ended with %#x\n", round, status);
        if (!CHECK(status == 0))
            break;
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (i = 0; i < AT_WORK; i++)
        pthread_join(threads[i], NULL);
    close_client(client);
}

/* ---- during a look-up of a host's name ---- */

static int looking_up; /* the number of threads in a look-up: atomic */
static int takes;      /* the minimum time of a look-up (ms): atomic */

/* Replaces the C library's function, also for the client libraries. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    int (*theirs)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    int result;

    *(void **)&theirs = dlsym(RTLD_NEXT, "getaddrinfo");
    __atomic_add_fetch(&looking_up, 1, __ATOMIC_SEQ_CST);
    poll(NULL, 0, __atomic_load_n(&takes, __ATOMIC_RELAXED));
    result = theirs(node, service, hints, found);
    __atomic_sub_fetch(&looking_up, 1, __ATOMIC_SEQ_CST);
    return result;
}

static void *lock_once(void *argument) {
    fencepost_client *client = client_of(argument);

    let_go(hold(client, new_name("looked-up")));
    close_client(client);
    return NULL;
}

/* Forks during the look-up of a connect in another thread. Returns the number of look-ups in progress in the child. */
static int fork_meanwhile(enum family family, int lasts, int *left) {
    char where[1024];
    pthread_t thread;
    int64_t end = millis() + LONG;
    pid_t child;
    int status;

    snprintf(where, sizeof where, "%s", url(family, ""));
    __atomic_store_n(&takes, lasts, __ATOMIC_RELAXED);
    pthread_create(&thread, NULL, lock_once, where);
    while (__atomic_load_n(&looking_up, __ATOMIC_SEQ_CST) == 0 && millis() < end)
        poll(NULL, 0, 1);
    child = fork();
    if (child == 0)
        _exit(__atomic_load_n(&looking_up, __ATOMIC_SEQ_CST));
    *left = __atomic_load_n(&looking_up, __ATOMIC_SEQ_CST);
    status = end_of(child);
    __atomic_store_n(&takes, 0, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void fork_waits_for_a_look_up(enum family family) {
    int left;

    CHECK(fork_meanwhile(family, 200, &left) == 0);
}

/* Without a limit, a fork would wait half a minute if the name server does not reply. */
static void fork_waits_no_longer_than_a_second(enum family family) {
    int left;

    CHECK(fork_meanwhile(family, 4000, &left) == 1);
    CHECK(left == 1);
    CHECK(fork_meanwhile(family, 200, &left) == 0);
}

/* The number of this process's descriptors of one kind that a started program would inherit. */
static int inherited(mode_t kind) {
    struct stat status;
    int descriptor, count = 0;

    for (descriptor = 3; descriptor < 1024; descriptor++)
        count += fstat(descriptor, &status) == 0 && (status.st_mode & S_IFMT) == kind &&
                 !(fcntl(descriptor, F_GETFD) & FD_CLOEXEC);
    return count;
}

/* If a started program inherited a connection, the connection would stay open after this process. */
static void programs_inherit_no_connection(enum family family) {
    int before = inherited(S_IFSOCK);
    fencepost_client *client = client_of(url(family, ""));
    fencepost_grant *grant = hold(client, new_name("inherited"));

    CHECK(inherited(S_IFSOCK) == before);
    let_go(grant);
    close_client(client);
}

int main(void) {
    enum family family;

    for (family = MEMORY; family < FAMILIES; family++) {
        if (address(family) == NULL)
            continue;
        TEST_ON(programs_inherit_no_connection, family, label(family));
        TEST_ON(fork_at_any_moment, family, label(family));
        if (family == MEMORY || (family == ZOOKEEPER && looks_up_itself()))
            continue;
        TEST_ON(fork_waits_for_a_look_up, family, label(family));
        TEST_ON(fork_waits_no_longer_than_a_second, family, label(family));
    }
    return check_close();
}
