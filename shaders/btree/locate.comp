// Finds the leaf of each key and the node above it, in a read-only phase of the tree. The operations of the next
// dispatch begin there. To search first, by plain reads and narrow tiles, and then to change is faster than to do both
// in one kernel.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_search.glsl"
#include "results.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreePrefixIndex index;
    uvec2 keys;       // K per operation
    uvec2 statuses;   // one byte per operation
    uvec2 hints;      // output, two words per operation: a leaf and the node above it
    uint count;
    uint retry;       // 1: does only operations whose status is STATUS_PENDING
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
