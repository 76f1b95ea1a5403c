// For the tests of structures/btree: the neighbours of keys by what may run beside updates.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_range.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 keys;      // a word a query
    uvec2 answers;   // four words a query, out: status, key, value of the neighbour, unused
    uint count;
    uint upward;     // 1: the least key from one on; 0: the greatest up to it
    uint rounds;
};

void main() {
    uint i = invocation_index();
    bool enabled = i < count;
    uint key = 0u;
    if (enabled) key = plain_load_at(keys, i);
    BTreePair pair;
    uint status;
    if (upward != 0u) status = btree_ceil(tree, key, enabled, rounds, pair);
    else status = btree_floor(tree, key, enabled, rounds, pair);
    if (enabled) plain_store4(address_at(answers, i, 4u), uvec4(status, pair.key, pair.value, 0u));
}
