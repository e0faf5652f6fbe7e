/* The numbers of requests continue when a session is connected again: the server matches replies to them. The test
 * reads what libzookeeper sends. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <sys/socket.h>

#include "support.h"

/* The size of a handshake; the field for read-only servers is optional. */
#define HANDSHAKE 45

/* All are atomic. */
static int last, requests, disorder, handshakes;

static void look(const void *bytes, size_t size) {
    int32_t number;

    /* The library sends the size of a request separately. Then a request has its number and its operation. Pings and
     * similar requests have negative numbers, and a handshake has no number. */
    if (size < 2 * sizeof number)
        return;
    memcpy(&number, bytes, sizeof number);
    number = (int32_t)ntohl((uint32_t)number);
    if (number == 0 && (size == HANDSHAKE || size == HANDSHAKE - 1))
        __atomic_add_fetch(&handshakes, 1, __ATOMIC_RELAXED);
    if (number <= 0)
        return;
    __atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);
    if (number <= __atomic_exchange_n(&last, number, __ATOMIC_RELAXED))
        __atomic_add_fetch(&disorder, 1, __ATOMIC_RELAXED);
}

ssize_t send(int socket, const void *bytes, size_t size, int flags) {
    ssize_t (*next)(int, const void *, size_t, int), sent;
    void *symbol = dlsym(RTLD_NEXT, "send");

    memcpy(&next, &symbol, sizeof next);
    sent = next(socket, bytes, size, flags);
    if (sent == (ssize_t)size)
        look(bytes, size);
    return sent;
}

static void numbers_go_on(void) {
    const char *at = NULL;
    char proxy[32];
    fencepost_client *client;
    int round, before;

    snprintf(proxy, sizeof proxy, "%s", proxy_open("zookeeper", &at));
    client = client_of(url_of("zk://", at, "?session_timeout=20000"));
    let_go(hold(client, new_name("numbers")));
    for (round = 0; round < 3; round++) {
        before = __atomic_load_n(&requests, __ATOMIC_RELAXED);
        CHECK(control("id", "proxy-cut %s", proxy) != NULL && control("id", "proxy-heal %s", proxy) != NULL);
        let_go(hold(client, new_name("numbers")));
        CHECK(__atomic_load_n(&requests, __ATOMIC_RELAXED) > before);
    }
    close_client(client);
    CHECK(__atomic_load_n(&handshakes, __ATOMIC_RELAXED) >= 4);
    CHECK(__atomic_load_n(&disorder, __ATOMIC_RELAXED) == 0);
    control("id", "proxy-close %s", proxy);
}

int main(void) {
    if (address(ZOOKEEPER) == NULL)
        return check_close();
    TEST(numbers_go_on);
    return check_close();
}
