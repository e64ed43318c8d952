// Every def struct: what a simulation is made of, with unit and range on each field.
//
// A def is plain data. Start from its _default() function, change what differs and hand it to the
// create function, which copies what it needs; the def may leave scope afterwards. The scene file
// binds its keys to these very fields, under the same names.
//
// SI units, Y up, temperatures in kelvin, angles in radians.
#pragma once

#include "base.h"
#include "look.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a side of the domain does to liquid that reaches it.
typedef enum treacle_side {
    TREACLE_SIDE_SLIP,     ///< solid wall, liquid slides along it
    TREACLE_SIDE_NO_SLIP,  ///< solid wall, liquid sticks to it
    TREACLE_SIDE_OPEN,     ///< liquid leaves and is gone
    TREACLE_SIDE_PERIODIC, ///< liquid leaves here and enters opposite; both sides must say so
} treacle_side;

/// Whether liquid may let go of a wall [BBB07 sec. 4]. Zeroed: it never does, walls hold it by
/// suction.
typedef struct treacle_separation {
    bool is_on;      ///< it lets go where the pressure falls below minus the adhesion
    double adhesion; ///< Pa, >= 0, the tension that a wall bears before liquid comes off
} treacle_separation;

/// A value over time: linear between keys, constant before the first and after the last.
typedef struct treacle_key {
    double time;     ///< s
    double value[3]; ///< scalars use value[0]
} treacle_key;
typedef struct treacle_curve {
    int count;               ///< 1 is a constant; times must increase strictly
    const treacle_key* keys; ///< not owned
} treacle_curve;

/// The box that is simulated.
typedef struct treacle_domain_def {
    double origin[3];         ///< m, low corner
    double size[3];           ///< m; 0 along an axis makes the domain one cell thick (2D)
    double cell;              ///< m, > 0, width of a cell; every size must be a multiple of it
    treacle_side sides[3][2]; ///< [axis][0 low, 1 high]; of an inactive axis: ignored
    /// Whether liquid lets go of a side; it counts at slip and no-slip sides alone.
    treacle_separation separation[3][2];
    double slip_length[3][2]; ///< m, >= 0, of no-slip sides: as if it stuck so far behind them
    /// m/s, with which no-slip sides move in their own plane, as belts do; what of it points across
    /// the side does not count. count 0: they are at rest.
    treacle_curve surface_velocity[3][2];
    /// rad, 0 to pi, through the liquid, at which the surface of liquid with surface tension meets
    /// slip and no-slip sides.
    double contact_angle[3][2];
} treacle_domain_def;

/// A value over space.
typedef enum treacle_field_kind {
    TREACLE_FIELD_CONSTANT,   ///< value_a everywhere
    TREACLE_FIELD_RAMP,       ///< value_a at from, value_b at to, linear between, constant beyond
    TREACLE_FIELD_EXPRESSION, ///< arithmetic in x, y, z, one text per component
} treacle_field_kind;
typedef struct treacle_field {
    treacle_field_kind kind;
    double value_a[3], value_b[3]; ///< scalars use [0]
    double from[3], to[3];         ///< m, the ends of a ramp
    const char* expression[3];     ///< not owned
} treacle_field;

/// Shapes: a tree of primitives and set operations, each with its own placement.
typedef enum treacle_shape_kind {
    TREACLE_SHAPE_BOX,          ///< size, centred
    TREACLE_SHAPE_SPHERE,       ///< radius
    TREACLE_SHAPE_CYLINDER,     ///< radius, height, along y, centred
    TREACLE_SHAPE_CAPSULE,      ///< radius, height between the two ball centres, along y, centred
    TREACLE_SHAPE_TORUS,        ///< radius (of the ring), thickness (of the tube), around y
    TREACLE_SHAPE_PLANE,        ///< the half space below the plane y = 0
    TREACLE_SHAPE_MESH,         ///< file; the inside of a closed triangle mesh
    TREACLE_SHAPE_UNION,        ///< of the children
    TREACLE_SHAPE_INTERSECTION, ///< of the children
    TREACLE_SHAPE_DIFFERENCE,   ///< the first child without the others
} treacle_shape_kind;
/// Meshes that follow each other in time, for solids that change their shape. They have the same
/// vertices and triangles; between two of them vertices go straight.
typedef struct treacle_mesh_sequence {
    int first, last; ///< numbers of the files
    double fps;      ///< meshes a second, > 0; 0: there is one mesh only
    double start;    ///< s, when the first one is there
    bool repeat;     ///< after the last comes the first again; otherwise the last one stays
} treacle_mesh_sequence;

