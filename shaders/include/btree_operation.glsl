// What a lane's operation on a B-link-tree does next, concurrently with others: from what it meets at a node, where it
// goes on. btree.glsl leads the lanes of a subgroup through these steps together.
//
// Everything here is one lane's own. Nodes come as what the tile has found in them, or as addresses.
#ifndef VKDS_BTREE_OPERATION_GLSL
#define VKDS_BTREE_OPERATION_GLSL

#include "operation.glsl"
#include "results.glsl"
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

// Side links of a level that are followed before the way is begun anew.
const uint LEAF_MOVES = 4u;

// Where an operation is to begin: at a leaf, with the node above it or SLAB_NULL, or (SLAB_NULL) at the node `above`.
struct BTreeHint {
    uint leaf;
    uint above;
};

// An operation under way. Its kind never changes, and so stands beside it.
struct BTreeOperation {
    K key;          // its own, then the separator that its split brings one level up
    V value;        // what it brings or finds, then the separator's child
    uint step;      // STEP_…
    uint status;    // STATUS_…
    uint level;     // of the node that it changes
    uint node;      // where it stands, or is on its way from
    uint above;     // the node that led there, or SLAB_NULL
    uint moves;     // side links followed on this level
    uint slot;      // of its leaf: with its key, or empty
    uint seen;      // the value in that slot, or (`again`) the leaf's meta
    bool again;     // the leaf was read before
    uint splits;
    uint restarts;
};

bool btree_inserts(uint kind) { return op_inserts(kind); }

// Whether operations of a kind ever take a latch. Kernels of other kinds are compiled without what that needs.
bool btree_latches(uint kind) {
#if VKDS_LEAF_ATOMICS
    return btree_inserts(kind);
#else
    return true;
#endif
}

// What an operation does first at a node of its level.
uint btree_first_step(uint kind, uint level) {
#if !VKDS_LEAF_ATOMICS
#if !VKDS_WIDE && !defined(VKDS_CLOCK)
    pairs_by_32_bit_atomics();
#endif
    if (kind != OP_FIND) return STEP_LATCH;
#endif
    return level == 0u ? STEP_LEAF : STEP_LATCH;
}

BTreeOperation btree_operation(uint kind, K key, V value, bool enabled, BTreeHint hint) {
    bool hinted = hint.leaf != SLAB_NULL;
    uint step = !enabled ? STEP_DONE : hinted ? btree_first_step(kind, 0u) : STEP_DOWN;
    return BTreeOperation(key, value, step, STATUS_PENDING, 0u, hinted ? hint.leaf : hint.above,
                          hinted ? hint.above : SLAB_NULL, 0u, 0u, 0u, false, 0u, 0u);
}

// Has been led down to its node (btree_descend), or there was no visit left for that.
void btree_arrive(inout BTreeOperation o, uint kind, BTree tree) {
    if (o.node == SLAB_NULL) {
        o.node = tree.root;
    } else {
        o.step = btree_first_step(kind, o.level);
        o.moves = 0u;
        o.again = false;
    }
}

// Begins anew at the root.
void btree_restart(inout BTreeOperation o, BTree tree) {
    o.step = STEP_DOWN;
    o.node = tree.root;
    o.above = SLAB_NULL;
    o.restarts++;
}

// Goes to the leaf on the right. One that was linked a moment ago is read behind a fence.
void btree_move_right(inout BTreeOperation o, uint link) {
    o.step = STEP_AGAIN;
    o.node = link;
    o.moves++;
    o.again = false;
}

