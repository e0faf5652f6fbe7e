/* Which process this is. A number that every fork changes, because asking for the process's id costs a system call each
 * time. */
#include <pthread.h>

#include "internal.h"

static unsigned forks;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void forked(void) {
    __atomic_add_fetch(&forks, 1, __ATOMIC_RELAXED);
}

static void prepare(void) {
    pthread_atfork(NULL, NULL, forked);
}

unsigned process_number(void) {
    pthread_once(&once, prepare);
    return __atomic_load_n(&forks, __ATOMIC_RELAXED);
}