typedef struct treacle_shape {
    treacle_shape_kind kind;
    double size[3];   ///< m, box only
    double radius;    ///< m
    double height;    ///< m
    double thickness; ///< m
    const char*
        file; ///< path of a .ply, .obj, .stl, .gltf, .glb or .vdb file, of a mesh; m; not owned
    /// The frames of a mesh that changes. `file` then has a run of # for the number, as in
    /// wave_####.ply. Only a solid whose whole shape is the mesh changes with it; elsewhere the
    /// first mesh counts.
    treacle_mesh_sequence frames;
    double move[3];   ///< m, applied last
    double rotate[3]; ///< rad, about x, then y, then z
    double scale;     ///< > 0, applied first
    int child_count;
    const struct treacle_shape* children; ///< not owned
} treacle_shape;

/// How elastic strain turns with the material.
typedef enum treacle_strain_rate {
    TREACLE_STRAIN_COROTATIONAL, ///< with its rotation (Jaumann)
    TREACLE_STRAIN_CONVECTED,    ///< with its whole deformation (upper-convected, Oldroyd-B)
    TREACLE_STRAIN_FIXED,        ///< not at all; wrong as soon as something rotates, to show it
} treacle_strain_rate;

/// What of the strain is forgotten with time.
typedef enum treacle_strain_decay {
    TREACLE_DECAY_DEVIATOR, ///< what is left without the change of volume
    TREACLE_DECAY_WHOLE,    ///< all of it; of convected strain always
} treacle_strain_decay;

/// A liquid that springs back: below its yield stress it keeps strain, above it forgets.
typedef struct treacle_elastic_def {
    double shear_modulus;   ///< Pa, >= 0; 0: not elastic
    double relaxation_time; ///< s, >= 0; INFINITY: nothing is forgotten
    double yield_stress;    ///< Pa, >= 0, in shear; 0: any strain is forgotten, INFINITY: none is
    double strength;        ///< Pa, >= 0, of tension at which it breaks; 0: never
    double fracture_energy; ///< J/m^2, >= 0, that a crack takes
    treacle_strain_rate rate;
    treacle_strain_decay decay;
    /// The same in the thesis' words [G11 eq. 2.18]: mu_e = 2 shear_modulus, alpha = 1 /
    /// relaxation_time, gamma = yield_stress / (sqrt 2 shear_modulus). Those that are not NAN count
    /// instead.
    double mu_e, alpha, gamma;
} treacle_elastic_def;

/// How viscosity follows from the rate of shear g = sqrt(2 D : D), D = (grad u + grad u^T)/2. In
/// all laws g is sqrt(g^2 + critical_rate^2), so that viscosity is finite at rest.
typedef enum treacle_rheology {
    TREACLE_RHEOLOGY_NEWTONIAN, ///< viscosity
    TREACLE_RHEOLOGY_POWER_LAW, ///< consistency g^(exponent - 1)
    TREACLE_RHEOLOGY_CARREAU,   ///< infinite + (viscosity - infinite) (1 + (time g)^2)^((n - 1)/2)
    TREACLE_RHEOLOGY_BINGHAM,   ///< viscosity + yield_stress / g
    TREACLE_RHEOLOGY_HERSCHEL_BULKLEY, ///< consistency g^(exponent - 1) + yield_stress / g
} treacle_rheology;
typedef struct treacle_rheology_def {
    treacle_rheology law;
    double consistency;        ///< Pa s^n, > 0
    double exponent;           ///< n, 0.01..10; below 1: thins when it is sheared
    double yield_stress;       ///< Pa, >= 0; below it the material hardly flows
    double viscosity_infinite; ///< Pa s, >= 0; Carreau's at large rates
    double time;               ///< s, >= 0; Carreau's: it thins beyond a rate of 1 / time
    double critical_rate;      ///< 1/s, > 0; below it the material is a very thick liquid
} treacle_rheology_def;

