/**
 * @file fencepost-driver.h
 * How a library makes a client of a server connection: for those who write a driver for another client library. See
 * docs/reference/drivers.md for what a driver does; this is how it does it here.
 *
 * Everything is done under the client's lock: the client holds it when it calls a driver's operations, `dispatch`,
 * `left`, `close` and `free` excepted; a driver that is called from elsewhere (a library's thread, an event loop) takes
 * it by `fencepost_client_enter`.
 */
#ifndef FENCEPOST_DRIVER_H
#define FENCEPOST_DRIVER_H

#include <poll.h>
#include <pthread.h>

#include "fencepost-client.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The driver's library has a thread of its own, which enters the client. */
#define FENCEPOST_SELF_DRIVEN (-1)
/** The connection's owner has an event loop, which enters the client; blocking calls are refused. */
#define FENCEPOST_OWNER_DRIVEN (-2)

/** The most that `sources` may write. */
#define FENCEPOST_SOURCES 4

/** What a driver does. `self` is the driver. */
typedef struct fencepost_driver {
    /** A descriptor that is readable when `process` has something to do; or one of the above. It never changes. */
    int (*descriptor)(void *self);
    /** What a blocking call may poll instead, because it is faster: writes at most FENCEPOST_SOURCES, says how many.
     * May be NULL. */
    int (*sources)(void *self, struct pollfd *sources);
    /** Hands a command of the machine `key` to the client library; 0: it is the hub's own. Views in it are valid until
     * the first call on the hub. */
    void (*command)(void *self, fencepost_hub *hub, uint64_t key, const fencepost_command *command);
    /** The machine serves no contender any more: what it watches is of no interest. (The grants of an owner share a
     * machine, which keeps the key of the first of them.) May be NULL. */
    void (*forget)(void *self, uint64_t key);
    /** After one command or several: what has not been sent yet is sent now. May be NULL. */
    void (*flush)(void *self, fencepost_hub *hub);
    /** Takes in what has arrived, without waiting. May be NULL. */
    void (*process)(void *self, fencepost_hub *hub);
    /** After each `process`, without the lock, and never by two threads at once: for a library that calls the program's
     * own callbacks. It enters the client by itself. May be NULL. */
    void (*dispatch)(void *self);
    /** When to call `process` at the latest, or `FENCEPOST_NEVER`. May be NULL. */
    uint64_t (*until)(void *self);
    /** Whether the server may speak unasked, so that somebody has to listen also while nobody waits: of a driver with a
     * descriptor. May be NULL. */
    bool (*listens)(void *self);
    /** NULL once a server has been reached for the first time; until then its address and, as far as that is known, why
     * not: "HOST:PORT (Connection refused)". May be NULL. */
    const char *(*absent)(void *self);
    /** How many commands have no answer yet. */
    size_t (*busy)(void *self);
    /** After the lock has been given back. May be NULL. */
    void (*left)(void *self);
    /** The client is being closed: what waits for a connection and has not left need not be sent. May be NULL. */
    void (*closing)(void *self, fencepost_hub *hub);
    /** How long `close` may wait for a silent server, in microseconds; 2 seconds at most. */
    uint64_t farewell;
    /** Ends all use of the connection, and closes it if it is the driver's own; `silent`: the server has not answered
     * for some time, and is not waited for. Without the lock; called once. */
    void (*close)(void *self, bool silent);
    /** Frees the driver: with its client, after `close`. */
    void (*free)(void *self);
} fencepost_driver;

/** The time, in microseconds of CLOCK_BOOTTIME. */
uint64_t fencepost_now(void);

/**
 * Makes a client on a hub, which is the client's from then on, also in case of an error. `kind` is a kind of
 * machine: it says which server the driver speaks to, and of which kind locks are whose options do not say it, such as
 * `zookeeper-mutex` or `redis-string`. `prefix` may be NULL. The caller gives the driver its client
 * before the driver does anything.
 */
fencepost_result fencepost_client_new(
    fencepost_hub *hub, const char *kind, const char *prefix, const fencepost_driver *driver, void *self,
    fencepost_client **client);

/** Keeps the client in memory until `fencepost_client_unref`. */
void fencepost_client_ref(fencepost_client *client);
/** The last one frees the client and its driver. */
void fencepost_client_unref(fencepost_client *client);

/** Takes the lock; NULL, without it, if the client has been closed, or is that of a process that was forked. */
fencepost_hub *fencepost_client_enter(fencepost_client *client);
/** Does what the hub says, wakes who waits, gives the lock back. */
void fencepost_client_leave(fencepost_client *client);

/** Remembers for a while what the client library said about a command; NUL-terminated. Under the lock. */
void fencepost_client_note(fencepost_client *client, uint64_t command, const char *text);

/**
 * Stands before a call that may look a host name up, `fencepost_lookup_end` behind it. A fork waits for its end, a
 * second at most: glibc lets a child that was forked during a look-up hang in its own.
 */
void fencepost_lookup_begin(void);
void fencepost_lookup_end(void);

/**
 * Makes a static mutex of a library safe for programs that fork while other threads use it: nobody has it when the
 * child begins. `forked`, unless empty, is what else the child does, with the mutex. Stands once in a file.
 */
#define FENCEPOST_FORK_SAFE(mutex, forked)                                                                             \
    static void before_fork(void) {                                                                                    \
        pthread_mutex_lock(&(mutex));                                                                                  \
    }                                                                                                                  \
    static void after_fork(void) {                                                                                     \
        pthread_mutex_unlock(&(mutex));                                                                                \
    }                                                                                                                  \
    static void in_child(void) {                                                                                       \
        forked;                                                                                                        \
        pthread_mutex_init(&(mutex), NULL);                                                                            \
    }                                                                                                                  \
    static void __attribute__((constructor)) register_fork(void) {                                                     \
        pthread_atfork(before_fork, after_fork, in_child);                                                             \
    }

#ifdef __cplusplus
}
#endif

#endif
