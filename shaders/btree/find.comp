// Finds keys, in a read-only phase of the tree.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_search.glsl"
#include "length.glsl"
#include "results.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreePrefixIndex index;
    uvec2 keys;      // K per query
    uvec2 values;    // output: V per query, 0 if the key is absent. May be the same memory as the keys
    uvec2 found;     // output: one byte per query, 0 or 1
    Length count;
};

void main() {
    uint i = invocation_index(), n = length_of(count);
    bool enabled = i < n;
    K key = K(0u);
    if (enabled) key = VKDS_LOAD_AT(keys, i);
    V value;
    bool there = btree_find(tree, index, key, enabled, value);
    if (enabled) VKDS_STORE_AT(values, i, value);
    byte_store(found, i, n, there ? 1u : 0u);
}
