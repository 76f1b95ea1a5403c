// Writes a prefix index: for each prefix of keys, the lowest node whose range has all keys that begin so.
//
// CONCURRENT: the tree may be changed by others. Then an entry is some node that searches may begin at; its level is
// sure to be right only where nothing was changed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "btree_search.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    BTreePrefixIndex top;
    BTreePrefixIndex from;   // a coarser one, to begin at, or none
};

#ifdef CONCURRENT
uvec4 load4(uvec2 address) { return coherent_load4(address); }
BTreePlace root() {
    uvec2 node = slab_address(tree.pool, BTREE_ROOT);
    return BTreePlace(BTREE_ROOT, btree_level(atomic_load(address_add(node, BTREE_META_AT))));
}
#else
uvec4 load4(uvec2 address) { return plain_load4(address); }
BTreePlace root() { return btree_root(tree); }
#endif

const uint ROUNDS = 256u;   // visits of nodes at most

// One lane an entry, whatever the tile: neighbours read the same nodes.
void main() {
    uint i = invocation_index();
    uint first = i << (32u - top.bits), last = first + ((1u << (32u - top.bits)) - 1u);
    BTreePlace place;
    if (from.bits == 0u) place = root();
    else place = btree_prefix_start(from, first);
    bool busy = (i >> top.bits) == 0u && place.level != 0u;
    for (uint round = 0u; subgroupAny(busy) && round < ROUNDS; round++) {
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
            place = BTreePlace(BTREE_ROOT, 15u);
            busy = false;
        }
        bool right = busy && first > header.z;
        bool down = busy && !right && child == child_of_last && last <= header.z;
        place.node = right ? header.w : down ? child : place.node;
        place.level -= down ? 1u : 0u;
        busy = (right || down) && place.level != 0u;
    }
#ifdef CONCURRENT
    acquire_fence();   // who is led on from here sees the nodes as they were published
#endif
    if ((i >> top.bits) == 0u) plain_store2(address_at(top.entries, i, 3u), uvec2(place.node, place.level));
}
