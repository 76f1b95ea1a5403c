// Merges two sorted runs, a tile of outputs a workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "merge_tile.glsl"

layout(constant_id = 18) const bool PAIRS = true;   // or keys alone, without values

struct Run {
    uvec2 keys, values;
    Length count;
};

layout(push_constant, std430) uniform Push {
    Run a, b;
    uvec2 out_keys, out_values;
    uvec2 splits;                 // merge_path at the beginning of each tile, by merge_split; 0: each finds its own
    uint mask;                    // bits of keys that are compared
};

// Writes what is in shared memory, in the outputs' order.
void store(uvec2 to, uint first, uint count) {
    uvec2 at_first = address_at(to, first, 2u);
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) {
        uint at = i * WORKGROUP + workgroup_lane();
        if (at < count) plain_store_near(at_first, at, merge_word(at));
    }
}

void main() {
    MergePair p = MergePair(a.keys, b.keys, length_of(a.count), length_of(b.count), mask);
    uint total = p.a_count + p.b_count;
    uint tile = workgroup_index();
    if (tile >= total / MERGE_TILE + (total % MERGE_TILE == 0u ? 0u : 1u)) return;   // the whole workgroup
    uint first = tile * MERGE_TILE;
    uint last = first + min(total - first, MERGE_TILE);

    MergeTile t = merge_tile(merge_tile_ends(p, splits, tile, first, last), first, last);

    uint keys[MERGE_ITEMS], values[MERGE_ITEMS];
    merge_fetch(t, a.keys, b.keys, keys);
    if (PAIRS) merge_fetch(t, a.values, b.values, values);
    merge_put(keys);
    merge_order(t, mask);
    store(out_keys, first, t.count);
    if (PAIRS) {
        merge_put(values);
        store(out_values, first, t.count);
    }
}