/// How viscosity follows from what the liquid carries.
typedef enum treacle_law_kind {
    TREACLE_LAW_NONE,      ///< the material's viscosity, everywhere
    TREACLE_LAW_LINEAR,    ///< low below from, high above to, linear between [CMVT02 sec. 5.2]
    TREACLE_LAW_QUADRATIC, ///< low below from, high above to, levelling off towards high
    TREACLE_LAW_ARRHENIUS, ///< viscosity exp(activation (1/T - 1/reference))
    TREACLE_LAW_VFT,       ///< 10^(a + b / (T - c)), Vogel, Fulcher, Tammann
    TREACLE_LAW_TABLE,     ///< points, joined linearly in the logarithm
} treacle_law_kind;
typedef enum treacle_law_of {
    TREACLE_LAW_OF_TEMPERATURE,
    TREACLE_LAW_OF_MARKER,
} treacle_law_of;
typedef struct treacle_viscosity_law {
    treacle_law_kind kind;
    treacle_law_of of;
    double from, to;     ///< K or units of the marker, from < to: the zone of a ramp
    double low, high;    ///< Pa s, > 0: at `from` and below it, at `to` and above it
    double activation;   ///< K, >= 0: activation energy over the gas constant
    double reference;    ///< K, > 0, at which an Arrhenius law gives the material's viscosity
    double a, b, c;      ///< -, K, K, of VFT; b >= 0
    double least, most;  ///< Pa s, > 0: the law is cut off there
    treacle_curve table; ///< time: K or units of the marker, increasing; value: Pa s, > 0
} treacle_viscosity_law;

/// What material loses of its volume while it cools or dries. Its mass stays.
typedef struct treacle_shrinkage_def {
    double cooling; ///< 1/K, >= 0; share of its volume, as log V falls with the temperature
    double drying;  ///< >= 0; share of its volume, as log V falls with the marker
} treacle_shrinkage_def;

/// What a liquid is made of.
typedef struct treacle_material_def {
    const char* name;
    double density;         ///< kg/m^3, > 0
    double viscosity;       ///< Pa s, >= 0, dynamic
    double surface_tension; ///< N/m, >= 0, against air; 0: none
    treacle_rheology_def rheology;
    double colour[3];       ///< 0..1, linear RGB
    treacle_look_kind look; ///< in pictures, unless a look says otherwise; presets bring their own
    double expansion; ///< 1/K, >= 0; buoyancy of warm liquid: relative loss of weight per kelvin
    double reference_temperature; ///< K, at which there is no buoyancy
    double marker_buoyancy;       ///< relative loss of weight per unit of the marker
    double marker_diffusivity;    ///< m^2/s, >= 0, by which the marker spreads
    double marker_rate;           ///< 1/s, >= 0: the marker nears marker_target at this rate
    double marker_target;         ///< units of the marker
    treacle_shrinkage_def shrinkage;
    treacle_elastic_def elastic;
    bool merges; ///< with other materials that it touches; otherwise it slips on them and comes off

    double conductivity;      ///< W/(m K), >= 0
    double heat_capacity;     ///< J/(kg K), > 0
    double latent_heat;       ///< J/kg, >= 0, that melting takes up
    double solidus, liquidus; ///< K, where melting begins and ends, on the way up
    double freezing_liquidus; ///< K, <= liquidus, where freezing begins, on the way down; 0: as up
    double freezing_solidus;  ///< K, <= solidus, where it ends; 0: as up
    treacle_viscosity_law viscosity_law;
} treacle_material_def;

