// The only C++ of the tree: OpenVDB has no other door. Nothing is thrown across it, and it reads no
// files: its reader believes the sizes that they claim (vdb_file.h has ours).
#include "vdb/vdb.h"

#include <openvdb/openvdb.h>
#include <openvdb/points/PointConversion.h>
#include <openvdb/points/PointCount.h>
#include <openvdb/tools/MeshToVolume.h>
#include <openvdb/tools/VolumeToMesh.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

using openvdb::Coord;
using openvdb::Vec3d;
using openvdb::Vec3s;
using openvdb::math::Transform;

static void initialise() {
    static std::once_flag once;
    std::call_once(once, [] { openvdb::initialize(); });
}

template <typename Work> static int guarded(char error[VDB_ERROR_MAX], const Work& work) {
    try {
        initialise();
        work();
        return 0;
    } catch (const std::bad_alloc&) {
        std::snprintf(error, VDB_ERROR_MAX, "out of memory in OpenVDB");
        return VDB_NO_MEMORY;
    } catch (const std::exception& problem) {
        std::snprintf(error, VDB_ERROR_MAX, "%s", problem.what());
    } catch (...) {
        std::snprintf(error, VDB_ERROR_MAX, "OpenVDB failed");
    }
    return -1;
}

// The archive behind openvdb::io::File, which never asks whether its bytes arrived.
class careful_archive : public openvdb::io::Archive {
  public:
    void put(std::ostream& out, const openvdb::GridCPtrVec& grids) const {
        write(out, grids, /*seekable=*/true);
    }
};

static void write_grids(const char* path, const openvdb::GridCPtrVec& grids) {
    errno = 0;
    std::ofstream out(path, std::ios_base::out | std::ios_base::binary | std::ios_base::trunc);
    if (out) {
        careful_archive().put(out, grids);
        out.close();
    }
    if (!out) {
        throw std::runtime_error(errno != 0 ? std::strerror(errno) : "the disk refuses");
    }
}

int vdb_is_there(void) {
    return 1;
}

// Index (i, j, k) is the middle of the cell, as OpenVDB has it.
static Transform::Ptr cell_transform(const vdb_volume& v) {
    Transform::Ptr out = Transform::createLinearTransform(v.cell);
    double half = 0.5 * v.cell;
    out->postTranslate(Vec3d(v.origin[0] + half, v.origin[1] + half, v.origin[2] + half));
    return out;
}

static float scalar_of(const vdb_field& f, size_t slot, float) {
    return f.value[0][slot];
}

static Vec3s scalar_of(const vdb_field& f, size_t slot, Vec3s) {
    return Vec3s(f.value[0][slot], f.value[1][slot], f.value[2][slot]);
}

static bool is_active(const vdb_field& f, size_t slot) {
    bool any = false;
    for (int c = 0; c < f.components; ++c) {
        any = any || f.weight[c][slot] > 0.0f;
    }
    return any;
}

template <typename Grid>
static openvdb::GridBase::Ptr make_grid(const vdb_volume& v, const vdb_field& f) {
    using Value = typename Grid::ValueType;
    typename Grid::Ptr grid = Grid::create();
    auto access = grid->getAccessor();
    for (int64_t t = 0; t < v.tile_count; ++t) {
        for (int cell = 0; cell < VDB_TILE_CELLS; ++cell) {
            size_t slot = static_cast<size_t>(t * VDB_TILE_CELLS + cell);
            if (is_active(f, slot)) {
                Coord at(8 * v.tile[t][0] + cell % 8, 8 * v.tile[t][1] + cell / 8 % 8,
                         8 * v.tile[t][2] + cell / 64);
                access.setValue(at, scalar_of(f, slot, Value()));
            }
        }
    }
    grid->setName(f.name);
    grid->setTransform(cell_transform(v));
    return grid;
}

