/* The table of native errors and their outcomes. */
#include <zookeeper/zookeeper.h>

#include "verdict.h"

enum verdict verdict_of_completion(int rc) {
    switch (rc) {
    case ZOK:
    case ZUNIMPLEMENTED:
        return VERDICT_ANSWER;
    /* It is below the range of the server's errors, but the library itself reports it, at its own end. */
    case ZSESSIONEXPIRED:
    case ZINVALIDCALLBACK:
    case ZAUTHFAILED:
    case ZCLOSING:
    case ZNOTHING:
        return VERDICT_UNKNOWN;
    default:
        /* ZCONNECTIONLOSS, ZOPERATIONTIMEOUT, ZMARSHALLINGERROR, ...: the library does not say whether it had sent the
         * request. */
        return rc < ZAPIERROR ? VERDICT_ANSWER : VERDICT_UNKNOWN;
    }
}

enum verdict verdict_of_refusal(int rc) {
    /* A bad argument, or what the library cannot do, would be refused again: that counts as an answer. A retry after
     * another error may succeed. */
    return rc == ZBADARGUMENTS || rc == ZUNIMPLEMENTED ? VERDICT_ANSWER : VERDICT_NOT_SENT;
}
