/* Shared declarations of libfencepost-redis. The client's mutex protects all these objects. */
#ifndef FENCEPOST_REDIS_INTERNAL_H
#define FENCEPOST_REDIS_INTERNAL_H

#include "fencepost-driver.h"
#include "fencepost-redis.h"
#include "tls.h"

/* How long a connection may take, including the greeting, in microseconds. */
#define CONNECT_WITHIN 5000000u
/* How long the reply to a command may take. It is a little less than the 5 s of a try, so that the try's error contains
 * the fault of its command. */
#define ANSWER_WITHIN 4990000u
/* When to check again whether the program's loop has read an overdue reply. */
#define LOOK_AGAIN 50000u
/* After such a silence, the driver sends a PING on the connection for subscriptions. The reply may take the same time.
 */
#define SILENCE 5000000u

enum phase {
    DOWN,       /* no connection; the driver makes one when a command needs it */
    CONNECTING, /* not connected yet */
    SHAKING,    /* connected: the TLS handshake is in progress */
    GREETING,   /* connected: password and database are in flight */
    READY,
    OVER /* a connection of the program, and it has ended */
};

/* A command. It waits for the connection, and is then in flight. */
struct request {
    struct link *link; /* NULL: the client does not use it any more */
    uint64_t command;
    uint64_t expires; /* while it waits: the deadline to send it; in flight: the deadline for its reply */
    char *text;       /* in the form of the protocol, while it waits */
    size_t size;
    struct request *previous, *next;
};

/* A queue of commands, in the order of their arrival. */
struct requests {
    struct request *first, *last;
    size_t count;
};

/* One connection. */
struct link {
    struct driver *driver;
    redisAsyncContext *context; /* NULL while there is none */
    enum phase phase;
    bool ours;         /* the driver makes it, and reconnects; otherwise it is the program's */
    bool driven;       /* the driver reads and writes it; otherwise the program's loop does */
    bool busy;         /* hiredis uses a connection of the program, without the mutex: see `dispatch` in redis.c */
    bool unwritten;    /* hiredis has bytes to write */
    bool write_wanted; /* hiredis waits until the socket is writable */
    uint32_t polled;   /* the events that epoll reports */
    uint64_t deadline; /* for connecting and greeting */
    unsigned greetings;
    char trouble[160]; /* the server's error to a greeting */
    struct requests waiting, under_way;
    uint64_t last_received;           /* when the server last sent something; for the driver's own subscriptions */
    bool pinged;                      /* the driver has sent a ping since */
    void *session;                    /* the TLS session; NULL without TLS */
    int socket;                       /* the socket of the TLS session; hiredis has another one */
    int silence;                      /* the other end of the socket that hiredis has */
    redisDisconnectCallback *wrapped; /* the program's own callback */
    redisAsyncContext *taken;         /* the program's context, until another client may use it */
    struct link *next;                /* among those of the program */
};

enum step { SUBSCRIBING, LISTENING, UNSUBSCRIBING };

/* A subscription. */
struct channel {
    struct driver *driver; /* NULL: the client does not use it any more */
    uint64_t command;
    enum step step;
    bool sent;                        /* a request is in flight */
    const redisAsyncContext *context; /* without a client: its connection */
    struct channel *previous, *next;
    size_t size;
    char name[];
};

/* A command in the form of the protocol. */
struct text {
    char *data;
    size_t size, capacity;
};

struct driver {
    fencepost_client *client;
    char *host, *user, *password;
    int port;
    unsigned database;
    struct link commands, subscriptions;
    struct channel *first_channel, *last_channel;
    const struct tls_functions *tls;
    void *secure;           /* the settings of TLS; NULL without TLS */
    struct text text;       /* the command that is being sent */
    struct request *unused; /* kept for the next command */
    int poll;               /* epoll of both connections; -1 if the program's loop reads them */
    bool reached;           /* a server has answered at least once */
    char absence[320];      /* before that: the address and the reason */
    fencepost_hub *hub;     /* during a call: see `driver_enter` */
};

/* The type of a reply to a subscription over RESP3, for which hiredis 0.14 has no name. */
#define REPLY_PUSH 12

/* Whether there is no connection, and the driver is not making one. */
static inline bool link_is_down(const struct link *link) {
    return link->phase == DOWN || link->phase == OVER;
}

/* Each of these files uses only the files above it. */

/* enter.c */
bool driver_enter(struct driver *driver, bool *entered);
void driver_leave(struct driver *driver, bool entered);
bool driver_begin(struct driver *driver, fencepost_hub *hub);
void driver_finish(struct driver *driver, bool outermost);

/* taken.c */
bool taken_add(struct link *link, redisAsyncContext *context);
void taken_remove(struct link *link);
struct link *taken_find(const redisAsyncContext *context);
void taken_leave(struct channel *channel, const redisAsyncContext *context);
bool taken_has_left(const redisAsyncContext *context);
void taken_drop(struct channel *channel);

/* secure.c */
fencepost_result secure_open(struct driver *driver, const char *ca, char *why, size_t size);
void secure_close(struct driver *driver);
int secure_descriptor(const struct link *link); /* the descriptor to poll, with or without TLS */
void secure_begin(struct link *link);
void secure_end(struct link *link);
enum tls_outcome secure_shake(const struct link *link, char *why, size_t size);
bool secure_receive(struct link *link); /* passes received bytes to hiredis's reader; false: the connection has ended */
bool secure_send(struct link *link);    /* sends hiredis's buffer; false: some bytes are left */

/* protocol.c */
bool protocol_write(struct text *text, const fencepost_command *command);

/* reply.c */
fencepost_result reply_give(fencepost_hub *hub, uint64_t command, const redisReply *reply);
void reply_give_error(fencepost_hub *hub, uint64_t command, const char *error);

/* requests.c */
void request_call(struct driver *driver, const fencepost_command *command);
void requests_send(struct link *link);
void requests_fail(struct link *link, fencepost_failure failure, const char *why);
void requests_refuse(struct link *link);
bool requests_answer(struct link *link, const redisReply *reply);
void requests_lose(struct link *link, const char *why);
void requests_in_doubt(struct link *link, const char *why);
void requests_forget(struct link *link);

/* channels.c */
void channel_subscribe(struct driver *driver, const fencepost_command *command);
void channel_unsubscribe(struct driver *driver, const fencepost_command *command);
void channels_send(struct driver *driver);
void channels_answer(struct driver *driver, const redisReply *reply);
void channels_fail(struct driver *driver);
void channels_forget(struct driver *driver);

/* link.c */
void link_note_absence(const struct link *link, const char *why);
void link_drop(struct link *link, const char *why);
void link_give_up(struct link *link, const char *why);
void link_ended(struct link *link, const char *why);
void link_ready(struct link *link);

/* hooks.c */
void hooks_attach(struct link *link);
void hooks_detach(struct link *link);
void hooks_poll(struct link *link);

/* greeting.c */
void greet(struct link *link);

/* connect.c */
void link_need(struct link *link);
void link_shake(struct link *link);

/* transfer.c */
void link_flush(struct link *link);
int link_source(const struct link *link, struct pollfd *source);
void link_process(struct link *link);
void link_work(struct link *link);
bool link_has_rest(const struct link *link);

/* silence.c */
void link_check_time(struct link *link);
uint64_t link_until(const struct link *link);

/* attached.c */
void attached_open(struct link *link, redisAsyncContext *context);
void attached_close(struct link *link);

#endif
