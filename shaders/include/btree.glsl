// B-link-tree: concurrent operations on a tree. The kernels of package btree use it, and yours can.
//
// After Awad et al., "Engineering a High-Performance GPU B-Tree" (2019), section 4. Unlike there, insertions into a
// leaf with room take no latch (btree_leaf.glsl). Headers for read-only phases: btree_search.glsl and btree_walk.glsl.
#ifndef VKDS_BTREE_GLSL
#define VKDS_BTREE_GLSL

#include "btree_descend.glsl"
#include "btree_operation.glsl"

// Adds the splits, restarts and orphans of the lanes' operations to the tree's counters. Collective over the subgroup.
void btree_count(BTree tree, BTreeOperation o) {
    if (subgroupAny(o.splits + o.restarts != 0u)) {
        uint splits = subgroupAdd(o.splits), restarts = subgroupAdd(o.restarts);
        uint orphans = subgroupBallotBitCount(subgroupBallot(o.status > STATUS_ORPHAN));
        if (subgroupElect()) {
            atomic_add(address_add(tree.state, BTREE_SPLITS_AT), splits);
            atomic_add(address_add(tree.state, BTREE_RESTARTS_AT), restarts);
            if (orphans != 0u) atomic_add(address_add(tree.state, BTREE_ORPHANS_AT), orphans);
        }
    }
}

// Does each enabled lane's operation, concurrently with any operations of other invocations on the tree. `kind` is
// OP_INSERT, OP_INSERT_UNIQUE, OP_INSERT_ADD, OP_INSERT_MIN, OP_INSERT_MAX, OP_DELETE or OP_FIND. `value` is the value
// that an insertion inserts or combines with the old one; OP_FIND sets it to the value found. `budget` is the number of
// nodes that a tile may visit. Returns STATUS_…: STATUS_PENDING if the pool was full or the budget was used up. The
// operation then had no effect and may be tried again. Collective over the subgroup.
//
// A round has three steps. First each tile walks down the tree for one of its lanes after the other, until every
// operation is at a slot. Then all lanes act, each on its own slot, so that their atomics overlap in time. Then
// operations that need a latch take it.
//
// All nodes are read, and changed under latches, by functions that this function calls directly: NVIDIA's compiler
// keeps arrays in memory if they are passed through more calls (docs/notes/measurements.md, "nodes in registers").
uint btree_apply(BTree tree, inout SlabCursor cursor, uint kind, K key, inout V value, bool enabled, uint budget,
                 BTreeHint hint) {
    BTreeOperation o = btree_operation(kind, key, value, enabled, hint);
#if VKDS_LEAF_ATOMICS
    leaf_announce(tree.state, enabled && op_updates_in_place(kind));
#endif
    bool fills = subgroupAny(enabled && btree_inserts(kind));
    uint visits = 0u;
#ifdef VKDS_CLOCK
    uint spare = SLAB_NULL;   // a version
#endif
    while (subgroupAny(o.step != STEP_DONE) && visits < budget) {
        // One fence for all lanes, because a fence is expensive: for those that read a leaf again, and for those that
        // go down once more, because the words that led them were too old.
        bool rereads = o.step == STEP_AGAIN, down = o.step == STEP_DOWN;
        if (subgroupAny(rereads || (down && visits != 0u))) acquire_fence();
        o.again = o.again && rereads;
        if (rereads) o.step = STEP_LEAF;

        if (subgroupAny(down)) {
            btree_descend(tree, o.key, o.level, down, budget, visits, o.node, o.above);
            if (down) btree_arrive(o, kind, tree);
        }

        for (; subgroupAny(o.step == STEP_LEAF) && visits < budget; visits++) {
            uint queue = tile_ballot(o.step == STEP_LEAF);
            uint source = queue == 0u ? 0u : uint(findLSB(queue));
            K k = tile_shuffle(o.key, source);
            uvec2 leaf = slab_address(tree.pool, tile_shuffle(o.node, source));
            uint began = leaf_begin(leaf, queue != 0u);
            Node n = leaf_load(leaf, queue != 0u);
            LeafPlace place = leaf_place(n, k);
            LeafView view = leaf_view(n, k, btree_empty_key(k), fills);
            bool whole = leaf_end(leaf, queue != 0u, began);
            bool mine = queue != 0u && tile_lane() == source;
            VKDS_EVENT(mine, TRACE_VISIT, o.node, 0u)
            if (mine && (place.astray || o.moves == LEAF_MOVES)) btree_restart(o, tree);
            else if (mine && place.right) btree_move_right(o, place.link);
            else if (mine) btree_meet_leaf(o, kind, place, view, whole);
        }

        if (o.step == STEP_KEY || o.step == STEP_ROOM) btree_act(o, kind, tree);

        bool latches = btree_latches(kind) && o.step == STEP_LATCH;
        if (subgroupAny(latches)) {
            bool latched = false;
            if (latches) latched = btree_take_latch(o, kind, tree);
            // Reads after this see all writes of the latch's last holder. Writes after this are seen only by
            // invocations that also see the latch.
            full_fence();
            uint fresh = slab_allocate(tree.pool, cursor, latched && (btree_inserts(kind) || o.level != 0u));
            uint fresh2 = SLAB_NULL;
            bool root = latched && o.node == tree.root;
            if (subgroupAny(root)) fresh2 = slab_allocate(tree.pool, cursor, root);
#ifdef VKDS_CLOCK
            BTreeKeep keep = btree_keep(tree, o.node, latched && o.level == 0u, spare);
#endif
            if (latched) {
                uint link;
#ifdef VKDS_CLOCK
                LatchedTask task = LatchedTask(kind, o.key, o.value, o.node, fresh, fresh2, keep);
                LatchedOutcome outcome = latched_update(tree, task, o.level, link);
                if (keep.wanted && btree_changed(outcome)) spare = SLAB_NULL;
#else
                LatchedTask task = LatchedTask(kind, o.key, o.value, o.node, fresh, fresh2);
                LatchedOutcome outcome = latched_update(tree, task, o.level, link);
#endif
                btree_leave_latched(o, tree, outcome, link, fresh, fresh2);
            }
            slab_free(tree.pool, fresh, fresh != SLAB_NULL);
            if (subgroupAny(fresh2 != SLAB_NULL)) slab_free(tree.pool, fresh2, fresh2 != SLAB_NULL);
            visits++;
        }
    }
    if (o.step != STEP_DONE && o.status != STATUS_PENDING) o.status |= STATUS_ORPHAN;
#ifdef VKDS_CLOCK
    btree_spare_version(tree, spare);
#endif
    btree_count(tree, o);
    if (kind == OP_FIND) value = o.value;
    return o.status;
}

uint btree_apply(BTree tree, inout SlabCursor cursor, uint kind, K key, inout V value, bool enabled,
                 uint budget) {
    return btree_apply(tree, cursor, kind, key, value, enabled, budget, BTreeHint(SLAB_NULL, tree.root));
}

#endif
