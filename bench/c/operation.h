/* Operations, for both programs: an acquire claims a new key, a release completes it. */
#ifndef BENCH_OPERATION_H
#define BENCH_OPERATION_H

/* A digest as long as usual ones. */
#define OPERATION_FINGERPRINT "0123456789abcdef0123456789abcdef"
#define OPERATION_TAG "bytes"
/* How long a claim and a result are kept, in ms: short, because there are many. */
#define OPERATION_KEPT "10000"

enum { OPERATION_KEY = 64, OPERATION_RESULT = 1024 };

/* Writes the next key of this process, and returns its number. */
unsigned long operation_next(char key[OPERATION_KEY]);
/* The result: 1 KiB. */
const char *operation_result(void);

#endif
