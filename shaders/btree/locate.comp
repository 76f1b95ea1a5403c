// Finds the leaf of each key and the node above it, in a tree that nobody changes meanwhile: where the operations of
// the next dispatch begin. To look first, by plain reads and narrow tiles, and to change then is twice as fast as to
// do both in one kernel.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_descend.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 keys;       // uint32 an operation
    uvec2 statuses;   // a byte an operation
    uvec2 hints;      // out: a leaf and the node above it an operation
    uint count;
    uint retry;       // 1: only the operations whose status is 0, STATUS_PENDING
};

const uint ROUNDS = 1u << 16;   // far more than a tree is high

void main() {
    uint i = invocation_index();
    bool todo = i < count;
    uint key = 0u;
    if (todo) key = plain_load_at(keys, i);
    if (todo && retry != 0u) todo = ((plain_load(address_add(statuses, i & ~3u)) >> (8u * (i & 3u))) & 0xffu) == 0u;
    uint round = 0u, leaf = SLAB_NULL, above = BTREE_ROOT;
    btree_descend(tree, key, 0u, todo, ROUNDS, round, leaf, above);
    if (todo) plain_store2(address_at(hints, i, 3u), uvec2(leaf, above));
}
