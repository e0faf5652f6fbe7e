/* The lines of a transcript: inputs put into a hub, outputs written as the transcript has them. */
#ifndef FENCEPOST_TESTS_LINES_H
#define FENCEPOST_TESTS_LINES_H

#include <cjson/cJSON.h>

#include "text.h"

/* Puts an input line in. Its result, as the hub gave it; -1 for a line that cannot be read. */
int line_put(fencepost_hub *hub, const cJSON *step);
/* Writes an output as its line, without the end of the line. */
void line_write(struct text *text, const fencepost_output *output);

#endif
