// A rank of a treacle that does not exist yet: it must not be let into a run.
#include "treacle/base.h"

const char* treacle_version(void) {
    return "99.0.0";
}

int main(void) {
    treacle_context_def def = treacle_context_def_default();
    treacle_context* ctx = NULL;
    def.ranks = true;
    treacle_status status = treacle_context_create(&def, &ctx);
    treacle_context_destroy(ctx);
    return (int)status;
}
