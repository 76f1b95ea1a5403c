// Removes leaves that have become empty, if their left neighbour is a child of the same parent: the neighbour takes
// over their range. The first child of a parent stays, and so does the last leaf.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 0
#include "batch_merge.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 keys;    // a key in the range of each empty leaf, ascending
    uvec2 count;   // address of the number of keys
};

void main() {
    uint i = invocation_index();
    uint n = min(plain_load(count), gl_NumWorkGroups.x * gl_NumWorkGroups.y * WORKGROUP);
    if (i >= n) return;
    K key = VKDS_LOAD_NEAR(keys, i);
    NodeHeader header;
    uint slab = batch_find(tree, Work(uvec2(0u), 0u, 0u, 0u, 0u), 1u, key, true, header);
    bool first = i == 0u;
    if (!first) first = VKDS_BELOW(VKDS_LOAD_NEAR(keys, i - 1u), header.low);
    if (slab == SLAB_NULL || !first) return;   // one invocation does all leaves of a parent

    uvec2 node = slab_address(tree.pool, slab);
    Node parent;
    [[unroll]] for (uint q = 0u; q < BTREE_SLOTS / VKDS_QUAD_SLOTS; q++) {
        uvec4 v = plain_load4(address_add(node, q * 16u));
        VKDS_NODE_PUT(parent, q, v);
    }
    uint used = uint(bitCount(node_slots(parent, header.high)));
    P left = P(0u);         // the neighbour that stays: its slot in the parent
    P reach;                  // and its node's high and link
    uint kept = 0u;
    bool taken = false;       // the neighbour has taken over a range
    [[dont_unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) {
        P slot = P(0u), behind = P(~0u);
        [[unroll]] for (uint t = 0u; t < BTREE_SLOTS; t++) slot = s == t ? parent.pair[t] : slot;
        if (s < used) {
            uvec2 child = slab_address(tree.pool, slot.VKDS_CHILD);
            VKDS_HEADER f = VKDS_HEADER_LOAD(plain_load4, child);
            while (i < n && VKDS_BELOW(VKDS_LOAD_NEAR(keys, i), f.VKDS_LOW)) i++;
            bool empty = false;
            if (i < n) empty = VKDS_UP_TO(VKDS_LOAD_NEAR(keys, i), f.VKDS_HIGH);
            if (empty && s != 0u && reach.VKDS_CHILD == slot.VKDS_CHILD) {
                reach = VKDS_UPPER_OF(f);
                taken = true;
                uvec2 word = pool_bitmap_word(tree.pool, slot.VKDS_CHILD >> 24, slot.VKDS_CHILD >> 10 & 0x3fffu,
                                              slot.VKDS_CHILD >> 5 & 31u);
                if (SHARED != 0u) {
                    node_clear_coherent(child, true);   // free slabs of a shared pool must be cleared
                    release_fence();
                }
                atomic_and(word, ~(1u << (slot.VKDS_CHILD & 31u)));
            } else {
                if (taken) VKDS_SLOT_STORE(address_add(slab_address(tree.pool, left.VKDS_CHILD), BTREE_HIGH_AT), reach);
                left = slot;
                reach = VKDS_UPPER_OF(f);
                taken = false;
                VKDS_SLOT_STORE(btree_slot(node, kept), slot);
                kept++;
            }
        }
    }
    if (taken) VKDS_SLOT_STORE(address_add(slab_address(tree.pool, left.VKDS_CHILD), BTREE_HIGH_AT), reach);
    for (; kept < BTREE_SLOTS; kept++) VKDS_SLOT_STORE(btree_slot(node, kept), left);
}
