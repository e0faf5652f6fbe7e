/* What an error of the library means for its request. */
#ifndef FENCEPOST_ZOOKEEPER_VERDICT_H
#define FENCEPOST_ZOOKEEPER_VERDICT_H

enum verdict { VERDICT_ANSWER, VERDICT_NOT_SENT, VERDICT_UNKNOWN, VERDICT_CLOSED };

/* A completion's result: the server's answer, or unknown. */
enum verdict verdict_of_completion(int rc);
/* What a `zoo_a...` function returned instead of taking the request. On a live handle: a dead one is closed. */
enum verdict verdict_of_refusal(int rc);

#endif
