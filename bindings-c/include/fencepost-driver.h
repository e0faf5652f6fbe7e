/**
 * @file fencepost-driver.h
 *
 * How a driver library makes a client, for authors of drivers for other client libraries. docs/reference/drivers.md
 * says what a driver does; this header says how it does it in C.
 *
 * The client's mutex protects everything. The client holds it when it calls the driver's functions, except `dispatch`,
 * `left`, `close` and `free`. A driver that is called from elsewhere (a thread of a library, an event loop) takes the
 * mutex with `fencepost_client_enter`.
 */
#ifndef FENCEPOST_DRIVER_H
#define FENCEPOST_DRIVER_H

#include <poll.h>
#include <pthread.h>

#include "fencepost-client.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The driver's library has its own thread, which enters the client. */
#define FENCEPOST_SELF_DRIVEN (-1)
/** The program's own event loop drives the connection, and enters the client. Blocking calls are refused. */
#define FENCEPOST_OWNER_DRIVEN (-2)

/** The most descriptors that `sources` may write. */
#define FENCEPOST_SOURCES 4

/** The functions of a driver. `self` is the driver. */
typedef struct fencepost_driver {
    /**
     * Returns a descriptor that is readable when `process` has something to do; or `FENCEPOST_SELF_DRIVEN` or
     * `FENCEPOST_OWNER_DRIVEN`. The result never changes.
     */
    int (*descriptor)(void *self);
    /**
     * Writes the descriptors that a blocking call may poll instead, because that is faster; at most
     * `FENCEPOST_SOURCES`. Returns how many it has written. May be NULL.
     */
    int (*sources)(void *self, struct pollfd *sources);
    /**
     * Hands a command of the machine `key` to the client library; a key of 0 stands for the hub itself. It must not
     * block. The views in the command are valid until the first call on the hub.
     */
    void (*command)(void *self, fencepost_hub *hub, uint64_t key, const fencepost_command *command);
    /**
     * No contender uses this machine any more: remove its watches. May be NULL.
     */
    void (*forget)(void *self, uint64_t key);
    /**
     * Sends the commands that have not been sent yet. The client calls it after one or several commands. May be NULL.
     */
    void (*flush)(void *self, fencepost_hub *hub);
    /** Reads what the server has sent, without waiting. May be NULL. */
    void (*process)(void *self, fencepost_hub *hub);
    /**
     * Calls the program's own callbacks, for a library that does so. The client calls it after each `process`, without
     * the mutex, and never from two threads at once. It enters the client itself. May be NULL.
     */
    void (*dispatch)(void *self);
    /** Returns when to call `process` at the latest, in microseconds, or `FENCEPOST_NEVER`. May be NULL. */
    uint64_t (*until)(void *self);
    /**
     * For a driver with a descriptor: returns whether the server may send messages without a request. The client then
     * reads the connection also while no contender waits. May be NULL.
     */
    bool (*listens)(void *self);
    /**
     * Returns NULL once the driver has reached a server. Before, it returns the server's address and the reason, if it
     * is known: "HOST:PORT (Connection refused)". May be NULL.
     */
    const char *(*absent)(void *self);
    /** Returns how many commands have no answer yet. */
    size_t (*busy)(void *self);
    /** The client calls it after it has unlocked the mutex. May be NULL. */
    void (*left)(void *self);
    /** The client is being closed. The driver need not send commands that still wait for a connection. May be NULL. */
    void (*closing)(void *self, fencepost_hub *hub);
    /** How long `close` may wait for a silent server, in microseconds; at most 2 seconds. */
    uint64_t close_time;
    /**
     * Ends all use of the connection, and closes it if the driver made it. `silent`: the server has not answered for
     * some time, so do not wait for it. The client calls it once, without the mutex.
     */
    void (*close)(void *self, bool silent);
    /** Frees the driver. The client calls it when it is freed itself, after `close`. */
    void (*free)(void *self);
} fencepost_driver;

/** Returns the time of CLOCK_BOOTTIME in microseconds. */
uint64_t fencepost_now(void);

/**
 * Makes a client on a hub. The client owns the hub from then on, also after an error. `kind` is a kind of machine, such
 * as `zookeeper-mutex` or `redis-string`. It says to which server the driver speaks, and of which kind a lock is whose
 * options do not say it. `prefix` may be NULL. The caller passes the client to the driver before the driver does
 * anything.
 */
fencepost_result fencepost_client_new(
    fencepost_hub *hub, const char *kind, const char *prefix, const fencepost_driver *driver, void *self,
    fencepost_client **client);

/** Keeps the client in memory until `fencepost_client_unref`. */
void fencepost_client_ref(fencepost_client *client);
/** Ends a `fencepost_client_ref`. The last one frees the client and its driver. */
void fencepost_client_unref(fencepost_client *client);

/**
 * Locks the client's mutex, and returns the hub. Returns NULL, without the mutex, if the client is closed, or was made
 * before a fork.
 */
fencepost_hub *fencepost_client_enter(fencepost_client *client);
/** Carries out the hub's outputs, wakes the waiting calls, and unlocks the mutex. */
void fencepost_client_leave(fencepost_client *client);

/**
 * Stores what the client library reported about a command, for the error text. `text` is NUL-terminated. The caller
 * holds the mutex.
 */
void fencepost_client_note(fencepost_client *client, uint64_t command, const char *text);

/**
 * Call it before a call that may resolve a host name, and `fencepost_lookup_end` after it. A fork waits until
 * `fencepost_lookup_end`, for at most a second, because a child that is forked during a resolution may hang in its own
 * (glibc).
 */
void fencepost_lookup_begin(void);
void fencepost_lookup_end(void);

/**
 * Makes a static mutex of a library safe for programs that fork while other threads use it: when the child begins, no
 * thread holds the mutex. The child runs the statement `forked`, which may be empty, while it holds the mutex. Use the
 * macro once in a file.
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
