/* Replays transcripts on the public hub, and compares its outputs byte by byte: transcripts DIRECTORY... */
#include <dirent.h>

#include "../check.h"
#include "lines.h"

/* Reads a whole file. The text is NUL-terminated. */
static char *read_file(const char *path) {
    struct text content = {NULL, 0, 0};
    FILE *file = fopen(path, "r");
    int byte;

    while (file != NULL && (byte = getc(file)) != EOF)
        text_add(&content, "%c", byte);
    if (file != NULL)
        fclose(file);
    return content.data;
}

/* Cuts a text after its first line. Returns the rest, or NULL at the end. */
static char *next_line(char *text) {
    char *end = text == NULL ? NULL : strchr(text, '\n');

    if (end == NULL)
        return NULL;
    *end = '\0';
    return end[1] == '\0' ? NULL : end + 1;
}

/* Prints the promises that the case guards, and why it exists. */
static void say_why(const char *path, const char *line) {
    cJSON *header = cJSON_Parse(line);
    const char *why = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(header, "why"));
    const cJSON *guards = cJSON_GetObjectItemCaseSensitive(header, "guards"), *name;

    printf("    %s:", path);
    cJSON_ArrayForEach(name, guards) printf(" %s may be broken;", cJSON_GetStringValue(name));
    printf(" the case: %s\n", why == NULL ? "" : why);
    cJSON_Delete(header);
}

static fencepost_hub *make_hub(const char *line) {
    cJSON *header = cJSON_Parse(line);
    const char *family = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(header, "family"));
    const cJSON *seed = cJSON_GetObjectItemCaseSensitive(header, "seed");
    fencepost_hub *hub = NULL;
    uint32_t number;

    for (number = 1; family != NULL && fencepost_family_name(number) != NULL; number++) {
        if (strcmp(family, fencepost_family_name(number)) == 0)
            fencepost_hub_new(number, (uint64_t)seed->valuedouble, &hub);
    }
    cJSON_Delete(header);
    return hub;
}

/* Passes one input to the hub. Returns whether the result was the expected one. */
static bool put(fencepost_hub *hub, const char *line, int number) {
    cJSON *step = cJSON_Parse(line);
    const char *misuse = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(step, "misuse"));
    int result = line_put(hub, step);
    const char *returned = result < 0 ? "unreadable" : fencepost_result_name(result);
    bool right = strcmp(returned, misuse == NULL ? "ok" : misuse) == 0;

    if (!right)
        printf("    line %d: %s, expected %s\n", number, returned, misuse == NULL ? "ok" : misuse);
    cJSON_Delete(step);
    return right;
}

/* Polls all outputs and compares them. Returns the rest of the text, or NULL at the end. `number` counts lines, and is
 * 0 after a difference. */
static char *take(fencepost_hub *hub, char *line, int *number) {
    fencepost_output output = {.size = sizeof output};
    char *next;

    do {
        struct text returned = {NULL, 0, 0};

        next = next_line(line);
        ++*number;
        fencepost_hub_poll_output(hub, FENCEPOST_ALL, &output);
        line_write(&returned, &output);
        if (line == NULL || strcmp(returned.data, line) != 0) {
            printf(
                "    line %d:\n      returned %s\n      expected %s\n", *number, returned.data,
                line == NULL ? "" : line);
            *number = 0;
        }
        free(returned.data);
        line = next;
    } while (*number != 0 && output.kind != FENCEPOST_OUTPUT_KIND_WAIT);
    return next;
}

static void replay(const char *path) {
    char *content = read_file(path), *line = content, *next;
    const char *header = content;
    fencepost_hub *hub;
    int number = 1;

    NEED(content != NULL);
    next = next_line(line);
    hub = make_hub(line);
    CHECK(hub != NULL);
    while (hub != NULL && next != NULL) {
        line = next;
        next = next_line(line);
        ++number;
        if (!CHECK(put(hub, line, number))) {
            say_why(path, header);
            break;
        }
        next = take(hub, next, &number);
        if (!CHECK(number != 0)) {
            say_why(path, header);
            break;
        }
    }
    fencepost_hub_free(hub);
    free(content);
}

static int is_transcript(const struct dirent *entry) {
    const char *end = strrchr(entry->d_name, '.');

    return end != NULL && strcmp(end, ".jsonl") == 0;
}

int main(int argc, char **argv) {
    struct dirent **entries;
    char path[4096];
    int i, j, count;

    for (i = 1; i < argc; i++) {
        count = scandir(argv[i], &entries, is_transcript, alphasort);
        for (j = 0; j < count; j++) {
            snprintf(path, sizeof path, "%s/%s", argv[i], entries[j]->d_name);
            TEST_ON(replay, path, entries[j]->d_name);
            free(entries[j]);
        }
        if (count >= 0)
            free(entries);
    }
    return check_close();
}
