#include "render/trace_rays.h"

#include <embree3/rtcore.h>
#include <string.h>

#include "base/alloc.h"

struct trace_rays {
    treacle_context* ctx;
    RTCDevice device;
    RTCScene scene;
    int mesh_count;
    trace_listener* listener;
    void* listener_user;
};

static treacle_status trace_rays_fail(const trace_rays* rays, const char* what) {
    enum RTCError error = rtcGetDeviceError(rays->device);
    if (error == RTC_ERROR_OUT_OF_MEMORY) {
        return check_fail(rays->ctx, TREACLE_ERR_MEMORY, "no memory for %s", what);
    }
    return check_fail(rays->ctx, TREACLE_ERR_INTERNAL, "Embree failed with code %d at %s",
                      (int)error, what);
}

static bool has_failed(const trace_rays* rays) {
    return rtcGetDeviceError(rays->device) != RTC_ERROR_NONE;
}

treacle_status trace_rays_create(treacle_context* ctx, trace_rays** out) {
    void* block = NULL;
    *out = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(trace_rays), "a ray tracer", &block));
    trace_rays* rays = block;
    rays->ctx = ctx;
    rays->device = rtcNewDevice("threads=1,set_affinity=0");
    if (rays->device == NULL) {
        alloc_free(ctx, rays, sizeof(*rays));
        // Without memory for its threads it says that the machine is not supported, or nothing.
        enum RTCError error = rtcGetDeviceError(NULL);
        return check_fail(ctx, TREACLE_ERR_UNSUPPORTED,
                          "Embree does not begin (code %d): there is too little memory, see "
                          "\"ulimit -v\", or it does not run on this machine",
                          (int)error);
    }
    rays->scene = rtcNewScene(rays->device);
    // Robust: without it rays slip through between two triangles.
    rtcSetSceneFlags(rays->scene, RTC_SCENE_FLAG_ROBUST);
    rtcSetSceneBuildQuality(rays->scene, RTC_BUILD_QUALITY_MEDIUM);
    if (has_failed(rays)) {
        trace_rays_destroy(rays);
        return check_fail(ctx, TREACLE_ERR_MEMORY, "no memory for a ray tracer");
    }
    *out = rays;
    return TREACLE_OK;
}

void trace_rays_destroy(trace_rays* rays) {
    if (rays != NULL) {
        rtcReleaseScene(rays->scene);
        rtcReleaseDevice(rays->device);
        alloc_free(rays->ctx, rays, sizeof(*rays));
    }
}

// A ray in the making, with what the filter below needs to know of it.
typedef struct ray_context {
    struct RTCIntersectContext base; // first: Embree hands it on
    bool sees_containers;
} ray_context;

static ray_context context_of(const trace_ray* ray) {
    ray_context out = {.sees_containers = ray->sees_containers};
    rtcInitIntersectContext(&out.base);
    return out;
}

// Walls of containers are seen from inside only: one looks through the near ones at the far ones.
static void filter_containers(const struct RTCFilterFunctionNArguments* args) {
    const ray_context* context = (const ray_context*)args->context;
    // Rays are traced one by one: with N = 1 these are the plain structs.
    const struct RTCRay* ray = (const struct RTCRay*)args->ray;
    const struct RTCHit* hit = (const struct RTCHit*)args->hit;
    float along = ray->dir_x * hit->Ng_x + ray->dir_y * hit->Ng_y + ray->dir_z * hit->Ng_z;
    if (!context->sees_containers || along > 0.0f) {
        args->valid[0] = 0;
    }
}

static bool set_vertices(RTCGeometry geometry, const trace_triangles* mesh, unsigned step,
                         const float* places) {
    void* to = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, step, RTC_FORMAT_FLOAT3,
                                       3 * sizeof(float), (size_t)mesh->vertex_count);
    if (to == NULL) {
        return false;
    }
    memcpy(to, places, (size_t)mesh->vertex_count * 3 * sizeof(float));
    return true;
}

