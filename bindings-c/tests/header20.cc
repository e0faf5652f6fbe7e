// Options by their names, in C++ 2020.
#include <cstdio>

#include <fencepost-client.h>

int main() {
    fencepost_client *client = nullptr;
    fencepost_grant *grant = nullptr;
    bool right = fencepost_connect("memory:", &client) == FENCEPOST_OK &&
                 fencepost_acquire_with(
                     client, "presses", FENCEPOST_OPTIONS(.kind = FENCEPOST_KIND_SEMAPHORE, .permits = 3), 1000,
                     &grant) == FENCEPOST_OK &&
                 fencepost_release(grant) == FENCEPOST_OK;
    fencepost_idempotency *none = nullptr;
    right =
        right && fencepost_idempotency_open(client, "payments", FENCEPOST_IDEMPOTENCY_OPTIONS(.lease = 60000), &none) ==
                     FENCEPOST_RESULT_UNKNOWN_OPTION;
    fencepost_grant_free(grant);
    fencepost_client_free(client);
    std::printf("%d passed, %d failed\n", right ? 1 : 0, right ? 0 : 1);
    return right ? 0 : 1;
}
