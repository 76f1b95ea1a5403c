// The way down to an entry of a prefix index. The kernel says how nodes are read.
#ifndef VKDS_BTREE_PREFIX_NODE_GLSL
#define VKDS_BTREE_PREFIX_NODE_GLSL

#include "btree_search.glsl"

uvec4 load4(uvec2 address);   // a quad of a node

const uint VISITS = 256u;   // visits of nodes at most

// The lowest node from `place` on whose range has all keys from `first` to `last`. Collective over the subgroup; lanes
// that are not `busy` keep their place.
BTreePlace prefix_node(BTree tree, BTreePlace place, uint first, uint last, bool busy) {
    for (uint visit = 0u; subgroupAny(busy) && visit < VISITS; visit++) {
        uvec2 node = slab_address(tree.pool, place.node);
        uvec4 quad = load4(node);
        uint child = quad.y, child_of_last = quad.y;
        child = quad.z <= first ? quad.w : child;
        child_of_last = quad.z <= last ? quad.w : child_of_last;
        [[dont_unroll]] for (uint q = 1u; q < BTREE_SLOTS / 2u; q++) {
            quad = load4(address_add(node, q * 16u));
            child = quad.x <= first ? quad.y : child;
            child_of_last = quad.x <= last ? quad.y : child_of_last;
            child = quad.z <= first ? quad.w : child;
            child_of_last = quad.z <= last ? quad.w : child_of_last;
            // From a slot that repeats the one before it on, all do.
            if (subgroupAll(quad.x == quad.z || !busy)) break;
        }
        uvec4 header = load4(address_add(node, BTREE_META_AT));
        // Two words of different age led too far to the right, or nowhere (btree_step).
        if (busy && (first < header.y || (first > header.z && header.w == SLAB_NULL))) {
            place = BTreePlace(tree.root, 15u);
            busy = false;
        }
        bool right = busy && first > header.z;
        bool down = busy && !right && child == child_of_last && last <= header.z;
        place.node = right ? header.w : down ? child : place.node;
        place.level -= down ? 1u : 0u;
        busy = (right || down) && place.level != 0u;
    }
    return place;
}

#endif
