// For test/shader: each tile calls one function of node.glsl for a node.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "node.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint FUNCTION = 0;   // 0: load, 1: load coherent, 2: clear, 3: layout

layout(push_constant, std430) uniform Push {
    uvec2 nodes;     // one node per tile
    uvec2 enabled;   // one word per tile: 0 or 1
    uvec2 outputs;   // 16 quads per invocation. Load: place in the node, the pair, 1. Layout: the lane with such a
                     // pair, which of the lane's pairs it is, visits of a pool of m blocks, 1
    uint count;      // the number of tiles
};

void main() {
    uint i = invocation_index();
    uint tile = i / TILE;
    bool there = tile < count;
    bool on = there && plain_load(address_at(enabled, tile, 2u)) != 0u;
    uvec2 address = address_at(nodes, tile, NODE_SHIFT);
    if (FUNCTION <= 1u) {
        Node n;
        if (FUNCTION == 0u) n = node_load(address, on);
        else n = node_load_coherent(address, on);
        if (there)
            for (uint m = 0u; m < NODE_LANE_PAIRS; m++)
                plain_store4(address_at(outputs, 16u * i + m, 4u), uvec4(node_pair_index(m), n.pair[m], 1u));
    } else if (FUNCTION == 3u) {
        for (uint m = 0u; m < NODE_LANE_PAIRS && there; m++) {
            uint pair = node_pair_index(m);
            plain_store4(address_at(outputs, 16u * i + m, 4u),
                         uvec4(node_pair_lane(pair), node_pair_number(pair), node_visits(m), 1u));
        }
    } else {
        node_clear_coherent(address, on);
    }
}
