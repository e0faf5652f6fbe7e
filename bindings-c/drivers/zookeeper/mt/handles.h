/* Handles of the caller's. */
#ifndef FENCEPOST_ZOOKEEPER_MT_HANDLES_H
#define FENCEPOST_ZOOKEEPER_MT_HANDLES_H

#include "../internal.h"

/* False: the handle has a client already. */
bool handle_take(struct driver *driver);
/* Gives a handle back, unless that was done. */
void handle_give_back(struct driver *driver);

#endif
