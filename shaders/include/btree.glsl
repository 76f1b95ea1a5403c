// B-link-tree: concurrent operations on a tree, for kernels of one's own as for those of package btree.
//
// After Awad et al., "Engineering a High-Performance GPU B-Tree" (2019), section 4, with leaves that are filled without
// a latch (btree_leaf.glsl). Headers for read-only phases: btree_search.glsl and btree_walk.glsl.
#ifndef VKDS_BTREE_GLSL
#define VKDS_BTREE_GLSL

#include "operation.glsl"
#include "results.glsl"
#include "btree_descend.glsl"
#include "btree_leaf.glsl"
#include "btree_latch.glsl"

// Where an operation stands.
const uint STEP_DOWN = 0u;    // on its way from the root
const uint STEP_LEAF = 1u;    // before its leaf
const uint STEP_AGAIN = 2u;   // before its leaf, which it has to read behind a fence
const uint STEP_KEY = 3u;     // at the slot that holds its key
const uint STEP_ROOM = 4u;    // at the empty slot that it is to fill
const uint STEP_LATCH = 5u;   // before a node that it has to latch
const uint STEP_DONE = 6u;

// In a status: the operation is done, but the way from the root to a node that it split off leads over a side link,
// since there was no slab for the parents' splits or no visit left. The tree is right, and its host mends it.
const uint STATUS_ORPHAN = 0x100u;

// Leaves beyond one that is known that are looked at before the way is begun anew.
const uint LEAF_MOVES = 4u;

// Where an operation is to begin: at a leaf, with the node above it or SLAB_NULL, or (SLAB_NULL) at the node `above`.
struct BTreeHint {
    uint leaf;
    uint above;
};