/// Liquid that is there from the start.
typedef struct treacle_liquid_def {
    const treacle_shape* shape;
    int material;                   ///< index into treacle_sim_def.materials
    treacle_field velocity;         ///< m/s
    double spin[3];                 ///< rad/s, rigid rotation about spin_centre, added to velocity
    double spin_centre[3];          ///< m
    treacle_field temperature;      ///< K
    treacle_field marker;           ///< any unit, carried along; see marker_buoyancy
    treacle_field viscosity_factor; ///< > 0, multiplies the viscosity; carried along
    treacle_field colour;           ///< linear RGB, carried along; below 0: the material's
} treacle_liquid_def;

/// An inflow: liquid streams through the shape with the given velocity.
typedef struct treacle_emitter_def {
    const treacle_shape* shape;
    int material;
    double direction[3]; ///< of the stream; need not have unit length
    treacle_curve speed; ///< m/s; used where rate is empty
    treacle_curve rate;  ///< m^3/s (m^2/s times the cell in 2D); count 0: speed counts
    double start, stop;  ///< s; stop may be INFINITY
    /// m, how far the nozzle is from where its shape says, over time; the stream gets its velocity
    /// on top of its own. count 0: it stands still.
    treacle_curve position;
    double temperature; ///< K
    double marker;
    double viscosity_factor; ///< > 0
} treacle_emitter_def;

/// Liquid that appears at given times and places, a shape at a time.
typedef struct treacle_drop_def {
    const treacle_shape* shape; ///< of a drop whose place is the origin
    int material;
    treacle_curve places; ///< m, where the keys say; each key is a drop
    double velocity[3];   ///< m/s, at the begin
    double temperature;   ///< K
    double marker;
    double viscosity_factor; ///< > 0
} treacle_drop_def;

/// A volume in which liquid vanishes.
typedef struct treacle_sink_def {
    const treacle_shape* shape;
    double start, stop; ///< s
} treacle_sink_def;

/// How liquid moves along a solid.
typedef enum treacle_wall {
    TREACLE_WALL_SLIP,        ///< it slides freely
    TREACLE_WALL_NO_SLIP,     ///< it sticks
    TREACLE_WALL_SLIP_LENGTH, ///< it slides as if it stuck slip_length behind the surface
} treacle_wall;

/// A solid that moves as it is told: an obstacle, or a container.
///
/// The point b of its shape is, at time t, at  pivot + position(t) + velocity t
/// + S(t) R(t) (b - pivot),  R by the angles of rotation(t), S by the angle spin t.
typedef struct treacle_solid_def {
    const char* name;
    const treacle_shape* shape;
    bool inside_out;        ///< the solid is everything outside of the shape: a container
    treacle_curve position; ///< m, how far it is moved, over time; count 0: not at all
    treacle_curve
        rotation;       ///< rad, about x, then y, then z, through the pivot; count 0: not at all
    double velocity[3]; ///< m/s, constant, added to what `position` says
    double spin[3];     ///< rad/s, constant, about the pivot, on top of `rotation`
    double pivot[3];    ///< m, about which it turns
    treacle_wall wall;  ///< used where the flow has viscosity
    double slip_length; ///< m, >= 0; of TREACLE_WALL_SLIP_LENGTH
    /// The surface may move in its own plane while the solid stays where it is: a belt, a turning
    /// table. Both are in the frame of the shape, and what points across the surface does not
    /// count. They need a wall that does not slip.
    treacle_field surface_velocity; ///< m/s
    double surface_spin[3];         ///< rad/s, about the pivot
    treacle_curve surface_strength; ///< factor of both over time
    treacle_separation separation;  ///< whether liquid lets go of it
    double contact_angle;           ///< rad, 0 to pi: of a surface with tension, as of sides
    /// What it does to the heat of liquid that touches it: one of temperature and flux, or none,
    /// and then it lets no heat through.
    treacle_curve temperature; ///< K, at which it is held
    treacle_curve flux;        ///< W/m^2, into the liquid
    double contact;            ///< W/(m^2 K), > 0, may be INFINITY: how well it touches
} treacle_solid_def;

