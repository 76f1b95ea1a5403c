// Cores, by peeling: a vertex with at most k arcs left is in core k, and its arcs are removed from its neighbours. If
// no such vertex is left, k grows (Batagelj and Zaversnik, An O(m) Algorithm for Cores Decomposition of Networks, 2003;
// in rounds as in Kabir and Madduri, Parallel k-Core Decomposition on Multicore Platforms, 2017).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "traversal.glsl"

// Push constants. values: the number of arcs left; extra: cores, ~0 if not peeled yet.
const uint CONTROL_K = CONTROL_OWN;
const uint CONTROL_LEAST = CONTROL_OWN + 1u;   // after a scan: the least number of arcs left, above k, of any vertex

const uint MODE_SCAN = MODE_OWN;

shared uint k_now;

uint departure_value(uint v) { return 0u; }

uvec2 arrival_look(uint u, uint place) { return uvec2(atomic_load(address_at(values, u, 2u)), 0u); }

uint arrival_take(uint u, uvec2 looked, uint value, uint from) {
    if (looked.x <= k_now) return TAKEN_NOT;
    if (atomic_add(address_at(values, u, 2u), ~0u) != k_now + 1u) return TAKEN_NOT;
    plain_store_at(extra, u, k_now);
    return TAKEN_NEXT;
}

void keep_back(uint u[BATCH], inout uint taken[BATCH]) {}
void put_aside(uint u[BATCH], uint taken[BATCH]) {}

#ifdef SMALL
void main() {
    if (control_load(CONTROL_DONE) != 0u) return;
    uint entries, lanes;
    uint mode = rounds_begin(entries, lanes);
    uint k = control_load(CONTROL_K), least = control_load(CONTROL_LEAST);
    if (workgroup_lane() == 0u) k_now = k;
    barrier();
    bool none = entries == 0u && mode == MODE_SCAN;   // no vertex has at most k arcs
    expand_rounds(entries, lanes, rounds);
    if (workgroup_lane() != 0u) return;
    control_lengths(entries, lanes);
    if (none && least == ~0u) {
        control_end();
    } else if (entries == 0u) {
        plain_store_at(control, CONTROL_K, none ? least : k + 1u);
        plain_store_at(control, CONTROL_LEAST, ~0u);
        control_order(MODE_SCAN, (graph.vertices + BATCH * LARGE_GROUP - 1u) / (BATCH * LARGE_GROUP));
    } else if (frontier_small(entries, lanes)) {
        control_order(MODE_NONE, 0u);
    } else {
        control_expand(MODE_EXPAND, entries, lanes);
    }
}
#else
void main() {
    uint mode = control_load(CONTROL_MODE);
    if (workgroup_lane() == 0u) {
        round_now = control_load(CONTROL_ROUND);
        k_now = control_load(CONTROL_K);
    }
    barrier();
    if (mode == MODE_EXPAND) {
        expand_ordered();
        return;
    }
    uint first = workgroup_of_all(dispatch, dispatches) * BATCH * WORKGROUP + workgroup_lane();
    uint u[BATCH], taken[BATCH], least = ~0u;
    [[unroll]] for (uint i = 0u; i < BATCH; i++) {
        u[i] = first + i * WORKGROUP;
        taken[i] = TAKEN_NOT;
        if (u[i] < graph.vertices && plain_load_at(extra, u[i]) == ~0u) {
            uint left = plain_load_at(values, u[i]);
            if (left <= k_now) {
                taken[i] = TAKEN_NEXT;
                plain_store_at(extra, u[i], k_now);
            } else {
                least = min(least, left);
            }
        }
    }
    queue_push(u, taken);
    uint of_all = subgroupMin(least);
    if (gl_SubgroupInvocationID == 0u && of_all != ~0u) lower(address_at(control, CONTROL_LEAST, 2u), of_all);
}
#endif
