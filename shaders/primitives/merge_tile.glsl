// Merge tile: a workgroup merges its share of two sorted runs in shared memory.
//
// A tile is MERGE_TILE outputs, WORKGROUP * MERGE_ITEMS. That must be a multiple of 32 if tiles write bitmaps, so that
// these meet at words. The tile's keys are loaded into shared memory. Each lane finds by merge path where its
// MERGE_ITEMS outputs begin, and stores the source of each. The kernel then does what it wants with the outputs, in
// order, with consecutive lanes at consecutive outputs:
//
//     MergeTile tile = merge_tile(runs, merge_tile_ends(runs, first, last), first, last);
//     for (uint i = workgroup_lane(); i < tile.count; i += WORKGROUP) {
//         MergeSource from = merge_source(tile, i);      // from.a: of A or of B; from.index: its index there
//         ... from.key, output first + i
//     }
//
// Other data of the elements can be loaded by their source. Values no wider than keys are faster in this way:
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

layout(constant_id = 16) const uint MERGE_ITEMS = 9;   // odd, so that consecutive lanes write to different banks
const uint MERGE_TILE = WORKGROUP * MERGE_ITEMS;

// The tile's keys, or values: those of A, then those of B, then some that are read but not used.
shared K merge_elements[MERGE_TILE + MERGE_ITEMS];
shared uint merge_sources[MERGE_TILE];   // the index in merge_elements of each output
shared uint merge_ends[2];

struct MergeTile {
    uint a, b;      // the first elements in A and in B
    uint a_count;   // the number of elements of A
    uint count;     // the number of outputs
};

struct MergeSource {
    bool a;       // of A, otherwise of B
    uint index;   // in that run
    K key;
};

// The positions in A of the outputs `first` and `last` of the merge: merge_path of both. Collective over the workgroup.
uvec2 merge_tile_ends(MergePair p, uint first, uint last) {
    for (uint i = gl_SubgroupID; i < 2u; i += gl_NumSubgroups) {
        uint at = merge_path_subgroup(p, i == 0u ? first : last);
        if (subgroupElect()) merge_ends[i] = at;
    }
    barrier();
    return uvec2(merge_ends[0], merge_ends[1]);
}

// The same positions, from those that merge_split has found for all tiles.
uvec2 merge_tile_splits(MergePair p, uvec2 splits, uint tile, uint first, uint last) {
    uvec2 ends = uvec2(plain_load(address_at(splits, tile, 2u)), plain_load(address_at(splits, tile + 1u, 2u)));
    uvec2 at = uvec2(first, last);   // whatever splits say, the positions are inside of the runs
    return clamp(ends, at - min(at, uvec2(p.b_count)), min(at, uvec2(p.a_count)));
}

// The same positions, from `splits` if it is not 0.
uvec2 merge_tile_ends(MergePair p, uvec2 splits, uint tile, uint first, uint last) {
    if ((splits.x | splits.y) == 0u) return merge_tile_ends(p, first, last);
    return merge_tile_splits(p, splits, tile, first, last);
}

// The tile of the outputs [first, last), at least one and at most MERGE_TILE, with the elements [ends.x, ends.y) of A.
MergeTile merge_tile(uvec2 ends, uint first, uint last) {
    uint a = min(ends.x, first);
    return MergeTile(a, first - a, min(ends.y - a, last - first), last - first);
}

// Loads the tile's keys from two arrays, with a key for each element of A and of B. Lanes don't load the keys of their
// own outputs. Lanes beyond the end load the last key again, so that no branch delays loads.
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

// Replaces what is in shared memory by what was fetched. Collective over the workgroup.
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

// Finds the source of each output, from the keys in shared memory. Collective over the workgroup.
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
        merge_sources[begin + i] = source;   // outputs beyond the end get values without meaning
        uint next = source + 1u;
        K key = merge_elements[next] & mask;
        if (takes_a) { a = next; a_key = key; }
        else { b = next; b_key = key; }
    }
    barrier();
}

// The key of output i of the tile, as long as shared memory has the keys; and its value, as long as it has the values.
K merge_key(uint i) { return merge_elements[merge_sources[i]]; }
V merge_value(uint i) { return V(merge_elements[merge_sources[i]]); }

// Fetches, puts and orders the keys of a tile. Collective over the workgroup.
MergeTile merge_tile(MergePair p, uvec2 ends, uint first, uint last) {
    MergeTile t = merge_tile(ends, first, last);
    K keys[MERGE_ITEMS];
    merge_fetch_keys(t, p.a, p.b, keys);
    merge_put_keys(keys);
    merge_order(t, p.mask);
    return t;
}

// The source of output i of the tile, as long as shared memory has the keys.
MergeSource merge_source(MergeTile t, uint i) {
    uint at = merge_sources[i];
    bool a = at < t.a_count;
    return MergeSource(a, a ? t.a + at : t.b + at - t.a_count, merge_elements[at]);
}

#endif
