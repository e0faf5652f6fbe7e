/* Writes outputs as lines. The order of the fields is part of the format. */
#include <inttypes.h>

#include "lines.h"

static fencepost_view view_of(const char *text) {
    fencepost_view view = {(const uint8_t *)text, 0};

    while (text[view.size] != '\0')
        view.size++;
    return view;
}

static void write_parts(struct text *text, const fencepost_command *command) {
    size_t i;

    for (i = 0; i < command->part_count; i++) {
        const fencepost_part *part = command->parts[i];

        text_add(
            text, "%s{\"command\":\"%s\",\"path\":", i == 0 ? ",\"parts\":[" : ",",
            fencepost_operation_name(part->operation));
        text_string(text, part->path);
        text_add(text, ",\"data\":");
        text_string(text, part->data);
        text_add(text, ",\"flags\":%" PRIu32, part->flags);
        if (part->version != FENCEPOST_ANY_VERSION)
            text_add(text, ",\"version\":%" PRId32, part->version);
        text_add(text, "}");
    }
    if (command->part_count > 0)
        text_add(text, "]");
}

static void write_command(struct text *text, uint64_t key, const fencepost_command *command) {
    size_t i;

    text_add(
        text, "{\"command\":\"%s\",\"id\":%" PRIu64 ",\"key\":%" PRIu64 ",\"target\":\"%s",
        fencepost_operation_name(command->operation), command->id, key, fencepost_target_name(command->target));
    if (command->target == FENCEPOST_TARGET_SERVER)
        text_add(text, "-%" PRIu32, command->server);
    text_add(text, "\",\"deadline\":");
    text_time(text, command->deadline);
    if (command->argument_count == 0) {
        text_add(text, ",\"path\":");
        text_string(text, command->path);
        text_add(text, ",\"data\":");
        text_string(text, command->data);
        text_add(text, ",\"flags\":%" PRIu32, command->flags);
        write_parts(text, command);
        text_add(text, "}");
        return;
    }
    text_add(text, ",\"arguments\":[");
    for (i = 0; i < command->argument_count; i++) {
        text_add(text, "%s", i == 0 ? "" : ",");
        text_string(text, command->arguments[i]);
    }
    text_add(text, "]}");
}

static void write_acquired(struct text *text, const fencepost_event *event) {
    size_t i;

    text_add(text, ",\"attempt\":\"");
    for (i = 0; i < sizeof event->contender; i++)
        text_add(text, "%02x", event->contender[i]);
    text_add(text, "-%" PRIu32 "\",\"fence\":", event->attempt);
    if (event->has_fence)
        text_add(text, "\"%" PRIu64 "\"", event->fence);
    else
        text_add(text, "null");
    if (event->takeovers > 0)
        text_add(text, ",\"takeovers\":%" PRIu64, event->takeovers);
    text_add(text, ",\"valid_until\":");
    text_time(text, event->valid_until);
}

static void write_record(struct text *text, const fencepost_record *record) {
    if (record == NULL) {
        text_add(text, ",\"record\":null");
        return;
    }
    text_add(text, ",\"record\":{\"state\":\"%s\",\"attempt\":", fencepost_record_state_name(record->state));
    text_string(text, record->attempt);
    text_add(
        text,
        ",\"fence\":\"%" PRIu64 "\",\"takeovers\":%" PRIu64 ",\"policy\":\"%s\",\"lease_end\":%" PRIu64
        ",\"kept_until\":%" PRIu64 ",\"version\":%" PRIu64 ",\"tag\":",
        record->fence, record->takeovers, fencepost_policy_name(record->policy), record->lease_end, record->kept_until,
        record->version);
    text_string(text, record->tag);
    text_add(text, ",\"result\":");
    text_string(text, record->result);
    text_add(text, "}");
}

