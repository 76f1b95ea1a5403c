// Marks what of a run is valid, if the run is all there is: the last pair of each key, unless it is a tombstone.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sorted_run.glsl"
#include "invocation.glsl"
#define BITMAP_BITS (32u * WORKGROUP)
#include "bitmap.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys, values;
    uvec2 tombstones;   // a bit a pair, or 0: there are none
    uvec2 flags;        // a bit a pair, out
    uint count;
};

void main() {
    uint first = workgroup_index() * BITMAP_BITS;
    if (first >= count) return;   // the whole workgroup
    Run run = Run(keys, values, tombstones, uvec2(0u), count);
    bitmap_clear();
    barrier();
    for (uint place = workgroup_lane(); place < BITMAP_BITS; place += WORKGROUP) {
        uint i = first + place;
        bool valid = i < count;
        if (valid) {
            if (i + 1u < count) valid = run_key(run, i) != run_key(run, i + 1u);
            if (valid) valid = !run_tombstone(run, i, run_value(run, i));
        }
        bitmap_set_all(place, valid);
    }
    barrier();
    bitmap_store(address_at(flags, first >> 5, 2u), min(count - first, BITMAP_BITS));
}
