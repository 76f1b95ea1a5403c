// Writes a prefix index, concurrently with updates: for each prefix, a node where searches may begin. The root's level
// may be wrong.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "prefix_node.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreePrefixIndex index;
    BTreePrefixIndex from;   // a coarser index to begin at; 0 bits: none
};

uvec4 load4(uvec2 address) { return coherent_load4(address); }

BTreePlace root() {
    uvec2 node = slab_address(tree.pool, tree.root);
    return BTreePlace(tree.root, btree_level(atomic_load(address_add(node, BTREE_META_AT))));
}

// One lane per entry, whatever the tile: neighbouring lanes read the same nodes.
void main() {
    uint i = invocation_index();
    K first = PREFIX_FIRST(index, i), last = PREFIX_LAST(index, i, first);
    BTreePlace place;
    if (from.bits == 0u) place = root();
    else place = btree_prefix_start(from, first);
    bool busy = (i >> index.bits) == 0u && place.level != 0u;
    place = prefix_node(tree, place, first, last, busy);
    acquire_fence();   // searches that begin here see the nodes as they were published
    if ((i >> index.bits) == 0u) plain_store2(VKDS_PREFIX_AT(index, i), uvec2(place.node, place.level));
}
