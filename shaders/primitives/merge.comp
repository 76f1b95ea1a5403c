// Merges two sorted runs, a tile of outputs a workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "merge_tile.glsl"

struct Run {
    uvec2 keys, values;
    Length count;
};

layout(push_constant, std430) uniform Push {
    Run a, b;
    uvec2 out_keys, out_values;   // values: 0 for keys alone
    uvec2 splits;                 // merge_path at the beginning of each tile, by merge_split; 0: each finds its own
    uint mask;                    // bits of keys that are compared
};

void main() {
    MergePair p = MergePair(a.keys, b.keys, length_of(a.count), length_of(b.count), mask);
    uint total = p.a_count + p.b_count;
    uint tile = workgroup_index();
    if (tile >= total / MERGE_TILE + (total % MERGE_TILE == 0u ? 0u : 1u)) return;   // the whole workgroup
    uint first = tile * MERGE_TILE;
    uint last = first + min(total - first, MERGE_TILE);

    MergeTile t = merge_tile(p, merge_tile_ends(p, splits, tile, first, last), first, last);

    bool pairs = (out_values.x | out_values.y) != 0u;
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) {
        uint at = i * WORKGROUP + workgroup_lane();
        if (at >= t.count) continue;
        MergeSource from = merge_source(t, at);
        plain_store(address_at(out_keys, first + at, 2u), from.key);
        if (!pairs) continue;
        uint value = plain_load(address_at(from.a ? a.values : b.values, from.index, 2u));
        plain_store(address_at(out_values, first + at, 2u), value);
    }
}
