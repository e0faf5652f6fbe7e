/* Shared declarations of libfencepost-zookeeper and libfencepost-zookeeper-st. Both contain the files in zookeeper/.
 * zookeeper/mt/ drives libzookeeper_mt, and zookeeper/st/ drives libzookeeper_st. */
#ifndef FENCEPOST_ZOOKEEPER_INTERNAL_H
#define FENCEPOST_ZOOKEEPER_INTERNAL_H

#include "fencepost-driver.h"
#include "fencepost-zookeeper.h"

enum kind { REQUEST, DATA_WATCH, CHILD_WATCH, SESSION };

/* A request, watch or session that the library may report later. The library gets its ticket (a number), and never its
 * address. So a late callback finds no record. A thread that changes it holds the client's mutex. */
struct record {
    uint64_t ticket;
    enum kind kind;
    struct driver *driver;
    uint64_t command;
    uint64_t key;            /* of the machine */
    int64_t session;         /* in which the request was sent */
    bool settled;            /* its outcome was reported at a disconnect */
    bool asked;              /* a watch: its read has no reply, so the library does not have the watch yet */
    bool unwanted;           /* a watch: its contender has ended */
    char *path;              /* of a watch */
    struct record *watch;    /* the watch that a request sets */
    struct writes *writes;   /* of a transaction */
    struct record *previous; /* of the driver */
    struct record *next;
    struct record *bucket;
};

struct connection; /* of a handle that the driver made: see mt/connection.h, st/connection.h */

struct driver {
    fencepost_client *client;
    zhandle_t *handle; /* NULL while there is none */
    char *hosts;       /* NULL on a handle of the program */
    char *places;      /* the same hosts, in the library's form */
    int timeout;       /* the session timeout to request, in milliseconds */
    const struct ACL_vector *acl;
    watcher_fn wrapped; /* the watcher that the program's handle had */
    bool connected;
    bool over; /* the session of the program's handle has ended */
    int64_t session;
    bool reached;      /* a server has answered at least once */
    char absence[320]; /* before that: the servers and the reason */
    bool unanswered;   /* before that: the driver ended a handshake without a reply */
    int log;           /* the number of its log function, which stores the last error; 0: none, `error` stores it */
    int error;
    struct record *current; /* the session of the present handle; the driver ignores notices of other sessions */
    uint64_t again;         /* when to try again to make a handle */
    struct record *records;
    size_t requests;
    struct record *spare; /* freed records, for reuse */
    size_t spares;
    pthread_mutex_t using; /* of a program's handle: while it is locked, the program's watcher is not notified of
                              the end */
    bool listed;           /* in the list of drivers on the program's handles */
    struct driver *next;
    struct connection *connection; /* NULL on a handle of the program */
};

/* An address and a port as numbers, as the library writes them. */
#define SERVER_SIZE 136

/* Each of these files uses only the files above it. */

/* fault.c */
fencepost_result driver_fault(fencepost_result result, const char *text);

/* servers.c */
void server_current(zhandle_t *handle, char server[SERVER_SIZE]);
void server_pass(zhandle_t *handle, char server[SERVER_SIZE]);
void server_pass_early(zhandle_t *handle, const char server[SERVER_SIZE]);

/* tickets.c */
struct record *record_open(struct driver *driver, enum kind kind, uint64_t command);
void record_close(struct record *record);
void records_free(struct driver *driver);
void *record_context(const struct record *record);
void record_forget_writes(const void *context);
struct record *record_find(const void *context, fencepost_client **client);

/* connection.c, of either library */
bool connection_prepare(struct driver *driver);
void connection_forget(struct driver *driver);
/* Handles a new handle of the driver, or a new or lost connection of it. */
void connection_changed(struct driver *driver);
/* Removes a watch of the driver from the library's table. */
void connection_unwatch(zhandle_t *handle, const char *path, ZooWatcherType type, watcher_fn watcher, void *context);

/* enter.c, of either library */
struct record *record_enter(const void *context, fencepost_hub **hub);
void record_leave(fencepost_client *client);

/* completion.c */
void request_failed(const struct record *record, fencepost_hub *hub, int rc);
void request_finish(struct record *record);

/* watches.c */
struct record *watch_open(struct driver *driver, const fencepost_command *command, uint64_t key, const char *path);
void watch_read(struct record *watch, int rc);
void watch_remove(const struct record *watch);
void watch_fired(zhandle_t *handle, int type, int state, const char *path, void *context);
void watches_forget(void *self, uint64_t key);

/* writes.c */
int create_mode(uint32_t flags);
int writes_send(struct driver *driver, const fencepost_command *command, struct record *request);
void writes_abandon(struct driver *driver, const zhandle_t *closed);

/* requests.c */
void request_send(void *self, fencepost_hub *hub, uint64_t key, const fencepost_command *command);
void requests_settle(struct driver *driver, fencepost_hub *hub);

/* session.c */
const char *driver_absent(void *self);
bool session_open(struct driver *driver, fencepost_hub *hub);
/* Stores the errno of a failed socket of the library. It ignores an errno that is not a failure. */
void session_note_error(struct driver *driver, int error);
void session_forget(struct driver *driver);
void session_news(struct driver *driver, fencepost_hub *hub, zhandle_t *handle, int state);

/* driver.c */
size_t driver_busy(void *self);
void driver_free(void *self);

/* driving.c, of either library */
extern const fencepost_driver driving;

/* zookeeper.c */
fencepost_result client_make(struct driver *driver, const char *prefix, uint64_t since);

#endif