// Does each enabled lane's operation concurrently with whatever other invocations do to the tree: OP_INSERT,
// OP_INSERT_UNIQUE, OP_DELETE or OP_FIND. Returns its STATUS_…; STATUS_PENDING if the pool was full or the budget (of
// node visits by the tile) was used up, and then the operation has had no effect and may be tried again. `value` is
// what an insertion brings, and becomes the value that OP_FIND finds. Collective over the subgroup.
//
// First the tiles walk, for one of their lanes after the other, until each operation stands before a slot; then all
// lanes act, each for itself, so that their atomics are under way together; then those that need a latch take it.
uint btree_apply(BTree tree, inout SlabCursor cursor, uint kind, uint key, inout uint value, bool enabled, uint budget,
                 BTreeHint hint) {
    bool inserts = kind == OP_INSERT || kind == OP_INSERT_UNIQUE;
    uint empty_key = key == ~0u ? 0u : ~0u;
    uint status = STATUS_PENDING;
    uint step = !enabled ? STEP_DONE : hint.leaf == SLAB_NULL ? STEP_DOWN : STEP_LEAF;
    uint carried = value;   // the value, then the child that a separator brings
    uint level = 0u, moves = 0u;
    uint node = hint.leaf == SLAB_NULL ? hint.above : hint.leaf;
    uint above = hint.leaf == SLAB_NULL ? SLAB_NULL : hint.above;
    uint slot = 0u, seen = 0u;   // what was found at the leaf: the value in the slot, or the leaf's meta
    bool again = false;          // the leaf was read before, and seen is its meta then
    uint splits = 0u, restarts = 0u;
    uint visits = 0u;
#if !VKDS_INT64_ATOMICS
    pairs_by_32_bit_atomics();
    if (step == STEP_LEAF && kind != OP_FIND) step = STEP_LATCH;
#endif
    bool fills = subgroupAny(enabled && inserts);
    bool busy = enabled;
    while (subgroupAny(busy) && visits < budget) {
        bool down = step == STEP_DOWN;
        if (subgroupAny(down)) {
            btree_descend(tree, key, level, down, budget, visits, node, above);
            if (down && node == SLAB_NULL) node = BTREE_ROOT;
            else if (down) {
                step = level == 0u ? STEP_LEAF : STEP_LATCH;
#if !VKDS_INT64_ATOMICS
                if (kind != OP_FIND) step = STEP_LATCH;
#endif
                moves = 0u;
                again = false;
            }
        }

        // One fence for all of them: it is dear.
        bool rereads = step == STEP_AGAIN;
        if (subgroupAny(rereads)) acquire_fence();
        again = again && rereads;
        if (rereads) step = STEP_LEAF;

        for (; subgroupAny(step == STEP_LEAF) && visits < budget; visits++) {
            uint queue = tile_ballot(step == STEP_LEAF);
            uint source = queue == 0u ? 0u : uint(findLSB(queue));
            uint k = tile_shuffle(key, source);
            uvec2 leaf = slab_address(tree.pool, tile_shuffle(node, source));
#if !VKDS_INT64_ATOMICS
            uint before = 0u, after = 0u;
            if (queue != 0u) before = atomic_load(address_add(leaf, BTREE_META_AT));
            bool latched_before = tile_ballot(btree_latched(before)) != 0u;   // no lane reads on before all have this
            acquire_fence();
#endif
            Node n = leaf_load(leaf, queue != 0u);
            LeafPlace place = leaf_place(n, k);
            LeafView view = leaf_view(n, k, btree_empty_key(k), fills);
#if !VKDS_INT64_ATOMICS
            acquire_fence();
            if (queue != 0u) after = atomic_load(address_add(leaf, BTREE_META_AT));
#endif
            bool mine = queue != 0u && tile_lane() == source;
            if (mine && (place.astray || moves == LEAF_MOVES)) {
                step = STEP_DOWN;
                node = BTREE_ROOT;
                above = SLAB_NULL;
                restarts++;
            } else if (mine && place.right) {
                node = place.link;
                moves++;
                again = false;
                step = STEP_AGAIN;   // a leaf that was linked a moment ago is read behind a fence
            } else if (mine) {
#if VKDS_INT64_ATOMICS
                // Two views agree, behind a fence, on a leaf that nobody has latched.
                bool sure = again && place.meta == seen && !btree_latched(seen);
                bool fresh = view.version == 0u || (sure && view.version == btree_version(seen) << 1);
#else
                bool sure = before == after && !latched_before, fresh = false;
                if (!sure) view.slot = NODE_NONE;
#endif
                seen = place.meta;
                if (view.slot != NODE_NONE) {
                    slot = view.slot;
                    seen = view.value;
                    step = kind == OP_INSERT_UNIQUE || (kind == OP_FIND && BTREE_TORN == 0u) ? STEP_DONE : STEP_KEY;
                    status = step == STEP_DONE ? STATUS_FOUND : STATUS_PENDING;
#if !VKDS_INT64_ATOMICS
                    step = STEP_DONE;
                    status = STATUS_FOUND;
#endif
                    if (kind == OP_FIND) value = seen;
                } else if (!inserts) {
                    step = sure ? STEP_DONE : STEP_AGAIN;
                    if (sure) status = STATUS_ABSENT;
                } else if (view.room != NODE_NONE) {
                    slot = view.room;
                    if (fresh) seen = view.version;
                    step = fresh ? STEP_ROOM : STEP_AGAIN;
                } else {
                    step = STEP_LATCH;
                }
                again = true;
            }
        }

#if VKDS_INT64_ATOMICS
        if (step == STEP_KEY || step == STEP_ROOM) {
            uvec2 at = btree_slot(slab_address(tree.pool, node), slot);
            bool done;
            if (step == STEP_ROOM) {
                done = leaf_insert(at, key, carried, empty_key, seen);
            } else if (kind == OP_FIND) {
                uvec2 pair = atomic_load2(at);
                done = pair.x == key;
                if (done) value = pair.y;
            } else {
                done = leaf_change(at, kind == OP_DELETE, key, seen, carried, empty_key);
            }
            if (done) status = step == STEP_ROOM ? STATUS_INSERTED : kind == OP_FIND ? STATUS_FOUND
                             : kind == OP_DELETE ? STATUS_DELETED : STATUS_ASSIGNED;
            step = done ? STEP_DONE : STEP_LEAF;
            again = false;
        }
#endif

#if VKDS_INT64_ATOMICS
        bool latches = inserts && step == STEP_LATCH;   // kernels of other kinds are compiled without what follows
#else
        bool latches = step == STEP_LATCH;
#endif
        if (subgroupAny(latches)) {
            bool latched = false;
            if (latches) {
                latched = node_latch(slab_address(tree.pool, node));
#if VKDS_INT64_ATOMICS
                if (!latched && level == 0u) step = STEP_LEAF;
#endif
                if (!latched) restarts++;
                again = false;
            }
            // What is read from now on is what the last one to hold the latch has left, and what is written is seen
            // by no one who doesn't see the latch.
            full_fence();
            uint fresh = slab_allocate(tree.pool, cursor, latched && (inserts || level != 0u));
            uint fresh2 = SLAB_NULL;
            bool root = latched && node == BTREE_ROOT;
            if (subgroupAny(root)) fresh2 = slab_allocate(tree.pool, cursor, root);
            if (latched) {
                uint link;
                LatchedOutcome o =
                    latched_update(tree, LatchedTask(kind, key, carried, node, fresh, fresh2), level, link);
                bool grew = o.what == LATCHED_DONE && root && btree_level(o.meta) != level;
                if (o.what == LATCHED_SPLIT || grew) {
                    splits++;
                    carried = fresh;
                    fresh = SLAB_NULL;
                    if (grew) fresh2 = SLAB_NULL;
                }
                if (o.what == LATCHED_ELSEWHERE) {
                    bool right = link != BTREE_ROOT && moves < LEAF_MOVES;
                    node = right ? link : BTREE_ROOT;
                    moves++;
                    if (!right) step = STEP_DOWN;
                } else if (o.what == LATCHED_IN_TIME) {
                    step = STEP_LEAF;
                } else if (o.what == LATCHED_SPLIT) {
                    if (level == 0u) status = o.status;
                    key = o.separator;
                    level++;
                    moves = 0u;
                    step = above != SLAB_NULL ? STEP_LATCH : STEP_DOWN;
                    node = above != SLAB_NULL ? above : BTREE_ROOT;
                    above = SLAB_NULL;
                } else {
                    if (o.what == LATCHED_NO_SLAB && status != STATUS_PENDING) status |= STATUS_ORPHAN;
                    if (o.what == LATCHED_DONE && level == 0u) status = o.status;
                    step = STEP_DONE;
                }
            }
            slab_free(tree.pool, fresh, fresh != SLAB_NULL);
            if (subgroupAny(fresh2 != SLAB_NULL)) slab_free(tree.pool, fresh2, fresh2 != SLAB_NULL);
            visits++;
        }
        busy = step != STEP_DONE;
    }
    if (step != STEP_DONE && status != STATUS_PENDING) status |= STATUS_ORPHAN;
    if (subgroupAny(splits + restarts != 0u)) {
        uint all_splits = subgroupAdd(splits), all_restarts = subgroupAdd(restarts);
        uint orphans = subgroupBallotBitCount(subgroupBallot(status > STATUS_ORPHAN));
        if (subgroupElect()) {
            atomic_add(address_add(tree.state, BTREE_SPLITS_AT), all_splits);
            atomic_add(address_add(tree.state, BTREE_RESTARTS_AT), all_restarts);
            if (orphans != 0u) atomic_add(address_add(tree.state, BTREE_ORPHANS_AT), orphans);
        }
    }
    return status;
}

uint btree_apply(BTree tree, inout SlabCursor cursor, uint kind, uint key, inout uint value, bool enabled,
                 uint budget) {
    return btree_apply(tree, cursor, kind, key, value, enabled, budget, BTreeHint(SLAB_NULL, BTREE_ROOT));
}

#endif
