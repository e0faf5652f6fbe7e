/* What the files of libfencepost-zookeeper and libfencepost-zookeeper-st share. Both contain the files in zookeeper/.
 * The files in zookeeper/mt/ and zookeeper/st/ drive the one and the other library. */
#ifndef FENCEPOST_ZOOKEEPER_INTERNAL_H
#define FENCEPOST_ZOOKEEPER_INTERNAL_H

#include "fencepost-driver.h"
#include "fencepost-zookeeper.h"

enum kind { REQUEST, DATA_WATCH, CHILD_WATCH, SESSION };

/* A request, watch or session that the library may report later. The library gets its ticket, a number, and never its
 * address. So a late callback finds no record. Only changed with the client's mutex. */
struct record {
    uint64_t ticket;
    enum kind kind;
    struct driver *driver;
    uint64_t command;
    uint64_t key;            /* of the machine */
    int64_t session;         /* in which the request was sent */
    bool settled;            /* its outcome was reported at a disconnect */
    bool asked;              /* a watch: its read has no answer, so the library does not have the watch yet */
    bool unwanted;           /* a watch: its contender has ended */
    char *path;              /* of a watch */
    struct record *watch;    /* the one that a request sets */
    struct writes *writes;   /* of a transaction */
    struct record *previous; /* of the driver */
    struct record *next;
    struct record *bucket;
};

struct connection; /* of a handle of the driver's own: see mt/connection.h, st/connection.h */

struct driver {
    fencepost_client *client;
    zhandle_t *handle; /* NULL while there is none */
    char *hosts;       /* NULL on a handle of the program */
    char *places;      /* the same hosts, in the library's form */
    int timeout;       /* the session timeout to request, in milliseconds */
    const struct ACL_vector *acl;
    watcher_fn wrapped; /* the watcher that the program's handle had */
    bool connected;
    bool over; /* the program's handle is dead */
    int64_t session;
    bool reached;      /* a server has answered at least once */
    char absence[320]; /* until then: the servers and the reason */
    bool unanswered;   /* until then: the driver gave up a handshake */
    int log;           /* which log function it has, which stores the last error; 0: none, it is in `error` */
    int error;
    struct record *current; /* the session of the present handle: only its notices count */
    uint64_t again;         /* when to try again to make a handle */
    struct record *records;
    size_t requests;
    struct record *spare; /* for the next ones */
    size_t spares;
    pthread_mutex_t using; /* of a program's handle: until it is unlocked, the program's watcher does not learn of the
                              end */
    bool listed;           /* among those on the program's handles */
    struct driver *next;
    struct connection *connection; /* NULL on a handle of the program */
};

/* An address and a port as numbers, as the library writes them. */
#define SERVER_SIZE 136

/* Each file uses those above it. */

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
/* A handle of the driver's own was made, or its connection was made or lost. */
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
/* Stores why a socket of the library failed: an errno. It ignores an errno that is no failure. */
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
