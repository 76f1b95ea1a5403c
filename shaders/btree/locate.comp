// Finds the leaf of each key and the node above it, in a read-only phase of the tree: where the operations of
// the next dispatch begin. To search first, by plain reads and narrow tiles, and then to change is faster than both
// in one kernel.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_search.glsl"
#include "results.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreePrefixIndex index;
    uvec2 keys;       // K an operation
    uvec2 statuses;   // a byte an operation
    uvec2 hints;      // out: a leaf and the node above it an operation
    uint count;
    uint retry;       // 1: only the operations whose status is STATUS_PENDING
};

void main() {
    uint i = invocation_index();
    bool todo = i < count;
    K key = K(0u);
    if (todo) key = VKDS_LOAD_AT(keys, i);
    if (todo && retry != 0u) todo = byte_load(statuses, i) == STATUS_PENDING;
    uint above;
    uint leaf = btree_seek(tree, index, key, todo, above);
    if (todo) plain_store2(address_at(hints, i, 3u), uvec2(leaf, above));
}
