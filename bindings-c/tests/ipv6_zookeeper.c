/* ZooKeeper at an IPv6 address, through a relay. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "relay.h"
#include "support.h"

static void lock_at(const char *others) {
    struct relay *relay = relay_open("::1", address(ZOOKEEPER));
    fencepost_client *client = NULL;

    CHECK_RESULT(fencepost_connect(url_of("zk://", others, relay_address(relay)), &client), FENCEPOST_OK);
    if (client != NULL) {
        let_go(hold(client, new_name("ipv6")));
        close_client(client);
    }
    CHECK(relay_connections(relay) == 1);
    relay_close(relay);
}

static void one_server(void) {
    lock_at("");
}

static void one_of_two_servers(void) {
    lock_at("127.0.0.1:1,");
}

static void nobody_at_an_address(void) {
    fencepost_client *client = client_of("zk://[::1]:1");
    fencepost_grant *grant = NULL;

    CHECK_RESULT(fencepost_client_set_connect_timeout(client, 300), FENCEPOST_OK);
    CHECK_FAULT(
        fencepost_acquire(client, new_name("ipv6"), LONG, &grant), FENCEPOST_RESULT_UNREACHABLE,
        "[::1]:1 (Connection refused)");
    close_client(client);
}

/* Each client names the error of its own server. This server accepts connections, and never replies. */
static void reason_of_another_client(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof at;
    fencepost_client *refused = client_of("zk://127.0.0.1:1"), *silent;
    fencepost_grant *grant = NULL;
    char address[64];

    NEED(bind(listener, (struct sockaddr *)&at, size) == 0 && listen(listener, 8) == 0);
    NEED(getsockname(listener, (struct sockaddr *)&at, &size) == 0);
    snprintf(address, sizeof address, "127.0.0.1:%d", ntohs(at.sin_port));
    silent = client_of(url_of("zk://", address, ""));
    CHECK_RESULT(fencepost_client_set_connect_timeout(refused, 300), FENCEPOST_OK);
    CHECK_RESULT(fencepost_client_set_connect_timeout(silent, 500), FENCEPOST_OK);
    CHECK_FAULT(
        fencepost_acquire(refused, new_name("reason"), LONG, &grant), FENCEPOST_RESULT_UNREACHABLE,
        "(Connection refused)");
    CHECK_FAULT(
        fencepost_acquire(silent, new_name("reason"), LONG, &grant), FENCEPOST_RESULT_UNREACHABLE, "(no answer)");
    close_client(refused);
    close_client(silent);
    close(listener);
}

int main(void) {
    if (address(ZOOKEEPER) == NULL)
        return check_close();
    TEST(one_server);
    TEST(one_of_two_servers);
    TEST(nobody_at_an_address);
    TEST(reason_of_another_client);
    return check_close();
}