static openvdb::GridBase::Ptr make_surface(const vdb_volume& v) {
    Transform::Ptr transform = Transform::createLinearTransform(v.surface_voxel);
    std::vector<Vec3s> points(static_cast<size_t>(v.vertex_count));
    std::vector<openvdb::Vec3I> triangles(static_cast<size_t>(v.triangle_count));
    for (size_t i = 0; i < points.size(); ++i) {
        points[i] = Vec3s(v.vertices[3 * i], v.vertices[3 * i + 1], v.vertices[3 * i + 2]);
    }
    for (size_t i = 0; i < triangles.size(); ++i) {
        for (int c = 0; c < 3; ++c) {
            triangles[i][c] = static_cast<openvdb::Index32>(v.triangles[3 * i + c]);
        }
    }
    openvdb::FloatGrid::Ptr grid =
        openvdb::tools::meshToLevelSet<openvdb::FloatGrid>(*transform, points, triangles);
    grid->setName("surface");
    return grid;
}

int vdb_write_volume(const vdb_volume* volume, const char* path, char error[VDB_ERROR_MAX]) {
    return guarded(error, [&] {
        openvdb::GridCPtrVec grids;
        grids.push_back(make_surface(*volume));
        for (int f = 0; f < volume->field_count; ++f) {
            const vdb_field& field = volume->fields[f];
            bool is_vector = field.components == 3;
            openvdb::GridBase::Ptr grid = is_vector ? make_grid<openvdb::Vec3SGrid>(*volume, field)
                                                    : make_grid<openvdb::FloatGrid>(*volume, field);
            if (is_vector) {
                grid->setGridClass(openvdb::GRID_STAGGERED);
                grid->setVectorType(openvdb::VEC_CONTRAVARIANT_RELATIVE);
            } else {
                grid->setGridClass(openvdb::GRID_FOG_VOLUME);
            }
            grids.push_back(grid);
        }
        write_grids(path, grids);
    });
}

// Points ------------------------------------------------------------------------------------------

using openvdb::points::PointDataGrid;
using openvdb::points::PointDataTree;
using PointIndexGrid = openvdb::tools::PointIndexGrid;

template <typename Value>
static void add_column(PointDataGrid& grid, const PointIndexGrid& index, const char* name,
                       const std::vector<Value>& values) {
    openvdb::points::appendAttribute<Value>(grid.tree(), name);
    openvdb::points::PointAttributeVector<Value> wrapped(values);
    openvdb::points::populateAttribute<PointDataTree, openvdb::tools::PointIndexTree,
                                       openvdb::points::PointAttributeVector<Value>>(
        grid.tree(), index.tree(), name, wrapped);
}

static void add_columns(const vdb_points& p, PointDataGrid& grid, const PointIndexGrid& index) {
    size_t count = static_cast<size_t>(p.count);
    for (int c = 0; c < p.column_count; ++c) {
        const vdb_point_column& column = p.columns[c];
        if (column.components == 3) {
            std::vector<Vec3s> values(count);
            std::memcpy(values.data(), column.value, count * sizeof(Vec3s));
            add_column(grid, index, column.name, values);
        } else {
            add_column(grid, index, column.name,
                       std::vector<float>(column.value, column.value + count));
        }
    }
    if (p.id != nullptr) {
        add_column(grid, index, "id", std::vector<int64_t>(p.id, p.id + count));
    }
}

int vdb_write_points(const vdb_points* points, const char* path, char error[VDB_ERROR_MAX]) {
    return guarded(error, [&] {
        std::vector<Vec3s> places(static_cast<size_t>(points->count));
        std::memcpy(places.data(), points->position, places.size() * sizeof(Vec3s));
        openvdb::points::PointAttributeVector<Vec3s> wrapped(places);
        Transform::Ptr transform = Transform::createLinearTransform(points->voxel);
        PointIndexGrid::Ptr index =
            openvdb::tools::createPointIndexGrid<PointIndexGrid>(wrapped, *transform);
        PointDataGrid::Ptr grid =
            openvdb::points::createPointDataGrid<openvdb::points::NullCodec, PointDataGrid>(
                *index, wrapped, *transform);
        grid->setName("particles");
        add_columns(*points, *grid, *index);
        write_grids(path, {grid});
    });
}

