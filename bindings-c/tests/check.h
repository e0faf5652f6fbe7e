/* A test runner: TEST runs a test, CHECK checks a condition, and the last line has the counts. */
#ifndef FENCEPOST_TESTS_CHECK_H
#define FENCEPOST_TESTS_CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fencepost.h>

/* The counters are shared by all files of the program: a broken check in any file fails the test. */
int check_passed __attribute__((weak)), check_failed __attribute__((weak)), check_broken __attribute__((weak));

/* Checks a condition. If it does not hold, the test fails, but continues. */
#define CHECK(condition) check((condition) != 0, #condition, __FILE__, __LINE__)
/* Checks a condition that the rest of the test needs: if it does not hold, the test's function returns. */
#define NEED(condition)                                                                                                \
    do {                                                                                                               \
        if (!CHECK(condition))                                                                                         \
            return;                                                                                                    \
    } while (0)
/* Checks a result, by its name; CHECK_FAULT also checks that the detail contains a text. */
#define CHECK_RESULT(result, expected) check_result((int)(result), expected, NULL, #result, __FILE__, __LINE__)
#define CHECK_FAULT(result, expected, words) check_result((int)(result), expected, words, #result, __FILE__, __LINE__)

static inline int check(int holds, const char *what, const char *file, int line) {
    if (!holds) {
        check_broken++;
        printf("    %s:%d: %s\n", file, line, what);
    }
    return holds;
}

static inline int
check_result(int result, int expected, const char *words, const char *what, const char *file, int line) {
    const char *name = fencepost_result_name(result);

    if (result != expected) {
        printf(
            "    %s:%d: %s: %s (%s), expected %s\n", file, line, what, name == NULL ? "?" : name, fencepost_detail(),
            fencepost_result_name(expected));
        check_broken++;
        return 0;
    }
    if (words != NULL && strstr(fencepost_detail(), words) == NULL) {
        printf("    %s:%d: %s says \"%s\", expected \"%s\"\n", file, line, what, fencepost_detail(), words);
        check_broken++;
        return 0;
    }
    return 1;
}

/* Runs one test: a function without arguments, or with a server as its argument. */
#define TEST(name) check_begin(), name(), check_end(#name, "")
#define TEST_ON(name, server, label) check_begin(), name(server), check_end(#name, label)

static inline void check_begin(void) {
    check_broken = 0;
}

static inline void check_end(const char *name, const char *label) {
    if (check_broken == 0)
        check_passed++;
    else
        check_failed++;
    printf("%s %s%s%s\n", check_broken == 0 ? "ok    " : "FAILED", name, *label ? " on " : "", label);
    fflush(stdout);
}

/* Prints the last line, and returns the exit code. */
static inline int check_close(void) {
    printf("%d passed, %d failed\n", check_passed, check_failed);
    return check_failed == 0 && check_passed > 0 ? 0 : 1;
}

#endif
