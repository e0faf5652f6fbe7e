/* A relay in front of a server, inside the test: it may listen on IPv6, delay replies, and switch to another server. */
#ifndef FENCEPOST_TESTS_RELAY_H
#define FENCEPOST_TESTS_RELAY_H

#include <stdint.h>

struct relay;

/* Opens a relay on a free port of a host, `127.0.0.1` or `::1`. Ends the test program on a failure. */
struct relay *relay_open(const char *host, const char *target);
/* Returns HOST:PORT, with the brackets of an IPv6 address in a URL. Valid until the relay is closed. */
const char *relay_address(const struct relay *relay);
/* Connects new connections to this server. */
void relay_turn(struct relay *relay, const char *target);
/* Delays new replies by so many milliseconds. */
void relay_delay(struct relay *relay, int64_t milliseconds);
/* The number of connections so far. */
int relay_connections(struct relay *relay);
/* Closes the relay and its connections. */
void relay_close(struct relay *relay);

#endif
