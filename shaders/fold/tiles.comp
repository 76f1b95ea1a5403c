// Combines the operations on the last key of each tile, as far as they are in that tile.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "fold.glsl"

layout(push_constant, std430) uniform Push {
    FoldBatch batch;
    uvec2 tiles;   // output: one value per tile
};

void main() {
    uint tile = workgroup_index(), first = tile * FOLD_TILE, count = length_of(batch.count);
    if (first >= count) return;   // the whole workgroup
    K last_key = fold_key(batch, min(count - first, FOLD_TILE) - 1u + first);
    V all = fold_nothing();
    [[unroll]] for (uint item = 0u; item < FOLD_ITEMS; item++) {
        uint i = first + item * WORKGROUP + workgroup_lane();
        if (i < count && fold_key(batch, i) == last_key)
            all = fold_values(all, VKDS_LOAD_AT(batch.values, fold_source(batch, i)));
    }
    barrier();   // makes each subgroup converge again
    all = fold_workgroup(all);
    if (workgroup_lane() == 0u) VKDS_STORE_AT(tiles, tile, all);
}
