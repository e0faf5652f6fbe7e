/* Another process for the tests: prints a line when it holds the lock, and keeps it until it is killed or its input
 * ends.
 *     holder hold URL NAME        holds
 *     holder quick URL NAME       the same with a short lease
 *     holder single URL NAME      the same, with a lock that is one node */
#include <fencepost-client.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    fencepost_client *client;
    fencepost_lock *lock;
    fencepost_grant *grant;

    if (argc != 4 || fencepost_connect(argv[2], &client) != FENCEPOST_OK ||
        fencepost_lock_open(client, argv[3], FENCEPOST_OPTIONS(.unfair = strcmp(argv[1], "single") == 0), &lock) !=
            FENCEPOST_OK)
        return 2;
    if (strcmp(argv[1], "quick") == 0 && fencepost_lock_set_ttl(lock, 2000) != FENCEPOST_OK)
        return 2;
    if (fencepost_lock_acquire(lock, 20000, &grant) != FENCEPOST_OK) {
        fprintf(stderr, "holder: %s\n", fencepost_detail());
        return 1;
    }
    printf("held\n");
    fflush(stdout);
    return (int)fencepost_grant_wait_lost(grant, FENCEPOST_FOREVER);
}