/// What holds a body to another one, or to the world.
typedef enum treacle_joint_kind {
    TREACLE_JOINT_HINGE,  ///< it turns about the axis through the anchor
    TREACLE_JOINT_SLIDER, ///< it moves along the axis and does not turn
    TREACLE_JOINT_FIXED,  ///< it does neither
} treacle_joint_kind;
typedef struct treacle_joint_def {
    treacle_joint_kind kind;
    const char* to;   ///< name of the other body; NULL: the world
    double anchor[3]; ///< m, at the start; of a hinge
    double axis[3];   ///< direction at the start; of a hinge or a slider
} treacle_joint_def;

/// A rigid body that liquid, gravity, contacts and joints move. Its centre of mass is that of the
/// shape.
typedef struct treacle_body_def {
    const char* name;
    const treacle_shape* shape; ///< where it is at the start; closed
    double density;             ///< kg/m^3, > 0
    double velocity[3];         ///< m/s, of the centre of mass at the start
    double spin[3];             ///< rad/s, at the start
    double friction;            ///< >= 0, Coulomb's, against solids, sides and other bodies
    double restitution;         ///< 0..1, share of the speed that a bounce gives back
    treacle_curve force;        ///< N, at the centre of mass, over time; count 0: none
    treacle_curve torque;       ///< N m, over time; count 0: none
    treacle_wall wall;          ///< used where the flow has viscosity
    double slip_length;         ///< m, >= 0; of TREACLE_WALL_SLIP_LENGTH
    double contact_angle;       ///< rad, 0 to pi: of a surface with tension, as of sides
    int joint_count;
    const treacle_joint_def* joints;
} treacle_body_def;

/// An acceleration of the liquid in a part of space and time.
typedef struct treacle_force_def {
    const treacle_shape* shape; ///< where it acts; NULL: everywhere
    treacle_field acceleration; ///< m/s^2
    treacle_curve strength;     ///< factor over time
    double start, stop;         ///< s; stop may be INFINITY
} treacle_force_def;

/// Where liquid is.
typedef enum treacle_fill {
    TREACLE_FILL_PARTICLES, ///< where its particles are; elsewhere is air
    TREACLE_FILL_ALL,       ///< everywhere outside solids: no surface. What no liquid of the def
                            ///< takes is filled with the first material, at rest and unmarked
} treacle_fill;

/// How conduction is stepped.
typedef enum treacle_conduction {
    TREACLE_CONDUCTION_AUTO,     ///< lod where little flows in a step, else implicit
    TREACLE_CONDUCTION_LOD,      ///< one axis after the other [CMVT02 sec. 5.1]
    TREACLE_CONDUCTION_ADI,      ///< Douglas and Rachford
    TREACLE_CONDUCTION_IMPLICIT, ///< all axes at once, by multigrid
} treacle_conduction;
/// How heat moves with liquid that the grid carries.
typedef enum treacle_convection {
    TREACLE_CONVECTION_SEMI_LAGRANGIAN,
    TREACLE_CONVECTION_UPWIND, ///< first order, in as many substeps as it takes [CMVT02 sec. 5.1]
} treacle_convection;

typedef struct treacle_heat_def {
    treacle_convection convection;
    treacle_conduction method;
    double air;        ///< K, > 0, of what is around the liquid
    double loss;       ///< W/(m^2 K), >= 0, of the free surface to the air
    double emissivity; ///< 0..1, of the free surface, which radiates to surroundings of `air`
    double speed;      ///< > 0: heat goes so many times as fast as the liquid moves; 1 is nature
} treacle_heat_def;

/// What the free surface does to the marker: water that dries, a skin that cures.
typedef struct treacle_marker_def {
    treacle_conduction method; ///< of diffusion
    double air;                ///< units of the marker, towards which the surface goes
    double loss;               ///< m/s, >= 0: what leaves a square metre a second, for each unit
} treacle_marker_def;

/// A part of space in which the marker of liquid grows, or is held.
typedef struct treacle_marker_source_def {
    const treacle_shape* shape;
    treacle_curve rate;  ///< units a second; count 0: value counts
    treacle_curve value; ///< at which it is held
    double start, stop;  ///< s; stop may be INFINITY
} treacle_marker_source_def;

