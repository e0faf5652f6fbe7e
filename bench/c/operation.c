#include "operation.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

unsigned long operation_next(char key[OPERATION_KEY]) {
    static unsigned long number;
    number++;
    snprintf(key, OPERATION_KEY, "key-%ld-%lu", (long)getpid(), number);
    return number;
}

const char *operation_result(void) {
    static char result[OPERATION_RESULT];
    if (result[0] == '\0')
        memset(result, 'r', sizeof result);
    return result;
}
