// For test/shader: each tile reads a node of a tree, both as an inner node and as a leaf, with a key.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_descend.glsl"
#include "btree_leaf.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 nodes;     // one node per tile
    uvec2 keys;      // one key per tile
    uvec2 outputs;   // four quads per invocation: header; step (next, level, down), 0; the leaf's view; its place
    uint count;      // the number of tiles
    uint fills;      // 1: the view finds an empty slot, too
    uint root;       // to which a step goes back
};

// The bits of a 64-bit key in which these tests' keys differ.
#if VKDS_WIDE
#define NARROW(k) (k.x >> 28 | k.y << 4)
#else
#define NARROW(k) k
#endif

void main() {
    uint i = invocation_index();
    uint tile = i / TILE;
    bool there = tile < count;
    K key = there ? VKDS_LOAD_AT(keys, tile) : K(0u);
    Node n = node_load(address_at(nodes, tile, NODE_SHIFT), there);
    NodeHeader f = btree_header(n);
    BTreeStep s = btree_step(n, key, root);
    LeafView v = leaf_view(n, key, btree_empty_key(key), fills != 0u);
    LeafPlace p = leaf_place(n, key);
    uvec2 at = address_at(outputs, i, 6u);
    if (there) {
        plain_store4(at, uvec4(f.meta, NARROW(f.low), NARROW(f.high), f.link));
        plain_store4(address_add(at, 16u), uvec4(s.next, s.level, s.down ? 1u : 0u, 0u));
        plain_store4(address_add(at, 32u), uvec4(v.slot, VKDS_REFERENCE(v.value), v.room, v.version));
        plain_store4(address_add(at, 48u),
                     uvec4(p.astray ? 1u : 0u, p.right ? 1u : 0u, btree_latched(p.meta) ? 1u : 0u, p.link));
    }
}
