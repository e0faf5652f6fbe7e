/* The table of addresses that all languages read, and the errors for them, which never contain a user or a password.
 * Every secret in the table contains `sesa` or `same`. The tests need no server: no server listens at port 1. */
#include <cjson/cJSON.h>

#include "support.h"

#ifndef TABLE
#error "TABLE is the path of tests/addresses.json"
#endif

static cJSON *read_table(void) {
    static char text[65536];
    FILE *file = fopen(TABLE, "rb");
    size_t size = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);

    if (file != NULL)
        fclose(file);
    text[size] = '\0';
    return cJSON_Parse(text);
}

static const char *string(const cJSON *row, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(row, key);

    return cJSON_IsString(value) ? value->valuestring : "";
}

static double number(const cJSON *row, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(row, key)->valuedouble;
}

static bool equals(fencepost_view view, const char *text) {
    return view.size == strlen(text) &&
           memcmp(view.data == NULL ? (const uint8_t *)"" : view.data, text, view.size) == 0;
}

static bool hides_secrets(const char *said) {
    return strstr(said, "sesa") == NULL && strstr(said, "same") == NULL;
}

static void joined(const cJSON *hosts, char *text, size_t size) {
    const cJSON *host;

    text[0] = '\0';
    cJSON_ArrayForEach(host, hosts) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", used == 0 ? "" : ",", host->valuestring);
    }
}

static bool parts_fit(const cJSON *row, const fencepost_address_parts *parts) {
    const char *kind = string(row, "kind");
    char hosts[256];

    if (strcmp(kind, "memory") == 0)
        return parts->scheme == FENCEPOST_SCHEME_MEMORY && equals(parts->name, string(row, "name")) &&
               (double)parts->session_timeout == number(row, "session_timeout") * 1000;
    if (strcmp(kind, "zookeeper") == 0) {
        joined(cJSON_GetObjectItemCaseSensitive(row, "hosts"), hosts, sizeof hosts);
        return parts->scheme == FENCEPOST_SCHEME_ZOOKEEPER && equals(parts->hosts, hosts) &&
               equals(parts->prefix, string(row, "prefix")) &&
               (double)parts->session_timeout == number(row, "session_timeout") * 1000;
    }
    return (parts->scheme == FENCEPOST_SCHEME_REDIS_TLS) ==
               cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, "tls")) &&
           equals(parts->hosts, string(row, "host")) && parts->port == number(row, "port") &&
           equals(parts->user, string(row, "user")) && equals(parts->password, string(row, "password")) &&
           parts->database == number(row, "database") && equals(parts->ca, string(row, "ca"));
}

static void good(const cJSON *row) {
    const char *url = string(row, "url");
    fencepost_address *address = NULL;
    fencepost_address_parts parts = {.size = sizeof parts};

    if (!CHECK_RESULT(fencepost_address_parse((const uint8_t *)url, strlen(url), &address), FENCEPOST_OK))
        return;
    CHECK_RESULT(fencepost_address_read(address, &parts), FENCEPOST_OK);
    if (!CHECK(parts_fit(row, &parts)))
        printf("    %s\n", url);
    fencepost_address_free(address);
}

static void bad(const cJSON *row) {
    const char *url = string(row, "url");
    fencepost_client *client = NULL;
    fencepost_result result = fencepost_connect(url, &client);

    if (!CHECK(strcmp(fencepost_result_name((int)result), string(row, "error")) == 0) ||
        !CHECK(strstr(fencepost_detail(), string(row, "says")) != NULL) || !CHECK(hides_secrets(fencepost_detail())))
        printf("    %s: %s\n", url, fencepost_detail());
    CHECK(client == NULL);
}

static void addresses_are_read_as_the_table_says(void) {
    cJSON *rows = read_table();
    const cJSON *row;

    NEED(cJSON_GetArraySize(rows) > 50);
    cJSON_ArrayForEach(row, rows) {
        if (cJSON_HasObjectItem(row, "kind"))
            good(row);
        else
            bad(row);
    }
    cJSON_Delete(rows);
}

static void a_client_shows_no_password(void) {
    fencepost_client *client = NULL;
    fencepost_grant *grant = NULL;
    fencepost_result result = fencepost_connect("redis://u:sesame@127.0.0.1:1", &client);

    if (result == FENCEPOST_OK)
        result = fencepost_acquire(client, "stock/42", 300, &grant);
    CHECK(result != FENCEPOST_OK && hides_secrets(fencepost_detail()));
    fencepost_client_free(client);
}

int main(void) {
    TEST(addresses_are_read_as_the_table_says);
    TEST(a_client_shows_no_password);
    return check_close();
}
