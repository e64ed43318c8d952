// The whole public API.
#pragma once

#include "base.h"
#include "cache.h"
#include "coiling.h"
#include "edit.h"
#include "export.h"
#include "look.h"
#include "materials.h"
#include "mesh.h"
#include "plot.h"
#include "preview.h"
#include "render.h"
#include "run.h"
#include "scene.h"
#include "sewing.h"
#include "sim.h"
#include "types.h"
