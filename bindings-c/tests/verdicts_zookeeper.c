/* The table from libzookeeper's errors to outcomes, row by row. */
#include <zookeeper/zookeeper.h>

#include "../drivers/zookeeper/verdict.h"
#include "check.h"

struct row {
    int rc;
    enum verdict expected;
};

static void completions(void) {
    static const struct row rows[] = {
        {ZOK, VERDICT_ANSWER},
        {ZNONODE, VERDICT_ANSWER},
        {ZNOAUTH, VERDICT_ANSWER},
        {ZBADVERSION, VERDICT_ANSWER},
        {ZNOCHILDRENFOREPHEMERALS, VERDICT_ANSWER},
        {ZNODEEXISTS, VERDICT_ANSWER},
        {ZNOTEMPTY, VERDICT_ANSWER},
        {ZINVALIDACL, VERDICT_ANSWER},
        {ZSESSIONMOVED, VERDICT_ANSWER},
        {ZNOTREADONLY, VERDICT_ANSWER},
        {-127 /* ZTHROTTLEDOP, which older headers lack */, VERDICT_ANSWER},
        {ZUNIMPLEMENTED, VERDICT_ANSWER},
        {ZCONNECTIONLOSS, VERDICT_UNKNOWN},
        {ZOPERATIONTIMEOUT, VERDICT_UNKNOWN},
        {ZCLOSING, VERDICT_UNKNOWN},
        {ZSESSIONEXPIRED, VERDICT_UNKNOWN},
        {ZAUTHFAILED, VERDICT_UNKNOWN},
        {ZINVALIDCALLBACK, VERDICT_UNKNOWN},
        {ZNOTHING, VERDICT_UNKNOWN},
        {ZSYSTEMERROR, VERDICT_UNKNOWN},
        {ZRUNTIMEINCONSISTENCY, VERDICT_UNKNOWN},
        {ZDATAINCONSISTENCY, VERDICT_UNKNOWN},
        {ZMARSHALLINGERROR, VERDICT_UNKNOWN},
        {ZAPIERROR, VERDICT_UNKNOWN},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!CHECK(verdict_of_completion(rows[i].rc) == rows[i].expected))
            printf("    %d\n", rows[i].rc);
    }
}

static void refusals(void) {
    static const struct row rows[] = {
        {ZOK /* not connected: the driver did not call it */, VERDICT_NOT_SENT},
        {ZBADARGUMENTS, VERDICT_ANSWER},
        {ZUNIMPLEMENTED, VERDICT_ANSWER},
        {ZMARSHALLINGERROR, VERDICT_NOT_SENT},
        {ZINVALIDSTATE, VERDICT_NOT_SENT},
        {ZSYSTEMERROR, VERDICT_NOT_SENT},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!CHECK(verdict_of_refusal(rows[i].rc) == rows[i].expected))
            printf("    %d\n", rows[i].rc);
    }
}

int main(void) {
    TEST(completions);
    TEST(refusals);
    return check_close();
}
