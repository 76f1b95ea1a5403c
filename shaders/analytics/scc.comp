// Strongly connected components of compressed sparse rows, by steps. Vertices that are neither on a cycle nor between
// two cycles are peeled off first, each a component of its own. Then, again and again, the least color spreads along
// arcs from each vertex that is left. A color's root is the vertex that it comes from. The vertices of the color that
// lead to the root within the color are the root's component. Later colors stay within the earlier ones (Orzan, On
// Distributed Verification and Verified Distribution, 2004). The first color is that of one vertex of high degree
// alone, so that two searches find a giant component, and peeling is done once: the Multistep method of Slota,
// Rajamanickam and Madduri, BFS and Coloring-based Parallel Algorithms for Strongly Connected Components and Related
// Problems, 2014.
//
// Colors are hashes of vertices, so their order is random. The vertices of a color then fall apart into parts of which
// even the largest is, on average, smaller by a constant factor: about log n times suffice, also for chains (Blelloch,
// Gu, Shun and Sun, Parallelism in Randomized Incremental Algorithms, 2016).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "traversal_control.glsl"
#include "hash.glsl"

// Push constants. graph.weights, extra: the offsets and the targets of the incoming arcs; values: while peeling, the
// number of arcs left, then the color; marks: one word per vertex, the last round whose frontier it was put into, and
// once it is done the label; then one word per vertex, its class: the color before, or DONE.
const uint DONE = ~0u;
const uint CONTROL_STEP = CONTROL_OWN;          // the step, whose scan was the last one
const uint CONTROL_SCORE = CONTROL_OWN + 1u;    // ~ the greatest score
const uint CONTROL_PIVOT = CONTROL_OWN + 2u;    // the vertex that alone has a color; ~0: all have

// Each step scans all vertices, for those that it begins with, and then expands from these along arcs, or back.
const uint STEP_PEEL = 0u;          // vertices without incoming arcs
const uint STEP_PEEL_BACK = 1u;     // vertices without outgoing arcs, back
const uint STEP_SCORE = 2u;         // finds the greatest score
const uint STEP_PIVOT = 3u;         // the color of one vertex with that score
const uint STEP_REACH = 4u;         // from the roots of colors, back
const uint STEP_COLOR = 5u;         // the colors of all vertices that are left; then STEP_REACH again

const uint MODE_SCAN = MODE_OWN;

Rows way;   // the arcs of the step, in its direction
#define graph way
#include "traversal.glsl"

shared uint step_now;

// Begins with the step of the control block. Returns it.
uint step_begin(Rows forward) {
    uint step = control_load(CONTROL_STEP);
    way = forward;
    if (step == STEP_PEEL_BACK || step == STEP_REACH) {
        way.offsets = forward.weights;
        way.targets = extra;
    }
    if (workgroup_lane() == 0u) step_now = step;
    return step;
}

uvec2 value_at(uint v) { return address_at(values, v, 2u); }
uvec2 mark_at(uint v) { return address_at(marks, v, 2u); }
uvec2 class_at(uint v) { return address_at(marks, graph.vertices + v, 2u); }

uint departure_value(uint v) { return atomic_load(value_at(v)); }

uvec2 arrival_look(uint u, uint place) { return uvec2(atomic_load(value_at(u)), atomic_load(class_at(u))); }

uint arrival_take(uint u, uvec2 looked, uint value, uint from) {
    if (looked.y == DONE) return TAKEN_NOT;
    if (step_now < STEP_SCORE) {
        if (atomic_add(value_at(u), ~0u) != 1u) return TAKEN_NOT;
        atomic_store(mark_at(u), u);
        atomic_store(class_at(u), DONE);
        return TAKEN_NEXT;
    }
    if (step_now == STEP_REACH) {
        if (looked.x != value || atomic_exchange(class_at(u), DONE) == DONE) return TAKEN_NOT;
        atomic_store(mark_at(u), atomic_load(mark_at(from)));
        return TAKEN_NEXT;
    }
    if (looked.x <= value || looked.y != atomic_load(class_at(from))) return TAKEN_NOT;
    if (lower(value_at(u), value) <= value) return TAKEN_NOT;
    return atomic_exchange(mark_at(u), round_now + 1u) == round_now + 1u ? TAKEN_NOT : TAKEN_NEXT;
}

