// Segment merge: merge sort of a tile in shared memory, in which elements move only within their segments (Baxter,
// Modern GPU, Segmented Sort, 2013). Collective over the workgroup.
#ifndef VKDS_SEGMENT_MERGE_GLSL
#define VKDS_SEGMENT_MERGE_GLSL

#include "key.glsl"
#include "segment_tile.glsl"
#include "workgroup.glsl"

// For each place in the tile: the key, and a source, which tells the segment and where the element came from.
shared K tile_keys[SEGMENT_TILE];
shared uint tile_sources[SEGMENT_TILE];   // the segment's first place in the tile << 16 | the element's place before

const uint NO_SEGMENT = 0xffffu;

uint segment_of(uint source) { return source >> 16; }

// Whether an element at x must come after one at y, which is further on.
bool follows(uint x_source, K x_key, uint y_source, K y_key) {
    bool y_below = number_below(y_key, x_key);
    return segment_of(x_source) == segment_of(y_source) && y_below;
}

// Whether the element at x, in the first block, comes before the one at y, in the second block, in their merge.
bool precedes(uint x_source, K x_key, uint y_source, K y_key) {
    bool y_below = number_below(y_key, x_key);
    return segment_of(x_source) < segment_of(y_source)
        || segment_of(x_source) == segment_of(y_source) && !y_below;
}

// Puts a lane's elements into the tile, from place `begin` on.
void held_store(K key[SEGMENT_ITEMS], uint source[SEGMENT_ITEMS], uint begin) {
    [[unroll]] for (uint i = 0u; i < SEGMENT_ITEMS; i++) {
        tile_keys[begin + i] = key[i];
        tile_sources[begin + i] = source[i];
    }
}

// Sorts a lane's elements, by exchanges of neighbours.
void held_sort(inout K key[SEGMENT_ITEMS], inout uint source[SEGMENT_ITEMS]) {
    [[unroll]] for (uint round = 0u; round < SEGMENT_ITEMS; round++) {
        [[unroll]] for (uint i = round & 1u; i + 1u < SEGMENT_ITEMS; i += 2u) {
            if (follows(source[i], key[i], source[i + 1u], key[i + 1u])) {
                K former = key[i];
                key[i] = key[i + 1u];
                key[i + 1u] = former;
                uint former_source = source[i];
                source[i] = source[i + 1u];
                source[i + 1u] = former_source;
            }
        }
    }
}

// Two sorted blocks of `width` places, one after the other.
struct Blocks {
    uint left;     // the first place of the first block
    uint middle;   // the first place of the second block
    uint width;
};

// Whether any of the lane's places, from `begin` on, is in a segment that is in both blocks. A place always belongs to
// the same segment, whichever element is there.
bool blocks_meet(Blocks b, uint begin, uint count) {
    uint seam = NO_SEGMENT;
    if (b.middle < count) {
        uint before = segment_of(tile_sources[b.middle - 1u]);
        if (before == segment_of(tile_sources[b.middle])) seam = before;
    }
    return seam != NO_SEGMENT && segment_of(tile_sources[begin]) <= seam
        && segment_of(tile_sources[begin + SEGMENT_ITEMS - 1u]) >= seam;
}

// The number of elements of the first block among the first `diagonal` ones of the merge: merge path over both whole
// blocks. Outside of the shared segment, the path is straight.
uint blocks_path(Blocks b, uint diagonal) {
    uint low = diagonal - min(diagonal, b.width);
    uint high = min(diagonal, b.width);
    while (low < high) {
        uint a = (low + high) >> 1;
        uint x = b.left + a;
        uint y = b.middle + diagonal - 1u - a;
        if (precedes(tile_sources[x], tile_keys[x], tile_sources[y], tile_keys[y])) low = a + 1u;
        else high = a;
    }
    return low;
}

// The elements that the merge of both blocks puts at the lane's places.
void blocks_merge(Blocks b, uint begin, out K key[SEGMENT_ITEMS], out uint source[SEGMENT_ITEMS]) {
    uint diagonal = begin - b.left, from_left = blocks_path(b, diagonal);
    uint x = b.left + from_left;
    uint y = b.middle + diagonal - from_left;
    [[unroll]] for (uint i = 0u; i < SEGMENT_ITEMS; i++) {
        bool more_x = x < b.middle;
        bool more_y = y < b.middle + b.width;
        uint x_at = more_x ? x : y;
        uint y_at = more_y ? y : x;
        uint x_source = tile_sources[x_at];
        uint y_source = tile_sources[y_at];
        K x_key = tile_keys[x_at];
        K y_key = tile_keys[y_at];
        bool takes_x = more_x && (!more_y || precedes(x_source, x_key, y_source, y_key));
        key[i] = takes_x ? x_key : y_key;
        source[i] = takes_x ? x_source : y_source;
        if (takes_x) x++;
        else y++;
    }
}

// Sorts the tile. Each lane's elements must be sorted already.
void tile_merge(uint count) {
    uint lane = workgroup_lane(), begin = lane * SEGMENT_ITEMS;
    for (uint lanes = 1u; lanes < WORKGROUP; lanes *= 2u) {
        uint width = lanes * SEGMENT_ITEMS, left = (lane & ~(2u * lanes - 1u)) * SEGMENT_ITEMS;
        Blocks blocks = Blocks(left, left + width, width);
        bool meet = blocks_meet(blocks, begin, count);
        K key[SEGMENT_ITEMS];
        uint source[SEGMENT_ITEMS];
        if (meet) blocks_merge(blocks, begin, key, source);
        barrier();
        if (meet) held_store(key, source, begin);
        barrier();
    }
}

#endif
