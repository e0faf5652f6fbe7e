/* Handles of the program. */
#ifndef FENCEPOST_ZOOKEEPER_MT_HANDLES_H
#define FENCEPOST_ZOOKEEPER_MT_HANDLES_H

#include "../internal.h"

/* Returns false if the handle has a client already. */
bool handle_take(struct driver *driver);
/* Returns a handle to the program, unless this was done before. */
void handle_give_back(struct driver *driver);

#endif
