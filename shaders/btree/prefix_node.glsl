// Prefix node: the search for the node of an entry of a prefix index. The kernel defines how nodes are read.
#ifndef VKDS_BTREE_PREFIX_NODE_GLSL
#define VKDS_BTREE_PREFIX_NODE_GLSL

#include "btree_search.glsl"

uvec4 load4(uvec2 address);   // reads a quad of a node

const uint VISITS = 256u;   // the greatest number of nodes visited

// The first and the last key of entry i of an index.
#if VKDS_WIDE
K prefix_begin(BTreePrefixIndex index, uint i) {
    BTreePrefixes p = btree_prefixes(index);
    return number_add(p.low, number_shifted(i, p.shift));
}

// If the next entry would begin after the greatest key, its begin wraps around, and this entry is the last one in use.
K prefix_end(BTreePrefixIndex index, uint i) {
    K next = prefix_begin(index, i + 1u);
    bool last = i + 1u >> index.bits != 0u || VKDS_BELOW(next, btree_prefixes(index).low);
    return last ? K(~0u) : number_subtract(next, VKDS_ONE);
}
#define PREFIX_FIRST(index, i) (i == 0u ? K(0u) : prefix_begin(index, i))
#define PREFIX_LAST(index, i, first) prefix_end(index, i)
#else
#define PREFIX_FIRST(index, i) i << (32u - index.bits)
#define PREFIX_LAST(index, i, first) first + ((1u << (32u - index.bits)) - 1u)
#endif

// The lowest node, from `place` on, whose range has all keys from `first` to `last`. Its level is right unless it is
// the root, whose level may rise meanwhile: a child of the root is read for its own. Lanes that are not `busy` keep
// their place. Collective over the subgroup.
BTreePlace prefix_node(BTree tree, BTreePlace place, K first, K last, bool busy) {
    for (uint visit = 0u; subgroupAny(busy) && visit < VISITS; visit++) {
        bool root = place.node == tree.root;
        uvec2 node = slab_address(tree.pool, place.node);
        uvec4 quad = load4(node);
#if VKDS_WIDE
        uint child = quad.VKDS_CHILD, child_of_last = child;
        [[dont_unroll]] for (uint slot = 1u; slot < BTREE_SLOTS; slot++) {
            K before = quad.VKDS_KEY;
            quad = load4(btree_slot(node, slot));
            child = VKDS_UP_TO(quad.VKDS_KEY, first) ? quad.VKDS_CHILD : child;
            child_of_last = VKDS_UP_TO(quad.VKDS_KEY, last) ? quad.VKDS_CHILD : child_of_last;
            if (subgroupAll(quad.VKDS_KEY == before || !busy)) break;
        }
#else
        uint child = quad.y, child_of_last = quad.y;
        child = quad.z <= first ? quad.w : child;
        child_of_last = quad.z <= last ? quad.w : child_of_last;
        [[dont_unroll]] for (uint q = 1u; q < BTREE_SLOTS / 2u; q++) {
            quad = load4(address_add(node, q * 16u));
            child = quad.x <= first ? quad.y : child;
            child_of_last = quad.x <= last ? quad.y : child_of_last;
            child = quad.z <= first ? quad.w : child;
            child_of_last = quad.z <= last ? quad.w : child_of_last;
            // Unused slots repeat the last used one, so all later ones do, too.
            if (subgroupAll(quad.x == quad.z || !busy)) break;
        }
#endif
        VKDS_HEADER header = VKDS_HEADER_LOAD(load4, node);
        // Words of different age have led too far to the right, or nowhere (btree_step).
        if (busy && (VKDS_BELOW(first, header.VKDS_LOW)
                     || (VKDS_ABOVE(first, header.VKDS_HIGH) && header.VKDS_LINK == SLAB_NULL))) {
            place = BTreePlace(tree.root, 15u);
            busy = false;
        }
        place.level = busy ? btree_level(header.VKDS_META) : place.level;
        bool right = busy && VKDS_ABOVE(first, header.VKDS_HIGH);
        bool down = busy && !right && place.level != 0u && child == child_of_last
                    && VKDS_UP_TO(last, header.VKDS_HIGH);
        place.node = right ? header.VKDS_LINK : down ? child : place.node;
        place.level -= down ? 1u : 0u;
        busy = (right || down) && (place.level != 0u || root);
    }
    return place;
}

#endif