treacle_status trace_rays_add(trace_rays* rays, const trace_triangles* mesh) {
    TREACLE_ASSERT(mesh->vertex_count >= 0 && mesh->triangle_count >= 0);
    TREACLE_ASSERT(mesh->from != NULL || mesh->vertex_count == 0);
    RTCGeometry geometry = rtcNewGeometry(rays->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    bool is_whole = geometry != NULL;
    if (is_whole) {
        rtcSetGeometryTimeStepCount(geometry, mesh->to == NULL ? 1 : 2);
        void* to = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                           3 * sizeof(int32_t), (size_t)mesh->triangle_count);
        is_whole = to != NULL && set_vertices(geometry, mesh, 0, mesh->from) &&
                   (mesh->to == NULL || set_vertices(geometry, mesh, 1, mesh->to));
        if (is_whole) {
            memcpy(to, mesh->triangles, (size_t)mesh->triangle_count * 3 * sizeof(int32_t));
            if (mesh->is_container) {
                rtcSetGeometryIntersectFilterFunction(geometry, filter_containers);
                rtcSetGeometryOccludedFilterFunction(geometry, filter_containers);
            }
            rtcCommitGeometry(geometry);
            rtcAttachGeometryByID(rays->scene, geometry, (unsigned)rays->mesh_count);
        }
        rtcReleaseGeometry(geometry);
    }
    if (!is_whole || has_failed(rays)) {
        return check_fail(rays->ctx, TREACLE_ERR_MEMORY, "no memory for %lld triangles to trace",
                          (long long)mesh->triangle_count);
    }
    rays->mesh_count += 1;
    return TREACLE_OK;
}

treacle_status trace_rays_commit(trace_rays* rays) {
    rtcCommitScene(rays->scene);
    return has_failed(rays) ? trace_rays_fail(rays, "the tree of triangles") : TREACLE_OK;
}

static struct RTCRay ray_of(const trace_ray* ray) {
    return (struct RTCRay){
        .org_x = ray->origin.x,
        .org_y = ray->origin.y,
        .org_z = ray->origin.z,
        .tnear = ray->near,
        .dir_x = ray->direction.x,
        .dir_y = ray->direction.y,
        .dir_z = ray->direction.z,
        .time = ray->time,
        .tfar = ray->far,
        .mask = ~0u,
    };
}

void trace_rays_listen(trace_rays* rays, trace_listener* listener, void* user) {
    rays->listener = listener;
    rays->listener_user = user;
}

void trace_rays_hit(const trace_rays* rays, const trace_ray* ray, trace_touch* out) {
    TREACLE_ASSERT(ray->near <= ray->far);
    if (TREACLE_UNLIKELY(rays->listener != NULL)) {
        rays->listener(rays->listener_user, ray, false);
    }
    ray_context context = context_of(ray);
    struct RTCRayHit found = {.ray = ray_of(ray)};
    found.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(rays->scene, &context.base, &found);
    if (found.hit.geomID == RTC_INVALID_GEOMETRY_ID) {
        out->distance = INFINITY;
        return;
    }
    *out = (trace_touch){
        .distance = found.ray.tfar,
        .normal = v3f_normalise(v3f_make(found.hit.Ng_x, found.hit.Ng_y, found.hit.Ng_z)),
        .u = found.hit.u,
        .v = found.hit.v,
        .mesh = (int)found.hit.geomID,
        .triangle = (int)found.hit.primID,
    };
}

bool trace_rays_blocked(const trace_rays* rays, const trace_ray* ray) {
    if (TREACLE_UNLIKELY(rays->listener != NULL)) {
        rays->listener(rays->listener_user, ray, true);
    }
    ray_context context = context_of(ray);
    struct RTCRay found = ray_of(ray);
    rtcOccluded1(rays->scene, &context.base, &found);
    return found.tfar < 0.0f;
}
