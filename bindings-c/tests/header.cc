// All headers compile in C++, even if they are included twice.
#include <fencepost.h>

#include <fencepost-client.h>
#include <fencepost-driver.h>
#include <fencepost-redis.h>
#include <fencepost-zookeeper.h>

#include <cstdio>

int main() {
    fencepost_client *client = nullptr;
    fencepost_grant *grant = nullptr;
    bool right = fencepost_connect("memory:", &client) == FENCEPOST_OK &&
                 fencepost_acquire(client, "stock", FENCEPOST_FOREVER, &grant) == FENCEPOST_OK &&
                 fencepost_release(grant) == FENCEPOST_OK;
    fencepost_grant_free(grant);
    fencepost_options options = {};
    options.size = sizeof options;
    options.kind = FENCEPOST_KIND_READER;
    right = right && fencepost_try_acquire_with(client, "stock", &options, &grant) == FENCEPOST_OK &&
            !fencepost_grant_revoke_requested(grant) && fencepost_release(grant) == FENCEPOST_OK;
    fencepost_grant_free(grant);
    fencepost_client_free(client);
    std::printf("%d passed, %d failed\n", right ? 1 : 0, right ? 0 : 1);
    return right ? 0 : 1;
}
