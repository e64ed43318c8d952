// A small server for one page: loopback, one thread, no files of its own choosing.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What to answer. The server frees `body` with free().
typedef struct page_reply {
    int status; // of HTTP
    const char* type;
    void* body;
    size_t size;
    bool is_static; // `body` is not freed
    char* note;     // value of the header X-Treacle, freed with free(); NULL: none
} page_reply;

/// `path` begins with a slash and has no query. `body` is what was posted, NULL for GET.
typedef page_reply page_handler(void* user, const char* path, const char* body, size_t size);

typedef struct page_server_def {
    const char* address; // to listen on; NULL: 127.0.0.1
    int port;            // 0: any that is free
    int name_count;      // by which others may ask, besides addresses: see page_host.h
    const char* const* names;
    page_handler* handle;
    void* user;
} page_server_def;

typedef struct page_server page_server;

/// Prints why there is none.
page_server* page_server_create(const page_server_def* def);
int page_server_port(const page_server* server);
/// Answers what has come, waiting at most that long, ms.
void page_server_run(page_server* server, int wait_ms);
/// Accepts NULL.
void page_server_destroy(page_server* server);

page_reply page_reply_error(int status, const char* text);

/// The page's own files by name ("/viewer.js"); status 404 if it is none.
page_reply page_file(const char* path);
/// Whether this build has the page; prints that it has none.
bool page_is_there(void);
