// Merge tile: a workgroup merges its share of two sorted runs in shared memory.
//
// A tile is MERGE_TILE outputs, WORKGROUP * MERGE_ITEMS: a multiple of 32, so that bitmaps of tiles meet at words. Its
// keys come into shared memory, each lane finds by merge path where its MERGE_ITEMS outputs begin, and notes where
// each comes from. What becomes of the outputs is the kernel's business: it walks them in order, with neighbouring
// lanes at neighbouring outputs.
//
//     MergeTile tile = merge_tile(runs, merge_tile_ends(runs, first, last), first, last);
//     for (uint i = workgroup_lane(); i < tile.count; i += WORKGROUP) {
//         MergeSource from = merge_source(tile, i);      // from.a: of A or of B; from.index: which of its elements
//         ... from.key, output first + i
//     }
//
// What else elements have, values say, may be loaded by their source, but is faster brought along, a word an element:
//
//     MergeTile tile = merge_tile(ends, first, last);
//     uint keys[MERGE_ITEMS], values[MERGE_ITEMS];
//     merge_fetch(tile, runs.a, runs.b, keys);         // loads of both are in flight together
//     merge_fetch(tile, a_values, b_values, values);
//     merge_put(keys);
//     merge_order(tile, runs.mask);
//     ... merge_word(i) is the key of output i
//     merge_put(values);
//     ... merge_word(i) is the value of output i
#ifndef VKDS_MERGE_TILE_GLSL
#define VKDS_MERGE_TILE_GLSL

#include "merge_path.glsl"
#include "workgroup.glsl"

layout(constant_id = 16) const uint MERGE_ITEMS = 9;   // odd, so that lanes writing side by side use different banks
const uint MERGE_TILE = WORKGROUP * MERGE_ITEMS;

shared uint merge_words[MERGE_TILE + MERGE_ITEMS];   // A's part, then B's, then what is read but not used
shared uint merge_sources[MERGE_TILE];               // of each output: its place in merge_words
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

// The same, read from what merge_split found for all tiles.
uvec2 merge_tile_splits(MergePair p, uvec2 splits, uint tile, uint first, uint last) {
    uvec2 ends = uvec2(plain_load(address_at(splits, tile, 2u)), plain_load(address_at(splits, tile + 1u, 2u)));
    uvec2 at = uvec2(first, last);   // no end lies outside of the runs, whatever splits say
    return clamp(ends, at - min(at, uvec2(p.b_count)), min(at, uvec2(p.a_count)));
}

// The one or the other: splits has an address where they were found.
uvec2 merge_tile_ends(MergePair p, uvec2 splits, uint tile, uint first, uint last) {
    if ((splits.x | splits.y) == 0u) return merge_tile_ends(p, first, last);
    return merge_tile_splits(p, splits, tile, first, last);
}

// The tile of outputs [first, last), at most MERGE_TILE and at least one, whose elements of A are [ends.x, ends.y).
MergeTile merge_tile(uvec2 ends, uint first, uint last) {
    uint a = min(ends.x, first);
    return MergeTile(a, first - a, min(ends.y - a, last - first), last - first);
}

// Loads the tile's words from two arrays that have one for each element of A and of B. No lane has what belongs to
// its own outputs, and lanes beyond the end repeat the last, so that no branch holds loads up.
void merge_fetch(MergeTile t, uvec2 a, uvec2 b, out uint words[MERGE_ITEMS]) {
    uvec2 a_words = address_at(a, t.a, 2u);
    uvec2 b_words = address_at(b, t.b, 2u);
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) {
        uint at = min(i * WORKGROUP + workgroup_lane(), t.count - 1u);
        words[i] = plain_load_near(at < t.a_count ? a_words : b_words, at < t.a_count ? at : at - t.a_count);
    }
}

// Puts fetched words into shared memory, in place of those before. Collective over the workgroup.
void merge_put(uint words[MERGE_ITEMS]) {
    barrier();
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) merge_words[i * WORKGROUP + workgroup_lane()] = words[i];
    barrier();
}

// Finds where each output comes from, of the keys in shared memory. Collective over the workgroup.
void merge_order(MergeTile t, uint mask) {
    uint begin = workgroup_lane() * MERGE_ITEMS;
    uint diagonal = min(begin, t.count);
    uint low = diagonal - min(diagonal, t.count - t.a_count);
    uint high = min(diagonal, t.a_count);
    while (low < high) {
        uint middle = (low + high) >> 1;
        bool passes = (merge_words[middle] & mask) <= (merge_words[t.a_count + diagonal - 1u - middle] & mask);
        if (passes) low = middle + 1u;
        else high = middle;
    }

    uint a = low;
    uint b = t.a_count + diagonal - low;
    uint a_key = merge_words[a] & mask;
    uint b_key = merge_words[b] & mask;
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) {
        bool takes_a = a < t.a_count && (b >= t.count || a_key <= b_key);
        uint source = takes_a ? a : b;
        merge_sources[begin + i] = source;   // of outputs beyond the end, nothing of meaning
        uint next = source + 1u;
        uint key = merge_words[next] & mask;
        if (takes_a) { a = next; a_key = key; }
        else { b = next; b_key = key; }
    }
    barrier();
}

// The word in shared memory that belongs to output i of the tile.
uint merge_word(uint i) { return merge_words[merge_sources[i]]; }

// All of a tile at once: its keys fetched, put and ordered. Collective over the workgroup.
MergeTile merge_tile(MergePair p, uvec2 ends, uint first, uint last) {
    MergeTile t = merge_tile(ends, first, last);
    uint keys[MERGE_ITEMS];
    merge_fetch(t, p.a, p.b, keys);
    merge_put(keys);
    merge_order(t, p.mask);
    return t;
}

// Where output i of the tile comes from, while the keys are in shared memory.
MergeSource merge_source(MergeTile t, uint i) {
    uint at = merge_sources[i];
    bool a = at < t.a_count;
    return MergeSource(a, a ? t.a + at : t.b + at - t.a_count, merge_words[at]);
}

#endif
