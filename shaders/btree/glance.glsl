// Glance: looks keys up by the short way of read-only phases (btree_search.glsl) while others change the tree.
//
// Beside updates a lookup must be sure of its answer, so it reads whole nodes, and a leaf without its key twice. But a
// key that is seen in a leaf is in the tree, whatever led there. So a glance reads nodes in halves and by plain loads,
// and what it finds is right. What it doesn't find, btree_apply looks up.
//
// Words may be as old as the dispatch (memory.glsl, "old words"). So the value is one that the key has had since the
// dispatch began, and every lookup of the dispatch may have taken effect at that moment. A program whose invocations
// wait for each other must not glance. In a pool that others use, too, a glance finds nothing (BTREE_SHARES).
#ifndef VKDS_GLANCE_GLSL
#define VKDS_GLANCE_GLSL

#define VKDS_SEARCH_OLD
#include "btree_operation.glsl"
#include "btree_search.glsl"

const uint GLANCE_VISITS = 24u;   // of a tile, for each of its lanes; in halves of nodes

// Looks for each enabled lane's key, from its start down. Returns true if it has found the key, and sets value. A lane
// that came to a leaf without finding it gets that leaf as its hint. One that was led astray keeps its hint. So do
// those that start at the root, whose level may change, and those for the keys 0 and ~0, which free slots have.
// Collective over the subgroup.
bool btree_glance(BTree tree, BTreePlace start, K key, bool enabled, inout V value, inout BTreeHint hint) {
    bool there = false;
#if VKDS_LEAF_ATOMICS
    bool looks = enabled && BTREE_SHARES == 0u && start.node != tree.root && key + 1u > 1u;
    BTreeSearch s = btree_search(key, start, looks);
    uint above = SLAB_NULL, slot = 0u;
    V seen = V(0u);
    [[dont_unroll]] for (uint visits = GLANCE_VISITS * TILE; subgroupAny(s.open != 0u) && visits != 0u; visits--) {
        uint rank, at = s.node;
        V word;
        bool arrived = btree_go_on(tree, s, rank, word);
        bool moved = !arrived && s.part == 0u;
        bool lost = moved && (rank == 0u || s.node == SLAB_NULL);   // words of different age have led nowhere
        bool ends = arrived || lost, mine = s.open != 0u && btree_source(s) == tile_lane();
        VKDS_EVENT(mine && (arrived || moved), TRACE_VISIT, at, 0u)
        if (mine && arrived) {
            hint = BTreeHint(at, above);
            there = rank != 0u;
            slot = rank - 1u;
            seen = word;
        }
        above = ends ? SLAB_NULL : moved && rank != BTREE_RIGHT ? at : above;
        if (ends) {
            s.node = start.node;   // until the next lane's turn
            s.open &= s.open - 1u;
        }
        if (TILE > 1u) btree_turn(s, key, start, ends);
    }
    if (there && BTREE_TORN != 0u) {
        uvec2 pair = atomic_load2(btree_slot(slab_address(tree.pool, hint.leaf), slot));
        there = pair.x == key;
        seen = pair.y;
    }
    if (there) value = seen;
#endif
    return there;
}

#endif