/// Heat that comes, or goes where power is negative. With a shape: in the liquid inside it, shared
/// by heat capacity. Without: from a point that radiates evenly, onto the surface that faces it.
typedef struct treacle_heat_source_def {
    const treacle_shape* shape; ///< NULL: radiant
    treacle_curve place;        ///< m, of a radiant source
    treacle_curve power;        ///< W in all; count 0: temperature counts
    treacle_curve temperature;  ///< K, at which liquid in the shape is held
    double start, stop;         ///< s; stop may be INFINITY
    double aim[3];              ///< of a radiant source: where it points; 0: it shines all round
    double angle;               ///< rad, 0..pi, from `aim` to the edge of its cone
    bool shadows;               ///< of a radiant source: liquid and solids stand in its light's way
} treacle_heat_source_def;

/// A side of the domain; 2 axis + (1 if it is the high one).
typedef enum treacle_at {
    TREACLE_AT_LEFT,   ///< low x
    TREACLE_AT_RIGHT,  ///< high x
    TREACLE_AT_BOTTOM, ///< low y
    TREACLE_AT_TOP,    ///< high y
    TREACLE_AT_BACK,   ///< low z
    TREACLE_AT_FRONT,  ///< high z
} treacle_at;

/// What a side of the domain does to the heat of liquid that touches it; others keep it.
typedef struct treacle_heat_wall_def {
    treacle_at side;
    treacle_curve temperature; ///< K; count 0: flux counts
    treacle_curve flux;        ///< W/m^2, into the liquid
    double contact;            ///< W/(m^2 K), > 0, may be INFINITY: how well it touches
} treacle_heat_wall_def;

/// What carries the liquid.
typedef enum treacle_motion {
    TREACLE_MOTION_PARTICLES,
    TREACLE_MOTION_EULERIAN, ///< the grid, and a level set for its surface [G11 sec. 3]
} treacle_motion;

/// The surface of liquid that the grid carries: a level set on cells half as wide.
typedef struct treacle_level_set_def {
    int markers; ///< 1..64 in each of its cells near the surface, on both sides
    int reseed;  ///< >= 1: every so many steps missing markers are made
    double cfl;  ///< 0.1..5, cells that the surface may cross in a step, at most step.cfl; more is
                 ///< faster, and liquid that lands or splashes loses volume
} treacle_level_set_def;

typedef enum treacle_transfer {
    TREACLE_TRANSFER_PIC,
    TREACLE_TRANSFER_FLIP,
    TREACLE_TRANSFER_APIC,
} treacle_transfer;

typedef enum treacle_flow {
    TREACLE_FLOW_NONE,     ///< particles fly ballistically, no liquid forces
    TREACLE_FLOW_PRESSURE, ///< without viscosity
    TREACLE_FLOW_SPLIT,    ///< pressure, viscosity, pressure [BB08]
    TREACLE_FLOW_UNIFIED,  ///< pressure and viscosity in one solve
    TREACLE_FLOW_AUTO,     ///< unified if a material has viscosity, else pressure
} treacle_flow;

typedef enum treacle_kernel {
    TREACLE_KERNEL_LINEAR,    ///< trilinear, 2 samples an axis
    TREACLE_KERNEL_QUADRATIC, ///< quadratic B-spline, 3 samples an axis
    TREACLE_KERNEL_WIDE,      ///< tent of twice the width [BB08 sec. 6], for one particle a cell
} treacle_kernel;

typedef enum treacle_advection {
    TREACLE_ADVECTION_EULER,
    TREACLE_ADVECTION_RK2,
    TREACLE_ADVECTION_RK3,
} treacle_advection;

/// How the surface of the liquid is drawn from its particles.
typedef enum treacle_surface {
    TREACLE_SURFACE_SMOOTH,  ///< distance to the averaged particle: flat where the liquid is flat
    TREACLE_SURFACE_SPHERES, ///< union of balls
} treacle_surface;

