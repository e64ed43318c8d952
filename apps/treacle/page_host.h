// Which names a page may be asked for by: those that mean this machine, and those that the user
// gave.
#pragma once

#include <stdbool.h>

typedef struct page_hosts {
    const char* address; // that is listened on; NULL or one of 127.*: this machine alone
    int port;
    int name_count; // given by the user, each as NAME or NAME:PORT
    const char* const* names;
} page_hosts;

/// Whether a name is one to give: letters, digits, points and dashes, and a port if there is one.
bool page_host_is_name(const char* name);

/// Whether the header Host of a request means us. `arrived` is the address of ours that the request
/// was sent to, NULL if it is not known; it counts only where all addresses are listened on.
bool page_host_is_ours(const page_hosts* hosts, const char* arrived, const char* host);
