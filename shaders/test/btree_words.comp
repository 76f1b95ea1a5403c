// For the tests of structures/btree: writes words into nodes.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_node.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 changes;   // four words per change: slab, index of the word in it, new value, unused
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uvec4 c = plain_load4(address_at(changes, i, 4u));
    plain_store(address_add(slab_address(tree.pool, c.x), 4u * c.y), c.z);
}
