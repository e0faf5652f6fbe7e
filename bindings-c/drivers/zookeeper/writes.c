/* Several writes in one transaction. The library writes their results into memory that must exist until the completion
 * is called. On a handle of the program, it must exist even after the client and its records are freed. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The memory of a transaction. The completion frees it. If the driver closes the handle, the function that closes it
 * frees the memory, because the library then calls no completion, even for replies that have arrived. */
struct writes {
    void *context; /* the ticket of the request */
    const zhandle_t *handle;
    size_t count;
    zoo_op_t *operations;
    zoo_op_result_t *results;
    fencepost_view *names; /* one for each write */
    char *texts;           /* paths, NUL-terminated, and room for the paths that the server returns */
};

/* The size of the number that the server appends to the name of a sequential node: ten digits, or a sign and ten
 * digits; and a NUL. */
#define NUMBER_SIZE 12u

static void writes_free(struct writes *writes) {
    free(writes->operations);
    free(writes->results);
    free(writes->names);
    free(writes->texts);
    free(writes);
}

static struct writes *writes_new(const fencepost_command *command) {
    struct writes *writes = calloc(1, sizeof *writes);
    size_t size = 1, i;

    if (writes == NULL)
        return NULL;
    for (i = 0; i < command->part_count; i++)
        size += command->parts[i]->path.size * 2 + NUMBER_SIZE + 1;
    writes->count = command->part_count;
    writes->operations = calloc(writes->count + 1, sizeof *writes->operations);
    writes->results = calloc(writes->count + 1, sizeof *writes->results);
    writes->names = calloc(writes->count + 1, sizeof *writes->names);
    writes->texts = calloc(1, size);
    if (writes->operations != NULL && writes->results != NULL && writes->names != NULL && writes->texts != NULL)
        return writes;
    writes_free(writes);
    return NULL;
}

/* The mode of a create. */
int create_mode(uint32_t flags) {
    if (flags & FENCEPOST_FLAG_EPHEMERAL_SEQUENTIAL)
        return ZOO_EPHEMERAL_SEQUENTIAL;
    if (flags & FENCEPOST_FLAG_EPHEMERAL)
        return ZOO_EPHEMERAL;
    return flags & FENCEPOST_FLAG_CONTAINER ? ZOO_CONTAINER : ZOO_PERSISTENT;
}

/* Writes the parts into the memory. The library copies paths and data when it accepts the transaction. */
static void lay_out(struct writes *writes, const struct driver *driver, const fencepost_command *command) {
    char *text = writes->texts;
    size_t i;

    for (i = 0; i < writes->count; i++) {
        const fencepost_part *part = command->parts[i];
        size_t room = part->path.size + NUMBER_SIZE;

        memcpy(text, part->path.data, part->path.size);
        if (part->operation == FENCEPOST_OPERATION_DELETE)
            zoo_delete_op_init(&writes->operations[i], text, part->version);
        else if (part->operation == FENCEPOST_OPERATION_CHECK)
            zoo_check_op_init(&writes->operations[i], text, part->version);
        else if (part->operation == FENCEPOST_OPERATION_SET)
            zoo_set_op_init(
                &writes->operations[i], text, (const char *)part->data.data, (int)part->data.size, part->version, NULL);
        else
            zoo_create_op_init(
                &writes->operations[i], text, (const char *)part->data.data, (int)part->data.size, driver->acl,
                create_mode(part->flags), text + part->path.size + 1, (int)room);
        text += part->path.size + 1 + room;
    }
}

/* The last parts of the paths of the created nodes, in the order of the writes. */
static size_t names_of(const struct writes *writes) {
    size_t count = 0, i;

    for (i = 0; i < writes->count; i++) {
        const char *path = writes->results[i].value, *slash;

        if (writes->operations[i].type != ZOO_CREATE_OP || path == NULL)
            continue;
        slash = strrchr(path, '/');
        writes->names[count].data = (const uint8_t *)(slash == NULL ? path : slash + 1);
        writes->names[count].size = strlen((const char *)writes->names[count].data);
        count++;
    }
    return count;
}

static void written(int rc, const void *data) {
    struct writes *writes = (struct writes *)data;
    fencepost_hub *hub;
    struct record *record = record_enter(writes->context, &hub);

    if (record != NULL) {
        record->writes = NULL;
        if (!record->settled && rc == ZOK)
            fencepost_hub_children(
                hub, fencepost_now(), record->command, record->session, writes->names, names_of(writes));
        else if (!record->settled)
            request_failed(record, hub, rc);
        request_finish(record);
    } else {
        record_forget_writes(writes->context); /* the client is being closed, and its record still exists */
    }
    writes_free(writes);
}

/* The library cannot read the reply to a create of a container in a transaction: it would end the program. */
static bool has_container(const fencepost_command *command) {
    size_t i;

    for (i = 0; i < command->part_count; i++) {
        if (command->parts[i]->flags & FENCEPOST_FLAG_CONTAINER)
            return true;
    }
    return false;
}

int writes_send(struct driver *driver, const fencepost_command *command, struct record *request) {
    struct writes *writes;
    int rc;

    if (has_container(command))
        return ZUNIMPLEMENTED;
    if ((writes = writes_new(command)) == NULL)
        return ZSYSTEMERROR;
    lay_out(writes, driver, command);
    writes->context = record_context(request);
    writes->handle = driver->handle;
    rc = zoo_amulti(driver->handle, (int)writes->count, writes->operations, writes->results, written, writes);
    if (rc == ZOK)
        request->writes = writes;
    else
        writes_free(writes);
    return rc;
}

/* Frees the transactions of a closed handle, which gets no more completions. */
void writes_abandon(struct driver *driver, const zhandle_t *closed) {
    struct record *record;

    for (record = driver->records; record != NULL; record = record->next) {
        if (record->writes != NULL && record->writes->handle == closed) {
            writes_free(record->writes);
            record->writes = NULL;
        }
    }
}
