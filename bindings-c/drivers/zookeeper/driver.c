/* The driver's functions that both libraries share. */
#include <stdlib.h>

#include "internal.h"

size_t driver_busy(void *self) {
    return ((struct driver *)self)->requests;
}

void driver_free(void *self) {
    struct driver *driver = self;

    records_free(driver);
    session_forget(driver);
    connection_forget(driver);
    pthread_mutex_destroy(&driver->using);
    free(driver->hosts);
    free(driver->places);
    free(driver);
}
