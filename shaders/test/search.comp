// For test/shader: search.glsl and merge_path.glsl, at both widths.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "search.glsl"
#include "../primitives/merge_path.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 numbers;   // keys, ascending
    uvec2 others;    // keys, ascending by the bits of `mask`
    uvec2 keys;      // one per invocation: the key to search for
    uvec2 searches;  // four words per invocation: a range of numbers; a diagonal of their merge with others; unused
    uvec2 answers;   // two quads per invocation. First: lower bound, upper bound, the number of keys below the key in
                     // the sector at the range's start (0 if the array ends before), the merge path. Second: the same
                     // for the subgroup's first lane, by the whole subgroup
    uvec2 mask;
    uint number_count, other_count;
    uint count;      // a multiple of the workgroup size
};

const uint SECTOR = 32u >> KEY_SHIFT;

void main() {
    uint i = invocation_index();
    if (i >= count) return;   // the whole workgroup
    MergePair p = MergePair(numbers, others, number_count, other_count, K(mask));
    uvec4 s = plain_load4(address_at(searches, i, 4u));
    K key = key_load_at(keys, i);
    uvec4 own = uvec4(lower_bound(numbers, s.x, s.y, key), upper_bound(numbers, s.x, s.y, key), 0u, merge_path(p, s.z));
    uint aligned = s.x & ~3u;
    if (aligned + SECTOR <= number_count)
        own.z = lower_bound_sector(address_at(numbers, aligned, KEY_SHIFT), key);
    s = subgroupBroadcastFirst(s);
    key = subgroupBroadcastFirst(key);
    uvec4 all = uvec4(lower_bound_subgroup(numbers, s.x, s.y, key), 0u, 0u, merge_path_subgroup(p, s.z));
    plain_store4(address_at(answers, 2u * i, 4u), own);
    plain_store4(address_at(answers, 2u * i + 1u, 4u), all);
}
