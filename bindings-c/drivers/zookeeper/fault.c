/* Errors with their texts. */
#include <string.h>

#include "internal.h"

fencepost_result driver_fault(fencepost_result result, const char *text) {
    fencepost_set_detail((const uint8_t *)text, strlen(text));
    return result;
}
