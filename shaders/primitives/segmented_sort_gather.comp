// Collects the elements of long segments, one per lane.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "key.glsl"
#include "length.glsl"
#include "search.glsl"
#include "segment_tile.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 offsets;       // the first element of each segment
    uvec2 starts;        // for each segment, the number of elements of long segments before it
    Length count;        // the number of elements of all long segments
    uvec2 long_keys;     // output: their keys
    uvec2 indices;       // output: 0, 1, 2, …
    uvec2 sources;       // output: their indices among all elements
    uvec2 in_segment;    // output: a number for the segment of each; these ascend
    uint segments;
};

void main() {
    uint i = invocation_index();
    if (i >= length_of(count)) return;
    uint segment = upper_bound(starts, 1u, segments, i) - 1u;   // of several segments with the same start, all but the
                                                                // last are short
    uint start = plain_load(address_at(starts, segment, 2u));
    uint source = min(plain_load(address_at(offsets, segment, 2u)) + i - start, count.n - 1u);
    key_store_at(long_keys, i, key_load_at(keys, source));
    plain_store(address_at(indices, i, 2u), i);
    plain_store(address_at(sources, i, 2u), source);
    // Long segments are longer than the divisor, so their numbers differ.
    plain_store(address_at(in_segment, i, 2u), start / (SEGMENT_TILE - SEGMENT_STRIDE));
}