// Has met its leaf, which the tile has read (`whole`: without 64-bit atomics, with no change meanwhile).
void btree_meet_leaf(inout BTreeOperation o, uint kind, LeafPlace place, LeafView view, bool whole) {
#if VKDS_LEAF_ATOMICS
    // Two views agree, behind a fence, on a leaf that nobody has latched.
    bool sure = o.again && place.meta == o.seen && !btree_latched(o.seen);
    bool fresh = view.version == 0u || (sure && view.version == btree_version(o.seen) << 1);
    o.seen = place.meta;
    if (view.slot != NODE_NONE) {
        o.slot = view.slot;
        o.seen = view.value;
        bool done = kind == OP_INSERT_UNIQUE || (kind == OP_FIND && BTREE_TORN == 0u);
        o.step = done ? STEP_DONE : STEP_KEY;
        if (done) o.status = STATUS_FOUND;
        if (kind == OP_FIND) o.value = view.value;
    } else if (!btree_inserts(kind)) {
        o.step = sure ? STEP_DONE : STEP_AGAIN;
        if (sure) o.status = STATUS_ABSENT;
    } else if (view.room != NODE_NONE) {
        o.slot = view.room;
        if (fresh) o.seen = view.version;
        o.step = fresh ? STEP_ROOM : STEP_AGAIN;
    } else {
        o.step = STEP_LATCH;
    }
    o.again = true;
#else
    // Updates have latched it; this one only looks.
    bool found = view.slot != NODE_NONE;
    o.step = whole ? STEP_DONE : STEP_AGAIN;
    if (whole) o.status = found ? STATUS_FOUND : STATUS_ABSENT;
    if (whole && found) o.value = view.value;
#endif
}

// Acts at its slot, by atomics alone: where it was too late it looks at the leaf again.
void btree_act(inout BTreeOperation o, uint kind, BTree tree) {
#if VKDS_LEAF_ATOMICS
    uvec2 at = btree_slot(slab_address(tree.pool, o.node), o.slot);
    uint empty_key = btree_empty_key(o.key), status = STATUS_ASSIGNED;
    bool done;
    if (o.step == STEP_ROOM) {
        done = leaf_insert(at, o.key, o.value, empty_key, o.seen);
        status = STATUS_INSERTED;
    } else if (kind == OP_FIND) {
        uvec2 pair = atomic_load2(at);
        done = pair.x == o.key;
        if (done) o.value = pair.y;
        status = STATUS_FOUND;
    } else {
        bool overtaken;
        done = leaf_change(at, kind, o.key, o.seen, o.value, empty_key, overtaken);
        if (overtaken) done = leaf_assigned(tree.state);
        if (kind == OP_DELETE) status = STATUS_DELETED;
    }
    if (done) o.status = status;
    o.step = done ? STEP_DONE : STEP_LEAF;
    o.again = false;
#endif
}

// Tries to take its node's latch. Where another has it: a leaf may have room by now.
bool btree_take_latch(inout BTreeOperation o, uint kind, BTree tree) {
    bool latched = node_latch(slab_address(tree.pool, o.node));
    if (!latched) {
        o.step = btree_first_step(kind, o.level);
        o.restarts++;
    }
    o.again = false;
    return latched;
}

// Has done what was to be done at a node under its latch, and released it. Slabs that were used up become SLAB_NULL:
// `fresh` of a split, `fresh2`, too, of that of the root.
void btree_leave_latched(inout BTreeOperation o, BTree tree, LatchedOutcome outcome, uint link, inout uint fresh,
                         inout uint fresh2) {
    bool grew = outcome.what == LATCHED_DONE && o.node == tree.root && btree_level(outcome.meta) != o.level;
    if (outcome.what == LATCHED_SPLIT || grew) {
        o.splits++;
        o.value = VKDS_VALUE_OF(fresh);
        fresh = SLAB_NULL;
        if (grew) fresh2 = SLAB_NULL;
    }
    if (outcome.what == LATCHED_ELSEWHERE) {
        bool right = link != tree.root && o.moves < LEAF_MOVES;
        o.node = right ? link : tree.root;
        o.moves++;
        if (!right) o.step = STEP_DOWN;
    } else if (outcome.what == LATCHED_IN_TIME) {
        o.step = STEP_LEAF;
    } else if (outcome.what == LATCHED_SPLIT) {
        if (o.level == 0u) o.status = outcome.status;
        o.key = outcome.separator;
        o.level++;
        o.moves = 0u;
        o.step = o.above != SLAB_NULL ? STEP_LATCH : STEP_DOWN;
        o.node = o.above != SLAB_NULL ? o.above : tree.root;
        o.above = SLAB_NULL;
    } else {
        if (outcome.what == LATCHED_NO_SLAB && o.status != STATUS_PENDING) o.status |= STATUS_ORPHAN;
        if (outcome.what == LATCHED_DONE && o.level == 0u) o.status = outcome.status;
        o.step = STEP_DONE;
    }
}

#endif
