#include "page_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cli.h"
#include "page_assets.h"
#include "page_host.h"

enum {
    CONNECTION_BYTES = 64 * 1024, // a request's head may be at most about this long
    POST_BYTES_MAX = 64 * 1024,
    CONNECTIONS_MAX = 256,
    CONNECTIONS_KEPT = 64, // when there are more, those go that were silent for longest
    TIMEOUT_SECONDS = 15,
};

typedef struct page_guest {
    struct MHD_Connection* connection; // NULL: the place is free
    uint64_t last;                     // when it asked last, by the server's clock
    bool is_leaving;
} page_guest;

struct page_server {
    struct MHD_Daemon* daemon;
    page_server_def def;
    int port;
    page_guest guests[CONNECTIONS_MAX];
    uint64_t clock; // counts connections and requests
};

// What was posted so far.
typedef struct page_request {
    char* body;
    size_t size;
    bool is_too_large;
} page_request;

page_reply page_reply_error(int status, const char* text) {
    return (page_reply){.status = status,
                        .type = "text/plain",
                        .body = (void*)text,
                        .size = strlen(text),
                        .is_static = true};
}

page_reply page_file(const char* path) {
    const char* name = strcmp(path, "/") == 0 ? "index.html" : path + 1;
    for (int k = 0; k < page_assets_count; ++k) {
        if (strcmp(page_assets[k].name, name) == 0) {
            return (page_reply){.status = MHD_HTTP_OK,
                                .type = page_assets[k].type,
                                .body = (void*)page_assets[k].data,
                                .size = page_assets[k].size,
                                .is_static = true};
        }
    }
    return page_reply_error(MHD_HTTP_NOT_FOUND, "there is no such page\n");
}

bool page_is_there(void) {
    bool is_there = page_file("/three.js").status == MHD_HTTP_OK;
    if (!is_there) {
        cli_error("this build has no page; build it again with libjs-three installed");
    }
    return is_there;
}

static bool is_host_ours(const page_server* server, struct MHD_Connection* connection,
                         const char* host) {
    const page_hosts hosts = {.address = server->def.address,
                              .port = server->port,
                              .name_count = server->def.name_count,
                              .names = server->def.names};
    const union MHD_ConnectionInfo* info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct sockaddr_in at;
    socklen_t size = sizeof(at);
    char arrived[INET_ADDRSTRLEN];
    bool is_known = info != NULL &&
                    getsockname(info->connect_fd, (struct sockaddr*)&at, &size) == 0 &&
                    at.sin_family == AF_INET &&
                    inet_ntop(AF_INET, &at.sin_addr, arrived, sizeof(arrived)) != NULL;
    return page_host_is_ours(&hosts, is_known ? arrived : NULL, host);
}

static bool is_origin_ours(const page_server* server, struct MHD_Connection* connection,
                           const char* origin) {
    return origin == NULL ||
           (strncmp(origin, "http://", 7) == 0 && is_host_ours(server, connection, origin + 7));
}

// Only whole answers are given; a range that makes no sense is refused.
static bool is_range_sound(const char* range, size_t size) {
    unsigned long long first = 0, last = 0;
    char rest = 0;
    if (range == NULL) {
        return true;
    }
    int found = sscanf(range, "bytes=%19llu-%19llu%c", &first, &last, &rest);
    return (found == 1 || (found == 2 && last >= first)) && first < size;
}

static enum MHD_Result answer(struct MHD_Connection* connection, page_reply reply) {
    struct MHD_Response* response = MHD_create_response_from_buffer(
        reply.size, reply.body, reply.is_static ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type", reply.type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "Content-Security-Policy",
                            "default-src 'self'; style-src 'self'; img-src 'self' data:");
    if (reply.note != NULL) {
        MHD_add_response_header(response, "X-Treacle", reply.note);
        free(reply.note);
    }
    enum MHD_Result result = MHD_queue_response(connection, (unsigned)reply.status, response);
    MHD_destroy_response(response);
    return result;
}

// 0 if all is well, else the status to refuse with.
static int check_request(const page_server* server, struct MHD_Connection* connection,
                         const char* method, const char* url) {
    const char* host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    const char* origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
    bool is_post = strcmp(method, "POST") == 0;
    if (!is_host_ours(server, connection, host) || !is_origin_ours(server, connection, origin)) {
        return MHD_HTTP_FORBIDDEN;
    }
    if (!is_post && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    }
    if (url[0] != '/') { // "*", another site's, or none
        return MHD_HTTP_BAD_REQUEST;
    }
    return 0;
}

static void take_post(page_request* request, const char* data, size_t size) {
    if (request->size + size > POST_BYTES_MAX) {
        request->is_too_large = true;
        return;
    }
    char* grown = realloc(request->body, request->size + size + 1);
    if (grown == NULL) {
        request->is_too_large = true;
        return;
    }
    memcpy(grown + request->size, data, size);
    request->body = grown;
    request->size += size;
    grown[request->size] = '\0';
}

