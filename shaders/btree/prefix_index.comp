// Writes a prefix index, in a read-only phase of the tree: for each prefix, the lowest node whose range has all keys
// with that prefix.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "prefix_node.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreePrefixIndex index;
    BTreePrefixIndex from;   // a coarser index to begin at; 0 bits: none
};

uvec4 load4(uvec2 address) { return plain_load4(address); }

// One lane per entry, whatever the tile: neighbouring lanes read the same nodes.
void main() {
    uint i = invocation_index();
    K first = PREFIX_FIRST(index, i), last = PREFIX_LAST(index, i, first);
    BTreePlace place;
    if (from.bits == 0u) place = btree_root(tree);
    else place = btree_prefix_start(from, first);
    bool busy = (i >> index.bits) == 0u && place.level != 0u;
    place = prefix_node(tree, place, first, last, busy);
    if ((i >> index.bits) == 0u) plain_store2(VKDS_PREFIX_AT(index, i), uvec2(place.node, place.level));
}
