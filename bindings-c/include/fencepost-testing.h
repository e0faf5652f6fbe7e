/**
 * @file fencepost-testing.h
 * Control over `memory:NAME`, for tests: sessions that expire, connections that are cut, clients that pause.
 *
 * The conventions are those of fencepost-client.h. No function waits, and any thread may call it.
 */
#ifndef FENCEPOST_TESTING_H
#define FENCEPOST_TESTING_H

#include "fencepost-client.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Controls of the server of the clients whose address is `memory:NAME`. */
typedef struct fencepost_memory_server fencepost_memory_server;

/**
 * Makes the controls of the server at `url`, which is `memory:NAME`. The server exists until its last client and its
 * last controls are freed. It has no clock: a session ends when its client is closed, or by
 * `fencepost_memory_server_expire`, and never by itself. The caller frees the controls with
 * `fencepost_memory_server_free`. Errors: 1xx for the address; `INVALID_URL` for another server, and for `memory:`
 * without a name; `OUT_OF_MEMORY`.
 */
fencepost_result fencepost_memory_server_open(const char *url, fencepost_memory_server **server);

/** Frees the controls, and ignores NULL. The server and its clients stay as they are. */
void fencepost_memory_server_free(fencepost_memory_server *server);

/**
 * Writes the number of a client on its server, by which a report (`fencepost_memory_server_report`) names it. Errors:
 * `INVALID_OPTION` for a client of another server; `CLIENT_CLOSED`; `WRONG_PROCESS` after a fork. The following
 * functions have these errors, too.
 */
fencepost_result
fencepost_memory_server_hub(const fencepost_memory_server *server, const fencepost_client *client, uint64_t *hub);

/**
 * Ends the session of a client, as servers do when they have not heard from it for the session's timeout: its locks are
 * free. A connected client loses its grants at once, a suspended one when it reconnects, a paused one when it resumes.
 * It then gets a new session. Like the following functions, this one changes nothing if its effect is already there.
 */
fencepost_result fencepost_memory_server_expire(fencepost_memory_server *server, const fencepost_client *client);

/**
 * Cuts the connection of a client. The server keeps the session until it is expired. The client ends its grants itself
 * when the session's timeout has passed on its own clock.
 */
fencepost_result fencepost_memory_server_suspend(fencepost_memory_server *server, const fencepost_client *client);

/** Lets a client connect again: in its session, or in a new one if the server has ended that one. */
fencepost_result fencepost_memory_server_reconnect(fencepost_memory_server *server, const fencepost_client *client);

/**
 * Pauses a client, as if its process were stopped: it receives nothing, sends nothing, and its calls wait. Its grants
 * stay held, even if the server gives the lock to another client. A close resumes it.
 */
fencepost_result fencepost_memory_server_pause(fencepost_memory_server *server, const fencepost_client *client);

/** Resumes a client. It then receives what it has missed. */
fencepost_result fencepost_memory_server_resume(fencepost_memory_server *server, const fencepost_client *client);

/**
 * Begins to keep all messages between clients and the server, with an empty list; or stops, and keeps the list.
 * At first, none are kept. The list grows until it begins anew.
 */
fencepost_result fencepost_memory_server_record(fencepost_memory_server *server, bool on);

/**
 * Makes a report of the server: its clients, its nodes, and the messages that were kept, with a number above `after`.
 * `fencepost_memory_report_session`, `fencepost_memory_report_node` and `fencepost_memory_report_message` read it, and
 * the caller frees it with `fencepost_memory_report_free`.
 */
fencepost_result
fencepost_memory_server_report(const fencepost_memory_server *server, uint64_t after, fencepost_memory_report **report);

#ifdef __cplusplus
}
#endif

#endif
