/* ZooKeeper at an IPv6 address: a relay there, before the server. */
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

int main(void) {
    if (address(ZOOKEEPER) == NULL)
        return check_close();
    TEST(one_server);
    TEST(one_of_two_servers);
    TEST(nobody_at_an_address);
    return check_close();
}
