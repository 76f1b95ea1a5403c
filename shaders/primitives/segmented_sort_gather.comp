// Brings the elements of long segments together, one a lane.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "key.glsl"
#include "length.glsl"
#include "search.glsl"
#include "segment_tile.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 offsets;       // where each segment begins
    uvec2 starts;        // how many elements of long segments come before each segment
    Length count;        // of them in all
    uvec2 long_keys;     // out: their keys,
    uvec2 indices;       // 0, 1, 2, …,
    uvec2 sources;       // where they are among all elements,
    uvec2 in_segment;    // and a number of each one's segment, which ascends
    uint segments;
};

void main() {
    uint i = invocation_index();
    if (i >= length_of(count)) return;
    uint segment = upper_bound(starts, 1u, segments, i) - 1u;   // of those with one start, all but the last are short
    uint start = plain_load(address_at(starts, segment, 2u));
    uint source = min(plain_load(address_at(offsets, segment, 2u)) + i - start, count.n - 1u);
    key_store_at(long_keys, i, key_load_at(keys, source));
    plain_store(address_at(indices, i, 2u), i);
    plain_store(address_at(sources, i, 2u), source);
    // Long segments begin further apart than that, so that no two have one number.
    plain_store(address_at(in_segment, i, 2u), start / (SEGMENT_TILE - SEGMENT_STRIDE));
}