static page_reply reply_to(const page_server* server, struct MHD_Connection* connection,
                           const char* url, const page_request* request) {
    page_reply reply = server->def.handle(server->def.user, url, request->body, request->size);
    const char* range = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Range");
    if (reply.status == MHD_HTTP_OK && !is_range_sound(range, reply.size)) {
        if (!reply.is_static) {
            free(reply.body);
        }
        free(reply.note);
        return page_reply_error(MHD_HTTP_RANGE_NOT_SATISFIABLE, "there is no such range\n");
    }
    return reply;
}

// Guests ------------------------------------------------------------------------------------------

static page_guest* guest_of(struct MHD_Connection* connection) {
    const union MHD_ConnectionInfo* info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

// Its end is seen in the next round, as if the guest had gone by itself.
static void send_away(page_guest* guest) {
    const union MHD_ConnectionInfo* info =
        MHD_get_connection_info(guest->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    guest->is_leaving = true;
    if (info != NULL) {
        shutdown(info->connect_fd, SHUT_RDWR);
    }
}

// Connections that say nothing must not keep others out: where there are too many, the one that
// was silent for longest goes.
static void make_room(page_server* server) {
    page_guest* oldest = NULL;
    int count = 0;
    for (int k = 0; k < CONNECTIONS_MAX; ++k) {
        page_guest* guest = &server->guests[k];
        if (guest->connection != NULL && !guest->is_leaving) {
            count += 1;
            oldest = oldest == NULL || guest->last < oldest->last ? guest : oldest;
        }
    }
    if (count > CONNECTIONS_KEPT) {
        send_away(oldest);
    }
}

static void greet(void* user, struct MHD_Connection* connection, void** context,
                  enum MHD_ConnectionNotificationCode code) {
    page_server* server = user;
    page_guest* guest = *context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED && guest != NULL) {
        *guest = (page_guest){0};
    }
    for (int k = 0; k < CONNECTIONS_MAX && code == MHD_CONNECTION_NOTIFY_STARTED; ++k) {
        if (server->guests[k].connection == NULL) {
            server->guests[k] = (page_guest){.connection = connection, .last = ++server->clock};
            *context = &server->guests[k];
            make_room(server);
            return;
        }
    }
}

static enum MHD_Result handle(void* user, struct MHD_Connection* connection, const char* url,
                              const char* method, const char* version, const char* data,
                              size_t* size, void** context) {
    page_server* server = user;
    page_request* request = *context;
    page_guest* guest = guest_of(connection);
    (void)version;
    if (guest != NULL) {
        guest->last = ++server->clock;
    }
    if (request == NULL) {
        *context = calloc(1, sizeof(page_request));
        return *context == NULL ? MHD_NO : MHD_YES;
    }
    int refused = check_request(server, connection, method, url);
    if (*size > 0) {
        if (refused == 0) {
            take_post(request, data, *size);
        }
        *size = 0;
        return MHD_YES;
    }
    if (refused == 0 && request->is_too_large) {
        refused = MHD_HTTP_CONTENT_TOO_LARGE;
    }
    return answer(connection, refused != 0 ? page_reply_error(refused, "refused\n")
                                           : reply_to(server, connection, url, request));
}

static void complete(void* user, struct MHD_Connection* connection, void** context,
                     enum MHD_RequestTerminationCode code) {
    page_request* request = *context;
    (void)user;
    (void)connection;
    (void)code;
    if (request != NULL) {
        free(request->body);
        free(request);
    }
}

static int find_port(struct MHD_Daemon* daemon) {
    const union MHD_DaemonInfo* info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

page_server* page_server_create(const page_server_def* def) {
    const char* address = def->address == NULL ? "127.0.0.1" : def->address;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)def->port)};
    if (inet_pton(AF_INET, address, &at.sin_addr) != 1) {
        cli_error("%s is not an address like 127.0.0.1", address);
        return NULL;
    }
    page_server* server = calloc(1, sizeof(page_server));
    if (server == NULL) {
        cli_error("out of memory");
        return NULL;
    }
    server->def = *def;
    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL, (uint16_t)def->port, NULL, NULL, handle, server, MHD_OPTION_SOCK_ADDR, &at,
        MHD_OPTION_NOTIFY_COMPLETED, complete, NULL, MHD_OPTION_NOTIFY_CONNECTION, greet, server,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_SECONDS,
        MHD_OPTION_END);
    if (server->daemon == NULL) {
        cli_error("cannot listen on %s, port %d", address, def->port);
        cli_hint("another program may use the port; choose one with --port");
        free(server);
        return NULL;
    }
    server->port = find_port(server->daemon);
    return server;
}

int page_server_port(const page_server* server) {
    return server->port;
}

void page_server_run(page_server* server, int wait_ms) {
    MHD_run_wait(server->daemon, wait_ms);
}

void page_server_destroy(page_server* server) {
    if (server != NULL) {
        MHD_stop_daemon(server->daemon);
        free(server);
    }
}
