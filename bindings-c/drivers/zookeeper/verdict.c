/* The table from native error to outcome. */
#include <zookeeper/zookeeper.h>

#include "verdict.h"

enum verdict verdict_of_completion(int rc) {
    switch (rc) {
    case ZOK:
    case ZUNIMPLEMENTED:
        return VERDICT_ANSWER;
    /* Below the range of the server's errors, but told by the library of its own end. */
    case ZSESSIONEXPIRED:
    case ZINVALIDCALLBACK:
    case ZAUTHFAILED:
    case ZCLOSING:
    case ZNOTHING:
        return VERDICT_UNKNOWN;
    default:
        /* ZCONNECTIONLOSS, ZOPERATIONTIMEOUT, ZMARSHALLINGERROR, ...: whether the request had left, the library does
         * not say. */
        return rc < ZAPIERROR ? VERDICT_ANSWER : VERDICT_UNKNOWN;
    }
}

enum verdict verdict_of_refusal(int rc) {
    /* A bad argument, or what the library cannot do, would be refused again: that is an answer. Anything else may pass.
     */
    return rc == ZBADARGUMENTS || rc == ZUNIMPLEMENTED ? VERDICT_ANSWER : VERDICT_NOT_SENT;
}
