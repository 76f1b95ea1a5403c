// B-link-tree glance: looks keys up by the short way of read-only phases (btree_search.glsl) while others change the
// tree.
//
// Beside updates a lookup must be sure of its answer, so it reads whole nodes, and a leaf without its key twice. But a
// key that is seen in a leaf is in the tree, whatever led there. So a glance reads nodes in halves and by plain loads,
// and what it finds is right. What it doesn't find, btree_apply looks up.
//
// Words may be as old as the dispatch (memory.glsl, "old words"). So the value is one that the key has had since the
// dispatch began, and every lookup of the dispatch may have taken effect at that moment. A program whose invocations
// wait for each other must not glance.
#ifndef VKDS_BTREE_GLANCE_GLSL
#define VKDS_BTREE_GLANCE_GLSL

#define VKDS_SEARCH_OLD
#include "btree_operation.glsl"
#include "btree_search.glsl"

const uint GLANCE_VISITS = 24u;   // of a tile, for each of its lanes; in halves of nodes

// Goes down from each enabled lane's start to its key's leaf, to which it sets hint, and looks for the key there, if
// `looks`. Returns true if it has found the key, and sets value. A lane that is led astray keeps its hint. So do those
// that start at the root, whose level may change, and those for the keys 0 and ~0, which free slots have. Collective
// over the subgroup.
bool btree_glance(BTree tree, BTreePlace start, K key, bool enabled, bool looks, inout V value, inout BTreeHint hint) {
    bool there = false;
#if VKDS_LEAF_ATOMICS
    looks = looks && key + 1u > 1u;
    BTreeSearch s = btree_search(key, start, enabled && start.node != tree.root && (looks || start.level != 0u));
    uint lookers = tile_ballot(looks), above = SLAB_NULL, slot = 0u;
    V seen = V(0u);
    [[dont_unroll]] for (uint visits = GLANCE_VISITS * TILE; subgroupAny(s.open != 0u) && visits != 0u; visits--) {
        uint rank, at = s.node, source = btree_source(s);
        V word;
        bool reads = (lookers >> source & 1u) != 0u;
        bool arrived = btree_go_on(tree, s, rank, word);
        bool moved = !arrived && s.part == 0u;
        bool lost = moved && (rank == 0u || s.node == SLAB_NULL);   // words of different age have led nowhere
        bool down = moved && !lost && rank != BTREE_RIGHT;
        above = down ? at : above;
        bool ends = arrived || lost || down && s.level == 0u && !reads;
        bool mine = s.open != 0u && ends && source == tile_lane();
        VKDS_EVENT(s.open != 0u && source == tile_lane() && (arrived || moved), TRACE_VISIT, at, 0u)
        if (mine && !lost) {
            hint = BTreeHint(s.node, above);
            there = arrived && rank != 0u;
            slot = rank - 1u;
            seen = word;
        }
        if (ends) {
            s.node = start.node;
            s.open &= s.open - 1u;
            above = SLAB_NULL;
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
