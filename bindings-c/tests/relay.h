/* A relay in front of a server, inside the test: it may stand on IPv6, be slow, and lead to another server later. */
#ifndef FENCEPOST_TESTS_RELAY_H
#define FENCEPOST_TESTS_RELAY_H

#include <stdint.h>

struct relay;

/* On a free port of a host, `127.0.0.1` or `::1`; ends the test program where that fails. */
struct relay *relay_open(const char *host, const char *target);
/* HOST:PORT, with the brackets that an IPv6 address has in a URL. Valid as long as the relay. */
const char *relay_address(const struct relay *relay);
/* Connections that come from now on are for this server. */
void relay_turn(struct relay *relay, const char *target);
/* Replies that come from now on are so many milliseconds late. */
void relay_delay(struct relay *relay, int64_t milliseconds);
/* How many connections have come. */
int relay_connections(struct relay *relay);
/* Ends all of them. */
void relay_close(struct relay *relay);

#endif
