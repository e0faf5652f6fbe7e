/* The outcome of a request, from an error of the library. */
#ifndef FENCEPOST_ZOOKEEPER_VERDICT_H
#define FENCEPOST_ZOOKEEPER_VERDICT_H

enum verdict { VERDICT_ANSWER, VERDICT_NOT_SENT, VERDICT_UNKNOWN, VERDICT_CLOSED };

/* The outcome of a completion: the server's answer, or unknown. */
enum verdict verdict_of_completion(int rc);
/* The outcome of a request that a `zoo_a...` function did not accept. The session of the handle has not ended: the
 * driver closes a handle whose session has ended. */
enum verdict verdict_of_refusal(int rc);

#endif