/// How the pressure is found.
typedef enum treacle_projection {
    TREACLE_PROJECTION_SOLVE, ///< the linear system, by multigrid
    TREACLE_PROJECTION_RELAX, ///< sweeps of [S19 eq. 23, 24]; a comparator, slow
} treacle_projection;
/// How much of a face of the grid a solid leaves open [BBB07 sec. 2.1].
typedef enum treacle_walls {
    TREACLE_WALLS_EXACT, ///< share of the volume around the face
    TREACLE_WALLS_AREA,  ///< share of the face's area
    TREACLE_WALLS_LINE,  ///< share of the line between the middles of the cells on both sides
    TREACLE_WALLS_VOXEL, ///< all or nothing: walls are stairs; a comparator
} treacle_walls;
typedef struct treacle_pressure_def {
    treacle_projection method;
    double tolerance;   ///< > 0, residual relative to the right-hand side
    int max_iterations; ///< 1..100000
    treacle_walls walls;
} treacle_pressure_def;

/// How viscosity acts. All but the first of a kind are comparators: what others do, to be shown
/// beside it. They need TREACLE_FLOW_SPLIT.
typedef enum treacle_viscosity_method {
    TREACLE_VISCOSITY_IMPLICIT,  ///< all components together [BB08]
    TREACLE_VISCOSITY_EXPLICIT,  ///< in sub-steps
    TREACLE_VISCOSITY_IMEX,      ///< implicit in each component, explicit between them
    TREACLE_VISCOSITY_DECOUPLED, ///< each component by itself, as if the others did not matter
} treacle_viscosity_method;
typedef enum treacle_viscosity_surface {
    TREACLE_VISCOSITY_NATURAL,      ///< no traction, by volume [BB08]
    TREACLE_VISCOSITY_NEUMANN,      ///< no normal derivative of any component; with DECOUPLED only
    TREACLE_VISCOSITY_DIRICHLET,    ///< the air moves as the surface did before
    TREACLE_VISCOSITY_NICHOLS_HIRT, ///< no shear, on full and empty cells; 2D only
} treacle_viscosity_surface;
/// Between samples, where viscosities differ.
typedef enum treacle_viscosity_mean {
    TREACLE_VISCOSITY_GEOMETRIC,
    TREACLE_VISCOSITY_ARITHMETIC, ///< the thicker wins
    TREACLE_VISCOSITY_HARMONIC,   ///< the thinner wins: layers of a shear flow, in series
    TREACLE_VISCOSITY_MEAN_AUTO,  ///< harmonic where viscosity follows from what liquid carries and
                                  ///< from nothing else, geometric elsewhere
} treacle_viscosity_mean;
typedef struct treacle_viscosity_def {
    treacle_viscosity_method method;
    treacle_viscosity_surface surface;
    treacle_viscosity_mean mean;
    bool free_flight; ///< of DECOUPLED: liquid in free flight gets back what the solve takes from
                      ///< its linear and angular momentum [CMVT02 sec. 4.4]
    int substeps;     ///< of EXPLICIT and IMEX, 0..1000000; 0: as many as EXPLICIT needs, 1 of IMEX
    double tolerance; ///< > 0; relative change of velocity at which a rheology has converged
    int max_iterations; ///< 1..1000, of the loop around the solve that a rheology needs
} treacle_viscosity_def;

typedef struct treacle_particles_def {
    int per_cell;  ///< 1..64; per cell of liquid (a cube in 3D; a square number is best in 2D)
    double jitter; ///< 0..1, share of a particle's own box in which it is placed at random
    bool colour;   ///< each carries its colour; always so where a liquid has one of its own
    bool rest;     ///< particles remember where they were born, for textures that stick
    bool age;      ///< particles remember when they were born, for exports
} treacle_particles_def;

/// The order of accuracy, in the time step, with which motion and flow take turns.
typedef enum treacle_splitting {
    TREACLE_SPLITTING_FIRST,
    TREACLE_SPLITTING_SECOND, ///< particles carry half of what pressure will do to their motion
} treacle_splitting;

typedef struct treacle_step_def {
    double cfl;    ///< 0.1..5, cells that the fastest particle may cross in a step
    double max_dt; ///< s, > 0
    double min_dt; ///< s, > 0; a step that fails is retried with half the dt down to this;
                   ///< a speed that asks for less is ERR_DIVERGED
    treacle_splitting splitting;
} treacle_step_def;

