// Marks the valid pairs of a stack with a single run: the last pair of each key, unless it is a tombstone.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sorted_run.glsl"
#include "invocation.glsl"
#include "trace.glsl"

const uint EACH = 8u;   // pairs per invocation

#define BITMAP_BITS (EACH * WORKGROUP)
#include "../primitives/bitmap.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys, values;
    uvec2 tombstones;   // one bit per pair, or 0: there are none
    uvec2 flags;        // output: one bit per pair
    uint count;
};

void main() {
    uint first = workgroup_index() * BITMAP_BITS;
    if (first >= count) return;   // the whole workgroup
    VKDS_EVENT(first == 0u && workgroup_lane() == 0u, TRACE_MARK, trace_line(keys), count)
    Run run = Run(keys, values, tombstones, uvec2(0u), count);
    uvec2 own_keys = address_at(keys, first, VKDS_SHIFT), own_values = address_at(values, first, VKDS_SHIFT);
    bitmap_clear();
    // Loads are only in flight together if no branch is between them.
    K key[EACH], next[EACH];
    V value[EACH];
    [[unroll]] for (uint r = 0u; r < EACH; r++) {
        uint i = min(r * WORKGROUP + workgroup_lane(), count - first - 1u);
        key[r] = VKDS_LOAD_NEAR(own_keys, i);
        next[r] = VKDS_LOAD_NEAR(own_keys, min(i + 1u, count - first - 1u));
        value[r] = VKDS_LOAD_NEAR(own_values, i);
    }
    barrier();
    [[unroll]] for (uint r = 0u; r < EACH; r++) {
        uint place = r * WORKGROUP + workgroup_lane();
        uint i = first + place;
        bool valid = i < count && (i + 1u == count || key[r] != next[r]);
        if (valid) valid = !run_tombstone(run, i, value[r]);
        bitmap_set_all(place, valid);
    }
    barrier();
    bitmap_store(address_at(flags, first >> 5, 2u), min(count - first, BITMAP_BITS));
}
