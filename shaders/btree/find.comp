// Finds keys while nobody changes the tree.
//
// SORTED: the queries are in about the order of their keys, so that neighbours visit the same nodes. Their answers go
// to the places that they had before.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_search.glsl"
#include "results.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreeTop top;
    uvec2 keys;      // uint32 a query
#ifdef SORTED
    uvec2 places;    // uint32 a query: the number of its answer
    uvec2 answers;   // two words a place, out: the value, and 1 where the key is there; else 0 and 0
#else
    uvec2 values;    // uint32 a query, out: 0 where the key is absent
    uvec2 found;     // a byte a query, out: 0 or 1
#endif
    uint count;
};

void main() {
    uint i = invocation_index();
    bool enabled = i < count;
    uint key = 0u;
    if (enabled) key = plain_load_at(keys, i);
    uint value;
    bool there = btree_find(tree, top, key, enabled, value);
#ifdef SORTED
    if (enabled) plain_store2(address_at(answers, plain_load_at(places, i), 3u), uvec2(value, there ? 1u : 0u));
#else
    if (enabled) plain_store_at(values, i, value);
    byte_store(found, i, count, there ? 1u : 0u);
#endif
}
