// For test/shader: a tree that does not change. Each lane has a key: it calls btree_find, and reads the leaf that
// btree_seek returns.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_search.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreePrefixIndex index;
    uvec2 queries;   // one word per invocation
    uvec2 answers;   // four words per invocation: found and value of btree_find; whether the leaf is valid and the
                     // key's; how often it has the key
    uint count;
};

void main() {
    uint i = invocation_index();
    uint key = i < count ? plain_load(address_at(queries, i, 2u)) : 0u;
    uint value, above;
    bool found = btree_find(tree, index, key, i < count, value);
    uint leaf = btree_seek(tree, index, key, i < count, above);
    if (i >= count) return;
    bool right = pool_holds(tree.pool, leaf) && pool_slab(pool_number(leaf)) == leaf && pool_holds(tree.pool, above);
    uvec2 node = slab_address(tree.pool, leaf);
    uvec4 header = plain_load4(address_add(node, BTREE_META_AT));
    right = right && btree_level(header.x) == 0u && header.y <= key && key <= header.z;
    uint times = 0u;
    for (uint slot = 0u; slot < BTREE_SLOTS; slot++) {
        uint held = plain_load(btree_slot(node, slot));
        times += btree_live(held, header.z) && held == key ? 1u : 0u;
    }
    plain_store4(address_at(answers, i, 4u), uvec4(found ? 1u : 0u, value, right ? 1u : 0u, times));
}
