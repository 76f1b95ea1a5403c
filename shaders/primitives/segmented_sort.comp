// Sorts the segments that fit a workgroup: merge sort in shared memory, in which only what is of one segment changes
// places (Baxter, Modern GPU, Segmented Sort, 2013).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "search.glsl"
#include "segment_tile.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys, values;           // values: 0 for keys alone
    uvec2 out_keys, out_values;
    uvec2 offsets;                // where each segment begins, and the last one's end
    uint segments;
};

// Of each place in the tile: the key, and where the segment begins in the tile, with where the element came from.
shared uint tile_keys[SEGMENT_TILE];
shared uint tile_sources[SEGMENT_TILE];   // segment << 16 | place before
shared uint tile_ends[2];

const uint NO_SEGMENT = 0xffffu;

uint segment_of(uint source) { return source >> 16; }

// Whether an element at x's place is to come after one at y's, which is further on.
bool follows(uint x_source, uint x_key, uint y_source, uint y_key) {
    return segment_of(x_source) == segment_of(y_source) && x_key > y_key;
}

void main() {
    uint lane = workgroup_lane();
    uint total = plain_load(address_at(offsets, segments, 2u));
    uint tile_first = workgroup_index() * SEGMENT_STRIDE;
    if (tile_first >= total) return;   // the whole workgroup

    for (uint i = gl_SubgroupID; i < 2u; i += gl_NumSubgroups) {
        uint at = lower_bound_subgroup(offsets, 0u, segments, tile_first + i * SEGMENT_STRIDE);
        if (subgroupElect()) tile_ends[i] = at;
    }
    barrier();
    uint segment_begin = tile_ends[0];
    uint segment_end = tile_ends[1];
    if (segment_begin == segment_end) return;   // the whole workgroup
    uint first = plain_load(address_at(offsets, segment_begin, 2u));
    uint last = plain_load(address_at(offsets, segment_end, 2u));
    uint long_begin = plain_load(address_at(offsets, segment_end - 1u, 2u));
    if (!segment_fits(long_begin, last)) last = long_begin;
    uint count = min(last - first, SEGMENT_TILE);

    uvec2 from_keys = address_at(keys, first, 2u);
    for (uint at = lane; at < count; at += WORKGROUP) tile_keys[at] = plain_load_near(from_keys, at);
    barrier();

    // Each lane sorts its own few elements.
    uint begin = lane * SEGMENT_ITEMS;
    uint held[SEGMENT_ITEMS];
    uint source[SEGMENT_ITEMS];
    uint segment = NO_SEGMENT;
    uint segment_last = 0u;   // its end, in the tile
    [[unroll]] for (uint i = 0u; i < SEGMENT_ITEMS; i++) {
        uint at = begin + i;
        if (at >= count) segment = NO_SEGMENT;
        else if (at >= segment_last) {
            uint s = upper_bound(offsets, segment_begin, segment_end, first + at) - 1u;
            segment = plain_load(address_at(offsets, s, 2u)) - first;
            segment_last = plain_load(address_at(offsets, s + 1u, 2u)) - first;
        }
        held[i] = tile_keys[at];
        source[i] = (segment << 16) | at;
    }
    [[unroll]] for (uint round = 0u; round < SEGMENT_ITEMS; round++) {
        [[unroll]] for (uint i = round & 1u; i + 1u < SEGMENT_ITEMS; i += 2u) {
            if (follows(source[i], held[i], source[i + 1u], held[i + 1u])) {
                uint key = held[i];
                held[i] = held[i + 1u];
                held[i + 1u] = key;
                uint place = source[i];
                source[i] = source[i + 1u];
                source[i + 1u] = place;
            }
        }
    }
    [[unroll]] for (uint i = 0u; i < SEGMENT_ITEMS; i++) {
        tile_keys[begin + i] = held[i];
        tile_sources[begin + i] = source[i];
    }
    barrier();

    // Then two sorted blocks after another become one, where a segment is in both.
    for (uint lanes = 1u; lanes < WORKGROUP; lanes *= 2u) {
        uint width = lanes * SEGMENT_ITEMS;
        uint left = (lane & ~(2u * lanes - 1u)) * SEGMENT_ITEMS;
        uint middle = left + width;
        uint seam = NO_SEGMENT;
        if (middle < count) {
            uint before = segment_of(tile_sources[middle - 1u]);
            if (before == segment_of(tile_sources[middle])) seam = before;
        }
        // The lanes with a place of that segment. A place is always one segment's, whichever element it has.
        bool merges = seam != NO_SEGMENT && segment_of(tile_sources[begin]) <= seam
            && segment_of(tile_sources[begin + SEGMENT_ITEMS - 1u]) >= seam;
        if (merges) {
            // Merge path, over the whole of both blocks: before and behind the segment it is straight.
            uint diagonal = begin - left;
            uint low = diagonal - min(diagonal, width);
            uint high = min(diagonal, width);
            while (low < high) {
                uint a = (low + high) >> 1;
                uint x = left + a;
                uint y = middle + diagonal - 1u - a;
                uint x_source = tile_sources[x];
                uint y_source = tile_sources[y];
                bool x_first = segment_of(x_source) < segment_of(y_source)
                    || segment_of(x_source) == segment_of(y_source) && tile_keys[x] <= tile_keys[y];
                if (x_first) low = a + 1u;
                else high = a;
            }
            uint x = left + low;
            uint y = middle + diagonal - low;
            [[unroll]] for (uint i = 0u; i < SEGMENT_ITEMS; i++) {
                bool more_x = x < middle;
                bool more_y = y < middle + width;
                uint x_at = more_x ? x : y;
                uint y_at = more_y ? y : x;
                uint x_source = tile_sources[x_at];
                uint y_source = tile_sources[y_at];
                uint x_key = tile_keys[x_at];
                uint y_key = tile_keys[y_at];
                bool x_first = segment_of(x_source) < segment_of(y_source)
                    || segment_of(x_source) == segment_of(y_source) && x_key <= y_key;
                bool takes_x = more_x && (!more_y || x_first);
                held[i] = takes_x ? x_key : y_key;
                source[i] = takes_x ? x_source : y_source;
                if (takes_x) x++;
                else y++;
            }
        }
        barrier();
        if (merges) {
            [[unroll]] for (uint i = 0u; i < SEGMENT_ITEMS; i++) {
                tile_keys[begin + i] = held[i];
                tile_sources[begin + i] = source[i];
            }
        }
        barrier();
    }

    bool pairs = (values.x | values.y) != 0u;
    uvec2 from_values = address_at(values, first, 2u);
    uvec2 to_keys = address_at(out_keys, first, 2u);
    uvec2 to_values = address_at(out_values, first, 2u);
    for (uint at = lane; at < count; at += WORKGROUP) {
        plain_store_near(to_keys, at, tile_keys[at]);
        if (pairs) plain_store_near(to_values, at, plain_load_near(from_values, tile_sources[at] & 0xffffu));
    }
}
