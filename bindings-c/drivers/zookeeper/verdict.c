/* The table of native errors and their outcomes. */
#include <zookeeper/zookeeper.h>

#include "verdict.h"

enum verdict verdict_of_completion(int rc) {
    switch (rc) {
    case ZOK:
    case ZUNIMPLEMENTED:
        return VERDICT_ANSWER;
    /* These are in the range of the server's errors, but the library reports them itself, when the session or the
     * handle ends. */
    case ZSESSIONEXPIRED:
    case ZINVALIDCALLBACK:
    case ZAUTHFAILED:
    case ZCLOSING:
    case ZNOTHING:
        return VERDICT_UNKNOWN;
    default:
        /* ZCONNECTIONLOSS, ZOPERATIONTIMEOUT, ZMARSHALLINGERROR, ...: the library does not report whether it sent the
         * request. */
        return rc < ZAPIERROR ? VERDICT_ANSWER : VERDICT_UNKNOWN;
    }
}

enum verdict verdict_of_refusal(int rc) {
    /* The library would refuse a bad argument or an unsupported request again, so these count as an answer. After
     * another error, a retry may succeed. */
    return rc == ZBADARGUMENTS || rc == ZUNIMPLEMENTED ? VERDICT_ANSWER : VERDICT_NOT_SENT;
}
