// Requests to the page's server as bytes on a connection. It answers or ends the connection, and
// hands on only what its handlers may rely on.
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fuzz.h"

#include "apps/treacle/page_server.c" // its daemon is needed

enum { ROUNDS_MAX = 64, PORT = 8357 };

static const unsigned char page[] = "<html></html>\n";
const embedded_file page_assets[] = {{"index.html", "text/html", page, sizeof(page) - 1},
                                     {"three.js", "text/javascript", page, sizeof(page) - 1}};
const int page_assets_count = 2;

static page_server* server;

static page_reply give(void* user, const char* path, const char* body, size_t size) {
    (void)user;
    fuzz_check(path != NULL && path[0] == '/');
    fuzz_check(body == NULL ? size == 0 : size <= POST_BYTES_MAX && body[size] == '\0');
    if (body != NULL) {
        char* copy = malloc(size + 1);
        fuzz_check(copy != NULL);
        memcpy(copy, body, size + 1);
        return (page_reply){.status = 200, .type = "text/plain", .body = copy, .size = size};
    }
    return page_file(path);
}

int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerInitialize(int* argc, char*** argv) {
    static const char* const names[] = {"studio.local"};
    const page_server_def def = {.handle = give, .name_count = 1, .names = names};
    (void)argc;
    (void)argv;
    server = page_server_create(&def);
    fuzz_check(server != NULL);
    server->port = PORT; // as requests will name it
    return 0;
}

// Reads what there is; false at the end of the connection.
static bool drain(int fd) {
    char answer[4096];
    ssize_t got = 0;
    do {
        got = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
    } while (got > 0);
    return got != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int ends[2];
    fuzz_check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    fuzz_check(MHD_add_connection(server->daemon, ends[1], (const struct sockaddr*)&from,
                                  sizeof(from)) == MHD_YES);
    size_t sent = 0;
    for (int round = 0; round < ROUNDS_MAX; ++round) {
        ssize_t more =
            sent < size ? send(ends[0], data + sent, size - sent, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
        sent += more > 0 ? (size_t)more : 0;
        if (sent == size || (more < 0 && errno != EAGAIN)) {
            shutdown(ends[0], SHUT_WR);
            sent = size;
        }
        page_server_run(server, 0);
        if (!drain(ends[0])) {
            break;
        }
    }
    close(ends[0]);
    for (int round = 0; round < 4; ++round) {
        page_server_run(server, 0);
    }
    return 0;
}
