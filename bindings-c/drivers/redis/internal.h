/* What the files of libfencepost-redis share. Everything here is done under the client's lock. */
#ifndef FENCEPOST_REDIS_INTERNAL_H
#define FENCEPOST_REDIS_INTERNAL_H

#include "fencepost-driver.h"
#include "fencepost-redis.h"
#include "tls.h"

/* How long a connection may take, greeting included, in microseconds. */
#define CONNECT_WITHIN 5000000u
/* How long a command that was sent may take. A try waits for 5 s, and its error says what came of its command: a little
 * less. */
#define ANSWER_WITHIN 4990000u
/* When to look again whether an overdue answer has been read by the caller's loop. */
#define LOOK_AGAIN 50000u
/* For how long subscriptions may hear nothing before the server is asked, and how long it may take to answer. */
#define SILENCE 5000000u

enum phase {
    DOWN,       /* no connection; one of ours is made when it is needed */
    CONNECTING, /* not connected yet */
    SHAKING,    /* connected: TLS is being agreed on */
    GREETING,   /* connected: password and database are under way */
    READY,
    OVER /* one of the caller's, and it has ended */
};

/* A command: first it may wait for the connection, then it is under way. */
struct request {
    struct link *link; /* NULL: nobody wants to know any more */
    uint64_t command;
    uint64_t expires; /* while it waits: until when it makes sense to send it; under way: when its answer is overdue */
    char *text;       /* as the protocol has it, while it waits */
    size_t size;
    struct request *previous, *next;
};

/* In the order of arrival. */
struct requests {
    struct request *first, *last;
    size_t count;
};

/* One connection. */
struct link {
    struct driver *driver;
    redisAsyncContext *context; /* NULL while there is none */
    enum phase phase;
    bool ours;         /* made by us, and made again; otherwise the caller's */
    bool driven;       /* read and written by us; otherwise by the caller's loop */
    bool busy;         /* hiredis is at work on one of the caller's, without the lock: see `dispatch` in redis.c */
    bool unwritten;    /* something was handed to hiredis */
    bool write_wanted; /* hiredis waits until it can write */
    uint32_t polled;   /* what epoll watches for */
    uint64_t deadline; /* of connecting and greeting */
    unsigned greetings;
    char trouble[160]; /* what the server said to a greeting */
    struct requests waiting, under_way;
    uint64_t heard;                   /* when the server has last said something; of subscriptions of ours */
    bool pinged;                      /* it has been asked to say something since */
    void *session;                    /* of TLS; NULL without */
    int socket;                       /* below the session; hiredis has another */
    int silence;                      /* the other end of what hiredis has */
    redisDisconnectCallback *wrapped; /* the caller's own */
    redisAsyncContext *taken;         /* the caller's, for as long as no other client may have it */
    struct link *next;                /* among the callers' */
};

enum step { SUBSCRIBING, LISTENING, UNSUBSCRIBING };

/* A subscription. */
struct channel {
    struct driver *driver; /* NULL: nobody wants to know any more */
    uint64_t command;
    enum step step;
    bool sent; /* a request is under way */
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
    void *secure;           /* how to make sure of the server; NULL without TLS */
    struct text text;       /* the command that is being handed over */
    struct request *unused; /* one kept for the next command */
    int poll;               /* epoll of both connections; -1 if the caller's loop reads them */
    bool reached;           /* a server has answered at some time */
    char absence[320];      /* until then: whose address, and why not */
    fencepost_hub *hub;     /* while a thread is inside, see `driver_enter` */
};

/* There is no connection, and none is being made. */
static inline bool link_is_down(const struct link *link) {
    return link->phase == DOWN || link->phase == OVER;
}

/* Each file uses those above it. */

/* enter.c */
bool driver_enter(struct driver *driver, bool *entered);
void driver_leave(struct driver *driver, bool entered);
bool driver_begin(struct driver *driver, fencepost_hub *hub);
void driver_finish(struct driver *driver, bool outermost);

/* taken.c */
bool taken_add(struct link *link, redisAsyncContext *context);
void taken_remove(struct link *link);
struct link *taken_find(const redisAsyncContext *context);

/* secure.c */
fencepost_result secure_open(struct driver *driver, const char *ca, char *why, size_t size);
void secure_close(struct driver *driver);
int secure_descriptor(const struct link *link); /* what to poll, with TLS or without */
void secure_begin(struct link *link);
void secure_end(struct link *link);
enum tls_outcome secure_shake(const struct link *link, char *why, size_t size);
bool secure_receive(struct link *link); /* hiredis's reader gets what has come; false: the connection has ended */
bool secure_send(struct link *link);    /* what hiredis has collected; false: there is a rest, for later */

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
void requests_doubt(struct link *link, const char *why);
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