// Reading -----------------------------------------------------------------------------------------

static Transform::Ptr transform_of(const vdb_level& level) {
    const auto& m = level.matrix;
    if (level.is_scaled) {
        Vec3d scale(m[0][0], m[1][1], m[2][2]), move(m[3][0], m[3][1], m[3][2]);
        return Transform::Ptr(new Transform(
            openvdb::math::MapBase::Ptr(new openvdb::math::ScaleTranslateMap(scale, move))));
    }
    return Transform::createLinearTransform(openvdb::Mat4R(&m[0][0]));
}

// Where the surface can be is where voxels are active: blocks only tell their side of it.
static openvdb::FloatGrid::Ptr make_level(const vdb_level& level) {
    openvdb::FloatGrid::Ptr grid = openvdb::FloatGrid::create(level.background);
    grid->setGridClass(openvdb::GRID_LEVEL_SET);
    grid->setTransform(transform_of(level));
    openvdb::FloatTree& tree = grid->tree();
    for (int64_t i = 0; i < level.block_count; ++i) {
        const vdb_block& b = level.blocks[i];
        tree.addTile(static_cast<openvdb::Index>(b.level), Coord(b.at[0], b.at[1], b.at[2]),
                     b.value, /*active=*/false);
    }
    for (int64_t i = 0; i < level.leaf_count; ++i) {
        const vdb_leaf& from = level.leaves[i];
        openvdb::FloatTree::LeafNodeType* leaf =
            tree.touchLeaf(Coord(from.at[0], from.at[1], from.at[2]));
        for (openvdb::Index v = 0; v < VDB_TILE_CELLS; ++v) {
            bool is_on = (from.active[v / 8] >> v % 8 & 1) != 0;
            is_on ? leaf->setValueOn(v, from.value[v]) : leaf->setValueOff(v, from.value[v]);
        }
    }
    return grid;
}

static void take_mesh(const std::vector<Vec3s>& points,
                      const std::vector<openvdb::Vec3I>& triangles,
                      const std::vector<openvdb::Vec4I>& quads, vdb_mesh* out) {
    size_t count = triangles.size() + 2 * quads.size();
    out->vertices = static_cast<float*>(std::malloc(points.size() * sizeof(Vec3s) + 1));
    out->triangles = static_cast<int32_t*>(std::malloc(3 * count * sizeof(int32_t) + 1));
    if (out->vertices == nullptr || out->triangles == nullptr) {
        vdb_mesh_free(out);
        throw std::bad_alloc();
    }
    std::memcpy(out->vertices, points.data(), points.size() * sizeof(Vec3s));
    int32_t* to = out->triangles;
    // OpenVDB's polygons run clockwise seen from outside.
    for (const auto& t : triangles) {
        for (int c : {0, 2, 1}) {
            *to++ = static_cast<int32_t>(t[c]);
        }
    }
    for (const auto& q : quads) {
        for (int c : {0, 2, 1, 0, 3, 2}) {
            *to++ = static_cast<int32_t>(q[c]);
        }
    }
    out->vertex_count = static_cast<int64_t>(points.size());
    out->triangle_count = static_cast<int64_t>(count);
}

int vdb_mesh_level(const vdb_level* level, vdb_mesh* out, char error[VDB_ERROR_MAX]) {
    *out = vdb_mesh{};
    return guarded(error, [&] {
        openvdb::FloatGrid::Ptr grid = make_level(*level);
        std::vector<Vec3s> points;
        std::vector<openvdb::Vec3I> triangles;
        std::vector<openvdb::Vec4I> quads;
        openvdb::tools::volumeToMesh(*grid, points, triangles, quads, 0.0, 0.0);
        take_mesh(points, triangles, quads, out);
    });
}

void vdb_mesh_free(vdb_mesh* mesh) {
    std::free(mesh->vertices);
    std::free(mesh->triangles);
    *mesh = vdb_mesh{};
}
