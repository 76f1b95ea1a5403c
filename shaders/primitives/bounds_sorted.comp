// Finds the bounds of ascending queries in a sorted array, by merging both: in the merge, a query comes right after the
// keys that it counts.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "merge_tile.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;           // ascending
    Length key_count;
    uvec2 queries;        // ascending
    Length query_count;
    uvec2 bounds;         // output
    uvec2 splits;         // from merge_split (lower bounds: of queries and keys; upper bounds: of keys and queries), or
                          // 0
    uint upper;           // 1 for upper bounds, 0 for lower ones
};

void main() {
    uint key_total = length_of(key_count);
    uint query_total = length_of(query_count);
    // Among equal keys, those of the first run come first.
    MergePair p = MergePair(queries, keys, query_total, key_total, KEY_MOST);
    if (upper != 0u) p = MergePair(keys, queries, key_total, query_total, KEY_MOST);
    uint tile = workgroup_index();
    uint total = key_total + query_total;
    if (tile >= total / MERGE_TILE + (total % MERGE_TILE == 0u ? 0u : 1u)) return;   // the whole workgroup
    uint first = tile * MERGE_TILE;
    uint last = first + min(total - first, MERGE_TILE);
    MergeTile t = merge_tile(p, merge_tile_ends(p, splits, tile, first, last), first, last);
    uint query = upper == 0u ? t.a : t.b;   // the tile's first query
    uvec2 to = address_at(bounds, query, 2u);
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) {
        uint at = i * WORKGROUP + workgroup_lane();
        if (at >= t.count) continue;
        MergeSource from = merge_source(t, at);
        if (from.a == (upper == 0u)) plain_store_near(to, from.index - query, first + at - from.index);
    }
}
