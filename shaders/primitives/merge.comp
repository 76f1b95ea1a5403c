// Merges two sorted runs. Each workgroup writes a tile of outputs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "merge_tile.glsl"

layout(constant_id = 18) const bool PAIRS = true;   // false: keys only

struct Run {
    uvec2 keys, values;
    Length count;
};

layout(push_constant, std430) uniform Push {
    Run a, b;
    uvec2 out_keys, out_values;
    uvec2 splits;                 // from merge_split; 0: each tile finds its own beginning
    uvec2 mask;                   // the bits by which keys are compared; of 32-bit keys the low word
};

// Writes the keys from shared memory, in the order of the outputs.
void store_keys(uint first, uint count) {
    uvec2 to = address_at(out_keys, first, KEY_SHIFT);
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) {
        uint at = i * WORKGROUP + workgroup_lane();
        if (at < count) key_store_near(to, at, merge_key(at));
    }
}

void store_values(uint first, uint count) {
    uvec2 to = address_at(out_values, first, VALUE_SHIFT);
    [[unroll]] for (uint i = 0u; i < MERGE_ITEMS; i++) {
        uint at = i * WORKGROUP + workgroup_lane();
        if (at < count) value_store_near(to, at, merge_value(at));
    }
}

void main() {
    MergePair p = MergePair(a.keys, b.keys, length_of(a.count), length_of(b.count), K(mask));
    uint total = p.a_count + p.b_count;
    uint tile = workgroup_index();
    if (tile >= total / MERGE_TILE + (total % MERGE_TILE == 0u ? 0u : 1u)) return;   // the whole workgroup
    uint first = tile * MERGE_TILE;
    uint last = first + min(total - first, MERGE_TILE);

    MergeTile t = merge_tile(merge_tile_ends(p, splits, tile, first, last), first, last);

    K keys[MERGE_ITEMS];
    V values[MERGE_ITEMS];
    merge_fetch_keys(t, a.keys, b.keys, keys);
    if (PAIRS) merge_fetch_values(t, a.values, b.values, values);
    merge_put_keys(keys);
    merge_order(t, p.mask);
    store_keys(first, t.count);
    if (PAIRS) {
        merge_put_values(values);
        store_values(first, t.count);
    }
}