static void write_end(struct text *text, const fencepost_event *event) {
    text_add(text, ",\"reason\":");
    text_string(text, view_of(fencepost_result_name(event->reason)));
    text_add(text, ",\"command\":");
    text_time(text, event->cause_command == 0 ? FENCEPOST_NEVER : event->cause_command);
    text_add(text, ",\"detail\":");
    if (event->has_detail)
        text_string(text, event->detail);
    else
        text_add(text, "null");
    if (event->retry_after != FENCEPOST_NEVER)
        text_add(text, ",\"retry_after\":%" PRIu64, event->retry_after);
    if (event->record != NULL)
        write_record(text, event->record);
}

static void write_found(struct text *text, const fencepost_event *event) {
    size_t i;

    text_add(text, ",\"contenders\":[");
    for (i = 0; i < event->found_count; i++) {
        const fencepost_found *found = event->found[i];

        text_add(text, "%s{\"node\":", i == 0 ? "" : ",");
        text_string(text, found->node);
        text_add(
            text, ",\"holds\":%s,\"shared\":%s", found->holds ? "true" : "false", found->shared ? "true" : "false");
        if (found->session != 0)
            text_add(text, ",\"session\":\"%" PRId64 "\",\"since\":%" PRId64, found->session, found->since);
        if (found->expires_in != FENCEPOST_NEVER)
            text_add(text, ",\"expires_in\":%" PRIu64, found->expires_in);
        text_add(text, ",\"fence\":\"%" PRIu64 "\",\"identifier\":", found->fence);
        text_string(text, found->identifier);
        text_add(text, "}");
    }
    text_add(text, "]");
}

static void write_event(struct text *text, uint64_t key, const fencepost_event *event) {
    text_add(text, "{\"event\":\"%s\",\"key\":%" PRIu64, fencepost_event_name(event->kind), key);
    switch (event->kind) {
    case FENCEPOST_EVENT_KIND_QUEUED:
        text_add(text, ",\"ahead\":");
        text_time(text, event->has_ahead ? event->ahead : FENCEPOST_NEVER);
        break;
    case FENCEPOST_EVENT_KIND_ACQUIRED:
        write_acquired(text, event);
        break;
    case FENCEPOST_EVENT_KIND_EXTENDED:
    case FENCEPOST_EVENT_KIND_RESUMED:
        text_add(text, ",\"valid_until\":");
        text_time(text, event->valid_until);
        break;
    case FENCEPOST_EVENT_KIND_LOST:
    case FENCEPOST_EVENT_KIND_REFUSED:
        write_end(text, event);
        break;
    case FENCEPOST_EVENT_KIND_MIXED_LAYOUTS:
        text_add(text, ",\"detail\":");
        text_string(text, event->detail);
        break;
    case FENCEPOST_EVENT_KIND_FOUND:
        write_found(text, event);
        break;
    case FENCEPOST_EVENT_KIND_COMPLETED:
    case FENCEPOST_EVENT_KIND_REPLAYED:
    case FENCEPOST_EVENT_KIND_LOOKED:
        write_record(text, event->record);
        break;
    case FENCEPOST_EVENT_KIND_SWEPT:
        text_add(text, ",\"deleted\":%" PRIu64, event->deleted);
        break;
    case FENCEPOST_EVENT_KIND_SUSPENDED:
    case FENCEPOST_EVENT_KIND_DOWNGRADED:
    case FENCEPOST_EVENT_KIND_RELEASED:
    case FENCEPOST_EVENT_KIND_REVOKE_REQUESTED:
        break;
    }
    text_add(text, "}");
}

void line_write(struct text *text, const fencepost_output *output) {
    switch (output->kind) {
    case FENCEPOST_OUTPUT_KIND_COMMAND:
        write_command(text, output->key, output->command);
        break;
    case FENCEPOST_OUTPUT_KIND_EVENT:
        write_event(text, output->key, output->event);
        break;
    case FENCEPOST_OUTPUT_KIND_WAIT:
        text_add(text, "{\"wait\":");
        text_time(text, output->wait->until);
        text_add(text, ",\"reason\":");
        if (output->wait->reason == FENCEPOST_TIMER_NONE)
            text_add(text, "null}");
        else
            text_add(text, "\"%s\"}", fencepost_timer_name(output->wait->reason));
        break;
    }
}
