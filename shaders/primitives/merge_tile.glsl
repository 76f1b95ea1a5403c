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
// What else elements have may be loaded by their source, but values, no wider than keys, are faster brought along:
//
//     MergeTile tile = merge_tile(ends, first, last);
//     K keys[MERGE_ITEMS];
//     V values[MERGE_ITEMS];
//     merge_fetch_keys(tile, runs.a, runs.b, keys);         // loads of both are in flight together
//     merge_fetch_values(tile, a_values, b_values, values);
//     merge_put_keys(keys);
//     merge_order(tile, runs.mask);
//     ... merge_key(i) is the key of output i
//     merge_put_values(values);
//     ... merge_value(i) is the value of output i
#ifndef VKDS_MERGE_TILE_GLSL
#define VKDS_MERGE_TILE_GLSL

#include "merge_path.glsl"
#include "workgroup.glsl"

layout(constant_id = 16) const uint MERGE_ITEMS = 9;   // odd, so that lanes writing side by side use different banks
const uint MERGE_TILE = WORKGROUP * MERGE_ITEMS;

// Keys, or values in their place: A's part, then B's, then what is read but not used.
shared K merge_elements[MERGE_TILE + MERGE_ITEMS];
shared uint merge_sources[MERGE_TILE];   // of each output: its place in merge_elements
shared uint merge_ends[2];

struct MergeTile {
    uint a, b;      // where its parts begin in A and B
    uint a_count;   // elements that are A's
    uint count;     // outputs
};

struct MergeSource {
    bool a;       // of A, else of B
    uint index;   // in that run
    K key;
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

// Loads the tile's keys from two arrays that have one for each element of A and of B. No lane has what belongs to
// its own outputs, and lanes beyond the end repeat the last, so that no branch holds loads up.
void merge_fetch_keys(MergeTile t, uvec2 a, uvec2 b, out K keys[MERGE_ITEMS]) {
    uvec2 a_keys = address_at(a, t.a, KEY_SHIFT);
    uvec2 b_keys = address_at(b, t.b, KEY_SHIFT);
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) {
        uint at = min(i * WORKGROUP + workgroup_lane(), t.count - 1u);
        keys[i] = key_load_near(at < t.a_count ? a_keys : b_keys, at < t.a_count ? at : at - t.a_count);
    }
}

void merge_fetch_values(MergeTile t, uvec2 a, uvec2 b, out V values[MERGE_ITEMS]) {
    uvec2 a_values = address_at(a, t.a, VALUE_SHIFT);
    uvec2 b_values = address_at(b, t.b, VALUE_SHIFT);
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) {
        uint at = min(i * WORKGROUP + workgroup_lane(), t.count - 1u);
        values[i] = value_load_near(at < t.a_count ? a_values : b_values, at < t.a_count ? at : at - t.a_count);
    }
}

// Puts what was fetched into shared memory, in place of what was there. Collective over the workgroup.
void merge_put_keys(K keys[MERGE_ITEMS]) {
    barrier();
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) merge_elements[i * WORKGROUP + workgroup_lane()] = keys[i];
    barrier();
}

void merge_put_values(V values[MERGE_ITEMS]) {
    barrier();
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) merge_elements[i * WORKGROUP + workgroup_lane()] = K(values[i]);
    barrier();
}

// Finds where each output comes from, of the keys in shared memory. Collective over the workgroup.
void merge_order(MergeTile t, K mask) {
    uint begin = workgroup_lane() * MERGE_ITEMS;
    uint diagonal = min(begin, t.count);
    uint low = diagonal - min(diagonal, t.count - t.a_count);
    uint high = min(diagonal, t.a_count);
    while (low < high) {
        uint middle = (low + high) >> 1;
        K a_key = merge_elements[middle] & mask;
        K b_key = merge_elements[t.a_count + diagonal - 1u - middle] & mask;
        if (!number_below(b_key, a_key)) low = middle + 1u;
        else high = middle;
    }

    uint a = low;
    uint b = t.a_count + diagonal - low;
    K a_key = merge_elements[a] & mask;
    K b_key = merge_elements[b] & mask;
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) {
        bool b_below = number_below(b_key, a_key);
        bool takes_a = a < t.a_count && (b >= t.count || !b_below);
        uint source = takes_a ? a : b;
        merge_sources[begin + i] = source;   // of outputs beyond the end, nothing of meaning
        uint next = source + 1u;
        K key = merge_elements[next] & mask;
        if (takes_a) { a = next; a_key = key; }
        else { b = next; b_key = key; }
    }
    barrier();
}

// The key of output i of the tile, while keys are in shared memory, and the value, while values are.
K merge_key(uint i) { return merge_elements[merge_sources[i]]; }
V merge_value(uint i) { return V(merge_elements[merge_sources[i]]); }

// All of a tile at once: its keys fetched, put and ordered. Collective over the workgroup.
MergeTile merge_tile(MergePair p, uvec2 ends, uint first, uint last) {
    MergeTile t = merge_tile(ends, first, last);
    K keys[MERGE_ITEMS];
    merge_fetch_keys(t, p.a, p.b, keys);
    merge_put_keys(keys);
    merge_order(t, p.mask);
    return t;
}

// Where output i of the tile comes from, while the keys are in shared memory.
MergeSource merge_source(MergeTile t, uint i) {
    uint at = merge_sources[i];
    bool a = at < t.a_count;
    return MergeSource(a, a ? t.a + at : t.b + at - t.a_count, merge_elements[at]);
}

#endif
