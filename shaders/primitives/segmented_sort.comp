// Sorts the segments that fit a workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "search.glsl"
#include "segment_merge.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys, values;           // values: 0 for keys only
    uvec2 out_keys, out_values;
    uvec2 offsets;                // segments + 1 words: the first element of each segment, and the end of the last one
    uint segments;
    uint most;                    // the number of elements. Greater offsets count as this number
};

shared uint tile_ends[2];

uint offset(uint segment) { return min(plain_load_at(offsets, segment), most); }

// The segments that begin in the workgroup's part of the array. Collective over the workgroup.
uvec2 tile_segments(uint tile_first) {
    for (uint i = gl_SubgroupID; i < 2u; i += gl_NumSubgroups) {
        uint at = lower_bound_subgroup(offsets, 0u, segments, tile_first + i * SEGMENT_STRIDE);
        if (subgroupElect()) tile_ends[i] = at;
    }
    barrier();
    return uvec2(tile_ends[0], tile_ends[1]);
}

// The lane's elements, from place `begin` of the tile on. The tile has `count` elements, and begins at element `first`.
void held_load(uvec2 tile, uint first, uint count, uint begin, out K key[SEGMENT_ITEMS],
               out uint source[SEGMENT_ITEMS]) {
    uint segment = NO_SEGMENT;
    uint segment_last = 0u;   // its end in the tile
    [[unroll]] for (uint i = 0u; i < SEGMENT_ITEMS; i++) {
        uint at = begin + i;
        if (at >= count) segment = NO_SEGMENT;
        else if (at >= segment_last) {
            uint s = upper_bound(offsets, tile.x + 1u, tile.y, first + at) - 1u;
            segment = plain_load_at(offsets, s) - first;
            segment_last = plain_load_at(offsets, s + 1u) - first;
        }
        key[i] = tile_keys[at];
        source[i] = (segment << 16) | at;
    }
}

void main() {
    uint lane = workgroup_lane();
    uint tile_first = workgroup_index() * SEGMENT_STRIDE;
    if (tile_first >= offset(segments)) return;   // the whole workgroup
    uvec2 tile = tile_segments(tile_first);
    if (tile.x >= tile.y) return;   // the whole workgroup
    uint first = offset(tile.x), last = offset(tile.y), long_begin = offset(tile.y - 1u);
    if (!segment_fits(long_begin, last)) last = long_begin;
    uint count = min(last - min(first, last), SEGMENT_TILE);

    uvec2 from_keys = address_at(keys, first, KEY_SHIFT);
    for (uint at = lane; at < count; at += WORKGROUP) tile_keys[at] = key_load_near(from_keys, at);
    barrier();
    K key[SEGMENT_ITEMS];
    uint source[SEGMENT_ITEMS];
    held_load(tile, first, count, lane * SEGMENT_ITEMS, key, source);
    held_sort(key, source);
    held_store(key, source, lane * SEGMENT_ITEMS);
    barrier();
    tile_merge(count);

    bool pairs = (values.x | values.y) != 0u;
    uvec2 from_values = address_at(values, first, VALUE_SHIFT);
    uvec2 to_keys = address_at(out_keys, first, KEY_SHIFT);
    uvec2 to_values = address_at(out_values, first, VALUE_SHIFT);
    for (uint at = lane; at < count; at += WORKGROUP) {
        uint from = min(tile_sources[at] & 0xffffu, count - 1u);
        key_store_near(to_keys, at, tile_keys[at]);
        if (pairs) value_store_near(to_values, at, value_load_near(from_values, from));
    }
}
