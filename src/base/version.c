#include "treacle/base.h"

#define TEXT_OF(x) #x
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char* treacle_version(void) {
    return VERSION_TEXT(TREACLE_VERSION_MAJOR, TREACLE_VERSION_MINOR, TREACLE_VERSION_PATCH);
}
