/* A driver that does nothing: the test calls the driver's functions itself. */
#ifndef FENCEPOST_TESTS_IDLE_H
#define FENCEPOST_TESTS_IDLE_H

#include <fencepost-driver.h>

static int no_descriptor(void *self) {
    (void)self;
    return FENCEPOST_SELF_DRIVEN;
}

static void no_command(void *self, fencepost_hub *hub, uint64_t key, const fencepost_command *command) {
    (void)self, (void)hub, (void)key, (void)command;
}

static size_t nothing_under_way(void *self) {
    (void)self;
    return 0;
}

static void nothing_to_end(void *self) {
    (void)self;
}

static void nothing_to_close(void *self, bool silent) {
    (void)self, (void)silent;
}

static const fencepost_driver operations = {
    .descriptor = no_descriptor,
    .command = no_command,
    .busy = nothing_under_way,
    .close = nothing_to_close,
    .free = nothing_to_end,
};

static fencepost_client *idle_client(void *self) {
    fencepost_client *client = NULL;
    fencepost_hub *hub = NULL;

    CHECK_RESULT(fencepost_hub_new(FENCEPOST_FAMILY_ZOOKEEPER, 1, &hub), FENCEPOST_OK);
    CHECK_RESULT(fencepost_client_new(hub, "zookeeper-mutex", NULL, &operations, self, &client), FENCEPOST_OK);
    return client;
}

#endif
