// The communicator of MPI itself, for libraries that want it. In builds with MPI only.
#pragma once

#include "base/context.h"

/// Where the context has its MPI_Comm.
const void* comm_world(const treacle_context* ctx);
