// Merge tile: a workgroup merges its share of two sorted runs in shared memory.
//
// A tile is MERGE_TILE outputs, WORKGROUP * MERGE_ITEMS: a multiple of 32, so that bitmaps of tiles meet at words. The
// tile's keys are loaded into shared memory; each lane finds by merge path where its MERGE_ITEMS outputs begin, and
// notes where each comes from. What becomes of the outputs is the kernel's business: it walks them in order, with
// neighbouring lanes at neighbouring outputs, and fetches whatever else an element has from its source. That is as
// good as a coalesced load, since neighbouring outputs come from two neighbourhoods:
//
//     MergeTile tile = merge_tile(runs, begin, end, first, last);
//     for (uint i = workgroup_lane(); i < tile.count; i += WORKGROUP) {
//         MergeSource from = merge_source(tile, i);      // from.a: of A or of B; from.index: which of its elements
//         ... from.key, output first + i
//     }
#ifndef VKDS_MERGE_TILE_GLSL
#define VKDS_MERGE_TILE_GLSL

#include "merge_path.glsl"
#include "workgroup.glsl"

layout(constant_id = 3) const uint MERGE_ITEMS = 7;   // odd, so that lanes writing side by side use different banks
const uint MERGE_TILE = WORKGROUP * MERGE_ITEMS;

shared uint merge_keys[MERGE_TILE];      // A's part, then B's
shared uint merge_sources[MERGE_TILE];   // of each output: its place in merge_keys
shared uint merge_ends[2];

struct MergeTile {
    uint a, b;      // where its parts begin in A and B
    uint a_count;   // elements that are A's
    uint count;     // outputs
};

struct MergeSource {
    bool a;       // of A, else of B
    uint index;   // in that run
    uint key;
};

// Where output `first` and output `last` of the merge are on A: merge_path of both, by the workgroup. Collective.
uvec2 merge_tile_ends(MergePair p, uint first, uint last) {
    for (uint i = gl_SubgroupID; i < 2u; i += gl_NumSubgroups) {
        uint at = merge_path_subgroup(p, i == 0u ? first : last);
        if (subgroupElect()) merge_ends[i] = at;
    }
    barrier();
    return uvec2(merge_ends[0], merge_ends[1]);
}

// The same, read from what merge_split found for all tiles, where that has an address.
uvec2 merge_tile_ends(MergePair p, uvec2 splits, uint tile, uint first, uint last) {
    if ((splits.x | splits.y) == 0u) return merge_tile_ends(p, first, last);
    return uvec2(plain_load(address_at(splits, tile, 2u)), plain_load(address_at(splits, tile + 1u, 2u)));
}

// Merges outputs [first, last), at most MERGE_TILE and at least one, whose elements of A are [ends.x, ends.y).
// Collective over the workgroup, once.
MergeTile merge_tile(MergePair p, uvec2 ends, uint first, uint last) {
    MergeTile t = MergeTile(ends.x, first - ends.x, ends.y - ends.x, last - first);
    uint lane = workgroup_lane();

    // Loads without branches between them are in flight together; lanes beyond the end repeat the last.
    uint keys[MERGE_ITEMS];
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) {
        uint at = min(i * WORKGROUP + lane, t.count - 1u);
        bool a = at < t.a_count;
        keys[i] = plain_load(address_at(a ? p.a : p.b, a ? t.a + at : t.b + at - t.a_count, 2u));
    }
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) merge_keys[i * WORKGROUP + lane] = keys[i];
    barrier();

    uint begin = lane * MERGE_ITEMS;
    uint diagonal = min(begin, t.count);
    uint low = diagonal - min(diagonal, t.count - t.a_count);
    uint high = min(diagonal, t.a_count);
    while (low < high) {
        uint middle = (low + high) >> 1;
        bool passes = (merge_keys[middle] & p.mask) <= (merge_keys[t.a_count + diagonal - 1u - middle] & p.mask);
        if (passes) low = middle + 1u;
        else high = middle;
    }

    uint a = low;
    uint b = t.a_count + diagonal - low;
    uint a_key = merge_keys[min(a, MERGE_TILE - 1u)] & p.mask;
    uint b_key = merge_keys[min(b, MERGE_TILE - 1u)] & p.mask;
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) {
        bool takes_a = a < t.a_count && (b >= t.count || a_key <= b_key);
        uint source = takes_a ? a : b;
        merge_sources[begin + i] = source;   // of outputs beyond the end, nothing of meaning
        uint next = source + 1u;
        uint key = merge_keys[min(next, MERGE_TILE - 1u)] & p.mask;
        if (takes_a) { a = next; a_key = key; }
        else { b = next; b_key = key; }
    }
    barrier();
    return t;
}

// Where output i of the tile comes from.
MergeSource merge_source(MergeTile t, uint i) {
    uint at = merge_sources[i];
    bool a = at < t.a_count;
    return MergeSource(a, a ? t.a + at : t.b + at - t.a_count, merge_keys[at]);
}

#endif
