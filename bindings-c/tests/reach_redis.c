/* Redis by address: at an IPv6 address, and at addresses of other servers. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "relay.h"
#include "support.h"

static void at_an_ipv6_address(void) {
    struct relay *relay = relay_open("::1", address(REDIS));
    fencepost_client *client = client_of(url_of("redis://", relay_address(relay), ""));

    let_go(hold(client, new_name("ipv6")));
    close_client(client);
    CHECK(relay_connections(relay) == 1);
    relay_close(relay);
}

/* An acquire fails within `connect_timeout`, with the address and the reason, and leaves nothing to clean up. */
static void is_unreachable(const char *url, const char *words) {
    fencepost_client *client = client_of(url);
    fencepost_grant *grant = NULL;

    CHECK_RESULT(fencepost_client_set_connect_timeout(client, 1000), FENCEPOST_OK);
    CHECK_FAULT(
        fencepost_acquire(client, new_name("unreachable"), FENCEPOST_FOREVER, &grant), FENCEPOST_RESULT_UNREACHABLE,
        words);
    close_client(client);
}

static void nobody_at_an_ipv6_address(void) {
    is_unreachable("redis://[::1]:1", "[::1]:1 (Connection refused)");
}

static void another_kind_of_server(void) {
    const char *words = url_of("", address(ZOOKEEPER), " (Server closed the connection): check the address");

    is_unreachable(url_of("redis://", address(ZOOKEEPER), ""), words);
    is_unreachable(url_of("redis://:pw@", address(ZOOKEEPER), "/3"), words);
}

/* A server that accepts connections and never replies. The client has sent no acquire, so a close leaves nothing. */
static void silent_server_has_received_no_acquire(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), with_password;
    socklen_t size = sizeof at;
    char place[32], received[256];

    CHECK(bind(listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(listener, 9) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&at, &size) == 0);
    snprintf(place, sizeof place, "127.0.0.1:%d", ntohs(at.sin_port));
    for (with_password = 0; with_password < 2; with_password++) {
        fencepost_client *client = client_of(url_of(with_password ? "redis://:pw@" : "redis://", place, ""));
        fencepost_lock *lock = lock_with(client, new_name("unheard"), NULL);
        fencepost_attempt *attempt = NULL;
        int accepted;

        CHECK_RESULT(fencepost_lock_acquire_start(lock, LONG, &attempt), FENCEPOST_OK);
        accepted = accept(listener, NULL, NULL);
        CHECK(recv(accepted, received, sizeof received, 0) > 0);
        close_client(client);
        fencepost_attempt_free(attempt);
        fencepost_lock_free(lock);
        close(accepted);
    }
    close(listener);
}

int main(void) {
    TEST(silent_server_has_received_no_acquire);
    if (address(REDIS) != NULL) {
        TEST(at_an_ipv6_address);
        TEST(nobody_at_an_ipv6_address);
    }
    if (address(ZOOKEEPER) != NULL)
        TEST(another_kind_of_server);
    return check_close();
}
