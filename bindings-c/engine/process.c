/* Which process this is. A number that every fork changes, because asking for the process's id costs a system call each
 * time. */
#include <pthread.h>

#include "internal.h"

static unsigned forks;

static void forked(void) {
    __atomic_add_fetch(&forks, 1, __ATOMIC_RELAXED);
}

/* When the library is loaded: a thread that forks must not meet one that is just beginning to count. */
static void __attribute__((constructor)) prepare(void) {
    pthread_atfork(NULL, NULL, forked);
}

unsigned process_number(void) {
    return __atomic_load_n(&forks, __ATOMIC_RELAXED);
}
