#include "support.h"

#include <cjson/cJSON.h>
#include <dlfcn.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Returns one of several buffers in turn, so that one expression may use several texts. */
static char *buffer(void) {
    static char buffers[16][1024];
    static int next;

    return buffers[next++ % 16];
}

int64_t millis(void) {
    return (int64_t)(fencepost_now() / 1000u);
}

const char *server(enum family family) {
    static const char *const variables[] = {"", "FENCEPOST_ZOOKEEPER", "FENCEPOST_REDIS"};

    return family == MEMORY ? "c-tests" : getenv(variables[family]);
}

const char *address(enum family family) {
#ifdef ONLY
    if (family != ONLY)
        return NULL;
#endif
    return server(family);
}

const char *label(enum family family) {
    static const char *const labels[] = {"memory", "zookeeper", "redis"};

    return labels[family];
}

const char *url_of(const char *scheme, const char *address, const char *rest) {
    char *text = buffer();

    snprintf(text, 1024, "%s%s%s", scheme, address, rest);
    return text;
}

const char *url(enum family family, const char *rest) {
    static const char *const schemes[] = {"memory:", "zk://", "redis://"};

    return url_of(schemes[family], server(family), rest);
}

const char *new_name(const char *what) {
    static int count;
    char *text = buffer();

    snprintf(text, 1024, "c-tests/%s-%d-%d", what, (int)getpid(), count++);
    return text;
}

fencepost_client *client_of(const char *url) {
    fencepost_client *client = NULL;

    if (fencepost_connect(url, &client) != FENCEPOST_OK) {
        printf("cannot connect to %s: %s\n", url, fencepost_detail());
        exit(1);
    }
    return client;
}

void close_client(fencepost_client *client) {
    CHECK_RESULT(fencepost_close(client), FENCEPOST_OK);
    fencepost_client_free(client);
}

fencepost_grant *hold(fencepost_client *client, const char *name) {
    fencepost_grant *grant = NULL;

    CHECK_RESULT(fencepost_acquire(client, name, LONG, &grant), FENCEPOST_OK);
    return grant;
}

fencepost_grant *hold_with(fencepost_client *client, const char *name, const fencepost_options *options) {
    fencepost_grant *grant = NULL;

    CHECK_RESULT(fencepost_acquire_with(client, name, options, LONG, &grant), FENCEPOST_OK);
    return grant;
}

fencepost_lock *lock_with(fencepost_client *client, const char *name, const fencepost_options *options) {
    fencepost_lock *lock = NULL;

    CHECK_RESULT(fencepost_lock_open(client, name, options, &lock), FENCEPOST_OK);
    return lock;
}

size_t contenders(fencepost_client *client, const char *name, const fencepost_options *options) {
    fencepost_lock *lock = lock_with(client, name, options);
    fencepost_contenders *list = NULL;
    size_t count;

    CHECK_RESULT(fencepost_lock_contenders(lock, &list), FENCEPOST_OK);
    count = fencepost_contenders_count(list);
    fencepost_contenders_free(list);
    fencepost_lock_free(lock);
    return count;
}

void let_go(fencepost_grant *grant) {
    CHECK_RESULT(fencepost_release(grant), FENCEPOST_OK);
    fencepost_grant_free(grant);
}

int dial(const char *address) {
    struct addrinfo hints = {0}, *found;
    char host[256], *port;
    int socket_;

    snprintf(host, sizeof host, "%s", address);
    port = strrchr(host, ':');
    if (port == NULL)
        return -1;
    *port++ = '\0';
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, port, &hints, &found) != 0)
        return -1;
    socket_ = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(socket_, found->ai_addr, found->ai_addrlen) != 0) {
        close(socket_);
        socket_ = -1;
    }
    freeaddrinfo(found);
    return socket_;
}

static void show(const cJSON *value, char *text) {
    if (cJSON_IsString(value))
        snprintf(text, 1024, "%s", value->valuestring);
    else if (cJSON_IsNumber(value))
        snprintf(text, 1024, "%.0f", value->valuedouble);
    else
        snprintf(text, 1024, "%s", cJSON_IsTrue(value) ? "true" : "false");
}

const char *control(const char *key, const char *format, ...) {
    const char *port = getenv("FENCEPOST_SERVERS"), *found = NULL;
    char line[16384], *text = buffer();
    int socket_ = port == NULL ? -1 : dial(port);
    FILE *stream;
    cJSON *answer = NULL;
    va_list arguments;

    if (socket_ < 0 || (stream = fdopen(socket_, "r+")) == NULL)
        return NULL;
    va_start(arguments, format);
    vfprintf(stream, format, arguments);
    va_end(arguments);
    fputc('\n', stream);
    fflush(stream);
    if (fgets(line, sizeof line, stream) != NULL)
        answer = cJSON_Parse(line);
    fclose(stream);
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "ok"))) {
        show(cJSON_GetObjectItemCaseSensitive(answer, key), text);
        found = text;
    } else {
        printf("    control: %s\n", answer == NULL ? "no answer" : line);
    }
    cJSON_Delete(answer);
    return found;
}

const char *proxy_open(const char *server, const char **address) {
    const char *id = control("id", "proxy %s", server);

    if (id == NULL)
        return NULL;
    *address = control("address", "proxy-heal %s", id);
    return id;
}

bool process_start(struct process *process, const char *mode, const char *url, const char *name) {
    const char *program = getenv("HOLDER");
    int pipes[2];
    char line[256];

    if (program == NULL || pipe(pipes) != 0)
        return false;
    process->id = fork();
    if (process->id == 0) {
        dup2(pipes[1], 1);
        close(pipes[0]);
        execl(program, program, mode, url, name, (char *)NULL);
        _exit(127);
    }
    close(pipes[1]);
    process->out = fdopen(pipes[0], "r");
    return fgets(line, sizeof line, process->out) != NULL;
}

void process_kill(struct process *process, int signal) {
    kill(process->id, signal);
    waitpid(process->id, NULL, 0);
    fclose(process->out);
}

redisReply *redis(const char *format, ...) {
    redisContext *connection;
    char host[256], *port;
    redisReply *reply;
    va_list arguments;

    snprintf(host, sizeof host, "%s", address(REDIS));
    port = strrchr(host, ':');
    *port++ = '\0';
    connection = redisConnect(host, atoi(port));
    va_start(arguments, format);
    reply = redisvCommand(connection, format, arguments);
    va_end(arguments);
    redisFree(connection);
    return reply;
}

bool is_threaded(void) {
    return dlopen("libfencepost-zookeeper-st.so.0", RTLD_NOW | RTLD_NOLOAD) == NULL;
}

static void quiet(const char *message) {
    (void)message;
}

zhandle_t *zookeeper_open(const char *hosts, int timeout) {
    zhandle_t *handle = zookeeper_init2(hosts, NULL, timeout, NULL, NULL, ZOO_NO_LOG_CLIENTENV, quiet);
    int64_t end = millis() + LONG;

    while (handle != NULL && zoo_state(handle) != ZOO_CONNECTED_STATE && millis() < end)
        poll(NULL, 0, 1);
    return handle;
}

bool zookeeper_find(zhandle_t *handle, const char *directory, const char *part, char *path, size_t size) {
    struct String_vector children = {0, NULL};
    bool found = false;
    int i;

    if (zoo_get_children(handle, directory, 0, &children) != ZOK)
        return false;
    for (i = 0; i < children.count && !found; i++) {
        found = strstr(children.data[i], part) != NULL;
        if (found)
            snprintf(path, size, "%s/%s", directory, children.data[i]);
    }
    deallocate_String_vector(&children);
    return found;
}
