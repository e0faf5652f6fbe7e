/* Acquires locks on command, with the client libraries alone. usage: raw KIND URL LOCK */
#include "raw.h"

#include <string.h>

int main(int argc, char **argv) {
    const char *kinds[] = {"raw", "floor", "many-raw", "raw-operation"};
    size_t kind = 0;
    while (argc == 4 && kind < sizeof kinds / sizeof *kinds && strcmp(argv[1], kinds[kind]) != 0)
        kind++;
    if (argc != 4 || kind == sizeof kinds / sizeof *kinds)
        fail("usage", "raw raw|floor|many-raw|raw-operation URL LOCK");
    address at;
    read_address(argv[2], &at);
    if (strcmp(argv[1], "many-raw") == 0)
        return serve_many((at.is_zookeeper ? many_raw_zookeeper : many_raw_redis)(&at, argv[3]), argv[3]);
    if (strcmp(argv[1], "raw-operation") == 0) {
        lock operation = (at.is_zookeeper ? raw_operation_zookeeper : raw_operation_redis)(&at, argv[3]);
        return serve(&operation);
    }
    int floor = strcmp(argv[1], "floor") == 0;
    lock l = at.is_zookeeper ? (floor ? floor_zookeeper : raw_zookeeper)(&at, argv[3])
                             : (floor ? floor_redis : raw_redis)(&at, argv[3]);
    return serve(&l);
}
