// A page of another site can let a name of its own lead to this machine (DNS rebinding), and then
// read what is here as if it were that site's. Browsers send the name as the header Host, so only
// names that nobody else can own are answered: addresses, localhost, and what the user vouched for.
#include "page_host.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HTTP_PORT = 80, PORT_DIGITS = 5 };

static size_t length_without_port(const char* host) {
    const char* colon = strrchr(host, ':');
    const char* bracket = strrchr(host, ']'); // an address of version 6 has colons inside
    return colon == NULL || (bracket != NULL && colon < bracket) ? strlen(host)
                                                                 : (size_t)(colon - host);
}

// The port that a host names: HTTP's own where it names none, -1 if it is no port.
static int port_of(const char* host) {
    const char* text = host + length_without_port(host);
    size_t digits = *text == ':' ? strspn(text + 1, "0123456789") : 0;
    if (*text == '\0') {
        return HTTP_PORT;
    }
    return digits >= 1 && digits <= PORT_DIGITS && text[1 + digits] == '\0' ? atoi(text + 1) : -1;
}

// Whether the host is that name, whatever port the name may have, at this port.
static bool is_at(const char* host, const char* name, int port) {
    size_t length = length_without_port(host);
    return length == length_without_port(name) && strncasecmp(host, name, length) == 0 &&
           port_of(host) == port;
}

// A name that was given with a port is reached by that one: it may be forwarded to ours.
static bool is_given(const page_hosts* hosts, const char* host) {
    bool is_same = false;
    for (int k = 0; k < hosts->name_count; ++k) {
        const char* name = hosts->names[k];
        bool has_port = name[length_without_port(name)] == ':';
        is_same = is_same || is_at(host, name, has_port ? port_of(name) : hosts->port);
    }
    return is_same;
}

bool page_host_is_name(const char* name) {
    size_t length = length_without_port(name);
    for (size_t i = 0; i < length; ++i) {
        if (!isalnum((unsigned char)name[i]) && strchr(".-_", name[i]) == NULL) {
            return false;
        }
    }
    return length > 0 && length < 256 && port_of(name) > 0;
}

bool page_host_is_ours(const page_hosts* hosts, const char* arrived, const char* host) {
    static const char* const here[] = {"127.0.0.1", "localhost", "[::1]"};
    if (host == NULL) {
        return false;
    }
    for (size_t k = 0; k < sizeof(here) / sizeof(here[0]); ++k) {
        if (is_at(host, here[k], hosts->port)) {
            return true;
        }
    }
    bool is_everywhere = hosts->address != NULL && strcmp(hosts->address, "0.0.0.0") == 0;
    const char* address = is_everywhere ? arrived : hosts->address;
    return (address != NULL && is_at(host, address, hosts->port)) || is_given(hosts, host);
}
