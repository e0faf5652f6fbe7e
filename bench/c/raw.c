/* Takes locks on command, with the client libraries alone. usage: raw KIND URL LOCK */
#include "raw.h"

#include <string.h>

int main(int argc, char **argv) {
    if (argc != 4 || (strcmp(argv[1], "raw") != 0 && strcmp(argv[1], "floor") != 0)) {
        fail("usage", "raw raw|floor URL LOCK");
    }
    address at;
    read_address(argv[2], &at);
    int floor = strcmp(argv[1], "floor") == 0;
    lock l = at.is_zookeeper ? (floor ? floor_zookeeper : raw_zookeeper)(&at, argv[3])
                             : (floor ? floor_redis : raw_redis)(&at, argv[3]);
    return serve(&l);
}
