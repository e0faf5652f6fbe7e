/* Identifies the process by a number that every fork changes. `getpid` would cost a system call each time. */
#include <pthread.h>

#include "internal.h"

static unsigned forks;

static void forked(void) {
    __atomic_add_fetch(&forks, 1, __ATOMIC_RELAXED);
}

/* Runs when the library is loaded. If it ran later, one thread could fork while another one registers the handler. */
static void __attribute__((constructor)) prepare(void) {
    pthread_atfork(NULL, NULL, forked);
}

unsigned process_number(void) {
    return __atomic_load_n(&forks, __ATOMIC_RELAXED);
}
