/* The lines of a transcript: passes input lines to a hub, and writes outputs as lines. */
#ifndef FENCEPOST_TESTS_LINES_H
#define FENCEPOST_TESTS_LINES_H

#include <cjson/cJSON.h>

#include "text.h"

/* Passes an input line to the hub. Returns the hub's result; -1 for a line that cannot be parsed. */
int line_put(fencepost_hub *hub, const cJSON *step);
/* Writes an output as a line, without the newline. */
void line_write(struct text *text, const fencepost_output *output);

#endif
