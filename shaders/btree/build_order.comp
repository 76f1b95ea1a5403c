// Checks whether keys ascend, without equal ones, and marks the last of equal consecutive keys by a bit.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "width.glsl"
#include "length.glsl"

const uint EACH = 8u;   // keys per invocation

#define BITMAP_BITS (EACH * WORKGROUP)
#include "../primitives/bitmap.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;       // K per key
    uvec2 flags;      // 0, or output: one bit per key
    uvec2 disorder;   // output: set to the number of keys if a key is not above the one before; otherwise not changed
    Length length;
};

shared bool known;        // another workgroup has found disorder, and no marks are wanted
shared uint disordered;   // not 0: this workgroup has found disorder

void main() {
    uint count = length_of(length);
    uint first = workgroup_index() * BITMAP_BITS;
    if (first >= count) return;   // the whole workgroup
    bool marks = (flags.x | flags.y) != 0u;
    if (marks) bitmap_clear();
    if (workgroup_lane() == 0u) {
        known = !marks && atomic_load(disorder) != 0u;
        disordered = 0u;
    }
    barrier();
    if (known) return;   // the whole workgroup
    K key[EACH], next[EACH];
    uvec2 from = address_at(keys, first, VKDS_SHIFT);
    uint last = count - 1u - first;
    [[unroll]] for (uint r = 0u; r < EACH; r++) {
        uint i = min(r * WORKGROUP + workgroup_lane(), last);
        key[r] = VKDS_LOAD_NEAR(from, i);
        next[r] = VKDS_LOAD_NEAR(from, min(i + 1u, last));
    }
    bool ascends = true;
    [[unroll]] for (uint r = 0u; r < EACH; r++) {
        uint place = r * WORKGROUP + workgroup_lane();
        uint i = first + place;
        ascends = ascends && (i + 1u >= count || VKDS_BELOW(key[r], next[r]));
        if (marks) bitmap_set_all(place, i < count && (i + 1u == count || key[r] != next[r]));
    }
    bool all_ascend = subgroupAll(ascends);
    if (!all_ascend && subgroupElect()) atomicOr(disordered, 1u, gl_ScopeWorkgroup, 0, 0);
    barrier();
    // One store per workgroup, so that few contend for the word.
    if (workgroup_lane() == 0u && disordered != 0u) atomic_store(disorder, count);
    if (marks) bitmap_store(address_at(flags, first >> 5, 2u), min(count - first, BITMAP_BITS));
}
