// One dispatch of searches in a latched tree that nobody changes meanwhile.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "latched_node.glsl"
#include "invocation.glsl"
#include "results.glsl"

layout(push_constant, std430) uniform Push {
    LatchedTree tree;
    uvec2 keys;     // uint32 a query
    uvec2 values;   // uint32 a query, out: 0 where the key is absent
    uvec2 found;    // a byte a query, out
    uint count;
};

void main() {
    uint i = invocation_index();
    uint key = 0u, value = 0u, node = ROOT, there = 0u;
    bool busy = i < count;
    if (busy) key = plain_load_at(keys, i);
    for (uint visits = 0u; subgroupAny(busy) && visits < 16u * TILE; visits++) {   // there are no more levels
        uint queue = tile_ballot(busy);
        uint source = queue == 0u ? 0u : uint(findLSB(queue));
        uint k = tile_shuffle(key, source);
        View v = view_at_rest(tree, tile_shuffle(node, source), queue != 0u);
        uvec2 last = view_slot(v, max(view_below(v, k + 1u), 1u) - 1u);
        bool leaf = level_of(view_fence(v).meta) == 0u;
        if (busy && tile_lane() == source) {
            node = last.y;
            busy = !leaf;
            there = leaf && last.x == k ? 1u : 0u;
            value = there != 0u ? last.y : 0u;
        }
    }
    if (i < count) plain_store_at(values, i, value);
    byte_store(found, i, count, there);
}
