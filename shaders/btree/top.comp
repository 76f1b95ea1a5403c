// Writes a top (btree_search.glsl): for each beginning of keys, the lowest node whose range has all keys that begin so.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_search.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreeTop top;
};

// One lane an entry, whatever the tile: neighbours read the same nodes.
void main() {
    uint i = invocation_index();
    uint first = i << (32u - top.bits), last = first + ((1u << (32u - top.bits)) - 1u);
    BTreePlace place = btree_root(tree);
    bool busy = (i >> top.bits) == 0u;
    while (subgroupAny(busy)) {
        uvec2 node = slab_address(tree.pool, place.node);
        uvec4 quad = plain_load4(node);
        uint child = quad.y, child_of_last = quad.y;
        child = quad.z <= first ? quad.w : child;
        child_of_last = quad.z <= last ? quad.w : child_of_last;
        [[dont_unroll]] for (uint q = 1u; q < BTREE_SLOTS / 2u; q++) {
            quad = plain_load4(address_add(node, q * 16u));
            child = quad.x <= first ? quad.y : child;
            child_of_last = quad.x <= last ? quad.y : child_of_last;
            child = quad.z <= first ? quad.w : child;
            child_of_last = quad.z <= last ? quad.w : child_of_last;
        }
        uvec4 fence = plain_load4(address_add(node, BTREE_META_AT));
        bool right = busy && first > fence.z;
        bool down = busy && !right && child == child_of_last && last <= fence.z;
        place.node = right ? fence.w : down ? child : place.node;
        place.level -= down ? 1u : 0u;
        busy = (right || down) && place.level != 0u;
    }
    if ((i >> top.bits) == 0u) plain_store2(address_at(top.entries, i, 3u), uvec2(place.node, place.level));
}