/// How elastic stress enters the flow.
typedef struct treacle_elasticity_def {
    double theta;     ///< 0.5..1: 1 is calm, 0.5 keeps the energy of waves
    bool is_explicit; ///< the stress of the step's begin only, with its limit on dt; a comparator
    bool limits_step; ///< waves cross at most a cell a step: for accuracy, not for stability
    int passes;       ///< 1..10, solves a step while material yields
} treacle_elasticity_def;

/// The whole simulation.
typedef struct treacle_sim_def {
    size_t def_size;   ///< set by treacle_sim_def_default(), checked on entry
    uint64_t seed;     ///< every random choice is a hash of this and of what it is for
    double fps;        ///< 1/s, frames a second of the film
    double time_lapse; ///< > 0, seconds that a second of the film shows: frame 1 is the start,
                       ///< frame n is at (n - 1) time_lapse/fps
    treacle_domain_def domain;
    treacle_curve gravity; ///< m/s^2
    treacle_particles_def particles;
    treacle_step_def step;
    treacle_flow flow;
    treacle_fill fill;
    treacle_motion motion;
    treacle_level_set_def level_set; ///< counts with TREACLE_MOTION_EULERIAN only
    treacle_transfer transfer;
    double flip_blend;        ///< 0..1, share of FLIP against PIC in a FLIP transfer
    bool flip_from_viscosity; ///< the share of PIC is min(6 nu dt / cell^2, 1) instead: damping
                              ///< in place of a viscosity solve
    treacle_surface surface;
    treacle_pressure_def pressure;
    treacle_viscosity_def viscosity_solve;
    bool density_correction; ///< moves particles apart so that the volume is kept
    bool reseed;             ///< splits and merges particles so that cells keep about per_cell
    treacle_kernel kernel;
    treacle_advection advection;
    treacle_elasticity_def elasticity;
    treacle_heat_def heat;
    treacle_marker_def marker;

    int material_count;
    const treacle_material_def* materials;
    int liquid_count;
    const treacle_liquid_def* liquids;
    int emitter_count;
    const treacle_emitter_def* emitters;
    int drop_count;
    const treacle_drop_def* drops;
    int sink_count;
    const treacle_sink_def* sinks;
    int force_count;
    const treacle_force_def* forces;
    int solid_count;
    const treacle_solid_def* solids; ///< of two in the same place the nearer surface counts
    int body_count;
    const treacle_body_def* bodies;
    int heat_source_count;
    const treacle_heat_source_def* heat_sources;
    int heat_wall_count;
    const treacle_heat_wall_def* heat_walls;
    int marker_source_count;
    const treacle_marker_source_def* marker_sources;
} treacle_sim_def;

TREACLE_API treacle_sim_def treacle_sim_def_default(void);
/// s, the time of frame `number`: (number - 1) time_lapse/fps. That of frame 2 is the time from one
/// frame to the next.
TREACLE_API double treacle_sim_def_frame_time(const treacle_sim_def* def, int64_t number);
TREACLE_API treacle_shape treacle_shape_default(treacle_shape_kind kind);
TREACLE_API treacle_material_def treacle_material_def_default(void);
TREACLE_API treacle_liquid_def treacle_liquid_def_default(void);
TREACLE_API treacle_emitter_def treacle_emitter_def_default(void);
TREACLE_API treacle_drop_def treacle_drop_def_default(void);
TREACLE_API treacle_sink_def treacle_sink_def_default(void);
TREACLE_API treacle_force_def treacle_force_def_default(void);
TREACLE_API treacle_solid_def treacle_solid_def_default(void);
TREACLE_API treacle_body_def treacle_body_def_default(void);
TREACLE_API treacle_joint_def treacle_joint_def_default(void);
TREACLE_API treacle_heat_source_def treacle_heat_source_def_default(void);
TREACLE_API treacle_heat_wall_def treacle_heat_wall_def_default(void);
TREACLE_API treacle_marker_source_def treacle_marker_source_def_default(void);

#ifdef __cplusplus
}
#endif
