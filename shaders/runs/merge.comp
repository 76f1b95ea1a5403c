// Merges two sorted runs, and writes a part of the result as a run: keys, values, tombstones and index. If keys are
// equal, the older run's pairs come first. No pair is dropped: stale ones stay until a cleanup.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../primitives/merge_tile.glsl"
#define BITMAP_BITS MERGE_TILE
#include "../primitives/bitmap.glsl"
#include "run_index.glsl"
#include "trace.glsl"

layout(constant_id = 17) const bool MARKS = true;    // there may be tombstones
layout(constant_id = 18) const bool SPLITS = false;  // merge_split has found the beginning of each tile

struct Source {
    uvec2 keys;
    uvec2 values;       // 0: all pairs are tombstones
    uvec2 tombstones;   // one bit per pair; 0: there are none, unless `values` is 0
};

layout(push_constant, std430) uniform Push {
    Source older, newer;
    uvec2 keys, values;   // output
    uvec2 tombstones;     // output, if MARKS
    uvec2 index;          // output; 0: the run gets no index
    uvec2 splits;         // if SPLITS: merge_path at the beginning of each tile
    uint older_count, newer_count;
    uint begin, count;    // the run is the outputs begin … begin+count-1 of the merge
    uint index_words;   // the number of keys in the index
};

bool none(uvec2 address) { return (address.x | address.y) == 0u; }

// Fetches the values of a tile. The elements of a source without values get all ones.
void fetch_values(MergeTile t, out V all[MERGE_ITEMS]) {
    if (!MARKS) {
        merge_fetch_values(t, older.values, newer.values, all);
        return;
    }
    bool older_none = none(older.values);
    bool newer_none = none(newer.values);
    merge_fetch_values(t, older_none ? older.keys : older.values, newer_none ? newer.keys : newer.values, all);
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++)
        if (i * WORKGROUP + workgroup_lane() < t.a_count ? older_none : newer_none) all[i] = V(~0u);
}

// Whether an element with a value of all ones is a tombstone.
bool tombstone_of(MergeSource from) {
    if (none(from.a ? older.values : newer.values)) return true;
    uvec2 bits = from.a ? older.tombstones : newer.tombstones;
    if (none(bits)) return false;
    return ((plain_load(address_at(bits, from.index >> 5, 2u)) >> (from.index & 31u)) & 1u) != 0u;
}

void main() {
    MergePair p = MergePair(older.keys, newer.keys, older_count, newer_count, K(~0u));
    uint tile = workgroup_index();
    if (tile >= count / MERGE_TILE + (count % MERGE_TILE == 0u ? 0u : 1u)) return;   // the whole workgroup
    uint offset = tile * MERGE_TILE;   // a multiple of 32
    uint first = begin + offset;
    uint last = first + min(count - offset, MERGE_TILE);

    if (MARKS) bitmap_clear();
    uvec2 ends = SPLITS ? merge_tile_splits(p, splits, tile, first, last) : merge_tile_ends(p, first, last);
    MergeTile t = merge_tile(ends, first, last);

    K tile_keys[MERGE_ITEMS];
    V tile_values[MERGE_ITEMS];
    merge_fetch_keys(t, p.a, p.b, tile_keys);
    fetch_values(t, tile_values);
    merge_put_keys(tile_keys);
    merge_order(t, p.mask);
    uint lane = workgroup_lane();
    uvec2 to_keys = address_at(keys, offset, VKDS_SHIFT);
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) {
        uint at = i * WORKGROUP + lane;
        if (at < t.count) VKDS_STORE_NEAR(to_keys, at, merge_key(at));
    }
    // The index has the first key of each node, and some of these at higher levels. Consecutive lanes store them, so
    // that other subgroups need not wait.
    if (!none(index)) {
        for (uint at = lane * RUN_NODE; at < t.count; at += WORKGROUP * RUN_NODE)
            run_index_put(index, index_words, count, offset + at, merge_key(at));
    }
    merge_put_values(tile_values);
    uvec2 to_values = address_at(values, offset, VKDS_SHIFT);
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) {
        uint at = i * WORKGROUP + lane;
        if (at < t.count) {
            V value = merge_value(at);
            VKDS_STORE_NEAR(to_values, at, value);
            if (MARKS && value == V(~0u)) {
                if (tombstone_of(merge_source(t, at))) bitmap_set(at);
            }
        }
    }
    if (MARKS) {
        barrier();
        bitmap_store(address_at(tombstones, offset >> 5, 2u), t.count);
    }
    VKDS_EVENT_PAIR(lane == 0u, TRACE_MERGE, trace_line(keys), offset, uvec2(trace_line(older.keys),
        trace_line(newer.keys)), uvec2(t.count, count))
}