void keep_back(uint u[BATCH], inout uint taken[BATCH]) {}
void put_aside(uint u[BATCH], uint taken[BATCH]) {}
#undef graph

#ifdef SMALL
void main() {
    if (control_load(CONTROL_DONE) != 0u) return;
    uint step = step_begin(graph), entries, lanes;
    uint mode = rounds_begin(entries, lanes);
    barrier();
    bool none = entries == 0u && mode == MODE_SCAN;   // the step begins with no vertex
    expand_rounds(entries, lanes, rounds);
    if (workgroup_lane() != 0u) return;
    control_lengths(entries, lanes);
    if (entries != 0u) {
        if (frontier_small(entries, lanes)) control_order(MODE_NONE, 0u);
        else control_expand(MODE_EXPAND, entries, lanes);
    } else if (none && step == STEP_COLOR) {
        control_end();
    } else {
        uint next = step == STEP_COLOR ? STEP_REACH : step + 1u;
        plain_store_at(control, CONTROL_STEP, next);
        if (next == STEP_COLOR) plain_store_at(control, CONTROL_PIVOT, ~0u);
        control_order(MODE_SCAN, (graph.vertices + BATCH * LARGE_GROUP - 1u) / (BATCH * LARGE_GROUP));
    }
}
#else
// Does the step's scan for a vertex that is not done. Returns whether the step begins with it.
bool scanned(uint step, uint v) {
    uint value = plain_load(value_at(v));
    bool root = false;
    switch (step) {
    case STEP_PEEL:
        root = value == 0u;
        break;
    case STEP_PEEL_BACK:
        value = degree_at(graph.offsets, v);
        root = value == 0u;
        break;
    case STEP_PIVOT:
        root = min(degree_at(graph.offsets, v), degree_at(graph.weights, v)) == ~control_load(CONTROL_SCORE) &&
               atomic_cas(address_at(control, CONTROL_PIVOT, 2u), ~0u, v) == ~0u;
        plain_store(value_at(v), root ? 0u : 1u);
        return root;
    case STEP_REACH:
        uint pivot = control_load(CONTROL_PIVOT);
        root = pivot != ~0u ? v == pivot : value == hash_mix(v);
        break;
    default:
        plain_store(class_at(v), value);
        plain_store(value_at(v), hash_mix(v));
        return true;
    }
    if (root) {
        plain_store(mark_at(v), v);
        plain_store(class_at(v), DONE);
    } else {
        plain_store(value_at(v), value);
    }
    return root;
}

void main() {
    uint step = step_begin(graph), mode = control_load(CONTROL_MODE);
    if (workgroup_lane() == 0u) round_now = control_load(CONTROL_ROUND);
    barrier();
    if (mode == MODE_EXPAND) {
        expand_ordered();
        return;
    }
    uint first = workgroup_of_all(dispatch, dispatches) * BATCH * WORKGROUP + workgroup_lane();
    uint u[BATCH], taken[BATCH], best = ~0u;
    [[unroll]] for (uint i = 0u; i < BATCH; i++) {
        u[i] = first + i * WORKGROUP;
        taken[i] = TAKEN_NOT;
        if (u[i] >= graph.vertices || plain_load(class_at(u[i])) == DONE) continue;
        if (step == STEP_SCORE)
            best = min(best, ~min(degree_at(graph.offsets, u[i]), degree_at(graph.weights, u[i])));
        else if (scanned(step, u[i])) taken[i] = TAKEN_NEXT;
    }
    queue_push(u, taken);
    uint of_all = subgroupMin(best);
    if (gl_SubgroupInvocationID == 0u && of_all != ~0u) lower(address_at(control, CONTROL_SCORE, 2u), of_all);
}
#endif
