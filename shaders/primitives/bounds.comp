// Finds the bounds of keys in a sorted array, one query a lane at a time.
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
    uvec2 bounds;         // out
    uvec2 index;          // by bounds_index, or 0
    uint upper;           // 1 for upper bounds, 0 for lower ones
    uint rounds;          // queries a lane
};

shared uint search_top[SEARCH_TOP];

void main() {
    uint n = length_of(key_count);
    uint count = length_of(query_count);
    uint lane = workgroup_lane();
    uint first = workgroup_index() * WORKGROUP * rounds;
    if (first >= count) return;   // the whole workgroup

    bool indexed = (index.x | index.y) != 0u;
    uint levels = index_levels(n);
    uint top = n >> (3u * levels);
    uint start = index_start(n, levels);
    for (uint i = lane; i < top; i += WORKGROUP)
        search_top[i] = indexed && levels > 0u ? plain_load(address_at(index, start + i, 2u))
                                               : index_sample(keys, levels, i);
    barrier();

    bool aligned = (keys.x & 15u) == 0u;
    uint last = first + min(count - first, WORKGROUP * rounds);
    for (uint i = first + lane; i < last; i += WORKGROUP) {
        uint query = plain_load_at(queries, i);
        uint key = query + upper;   // what the bound is the lower bound of, unless that is beyond all keys

        uint low = 0u;
        uint high = top;
        while (low < high) {
            uint middle = (low + high) >> 1;
            if (search_top[middle] < key) low = middle + 1u;
            else high = middle;
        }
        if (indexed) {
            uint at = start;
            for (uint level = levels; level > 1u; level--) {
                at -= index_size(n, level - 1u);
                low <<= 3;
                low += lower_bound8(address_at(index, at + low, 2u), key);
            }
            if (levels > 0u) {
                low <<= 3;
                if (aligned && low + 8u <= n) low += lower_bound8(address_at(keys, low, 2u), key);
                else low = lower_bound(keys, low, min(low + 8u, n), key);
            }
        } else {
            uint span = 1u << (3u * levels);
            low *= span;
            low = lower_bound(keys, low, low + min(span - 1u, n - low), key);
        }
        plain_store_at(bounds, i, key < upper ? n : low);
    }
}
