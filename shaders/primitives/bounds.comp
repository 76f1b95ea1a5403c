// Finds the bounds of keys in a sorted array. Each lane does one query at a time.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "search_index.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;           // ascending
    Length key_count;
    uvec2 queries;
    Length query_count;
    uvec2 bounds;         // output
    uvec2 index;          // from bounds_index, or 0
    uint upper;           // 1 for upper bounds, 0 for lower ones
    uint rounds;          // queries per lane
};

shared K search_top[SEARCH_TOP];

void main() {
    uint n = length_of(key_count);
    uint count = length_of(query_count);
    uint lane = workgroup_lane();
    uint first = workgroup_index() * WORKGROUP * rounds;
    if (first >= count) return;   // the whole workgroup

    bool indexed = (index.x | index.y) != 0u;
    uint levels = index_levels(n);
    uint top = n >> level_shift(levels);
    uint start = index_start(n, levels);
    for (uint i = lane; i < top; i += WORKGROUP)
        search_top[i] = indexed && levels > 0u ? key_load_at(index, start + i) : index_sample(keys, levels, i);
    barrier();

    bool aligned = (keys.x & 15u) == 0u;
    uint last = first + min(count - first, WORKGROUP * rounds);
    for (uint i = first + lane; i < last; i += WORKGROUP) {
        // The bound is the lower bound of this key. If the addition overflows, it is after all keys.
        K key = number_add(key_load_at(queries, i), key_of(upper));

        uint low = 0u;
        uint high = top;
        while (low < high) {
            uint middle = (low + high) >> 1;
            if (number_below(search_top[middle], key)) low = middle + 1u;
            else high = middle;
        }
        if (indexed) {
            uint at = start;
            for (uint level = levels; level > 1u; level--) {
                at -= index_size(n, level - 1u);
                low <<= NODE_SHIFT;
                low += lower_bound_sector(address_at(index, at + low, KEY_SHIFT), key);
            }
            if (levels > 0u) {
                low <<= NODE_SHIFT;
                if (aligned && low + NODE_KEYS <= n) low += lower_bound_sector(address_at(keys, low, KEY_SHIFT), key);
                else low = lower_bound(keys, low, min(low + NODE_KEYS, n), key);
            }
        } else {
            uint span = 1u << level_shift(levels);
            low *= span;
            low = lower_bound(keys, low, low + min(span - 1u, n - low), key);
        }
        plain_store_at(bounds, i, number_below(key, key_of(upper)) ? n : low);
    }
}
