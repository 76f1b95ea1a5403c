// B-link-tree operation: the state machine of one lane's operation, concurrent with others. From what the operation
// finds at a node, it decides the next step. btree.glsl runs these steps for the lanes of a subgroup together.
//
// All functions here are for one lane. They get a node as the results of the tile's search in it, or as an address.
#ifndef VKDS_BTREE_OPERATION_GLSL
#define VKDS_BTREE_OPERATION_GLSL

#include "operation.glsl"
#include "results.glsl"
#include "btree_leaf.glsl"
#include "btree_latch.glsl"

// The next step of an operation.
const uint STEP_DOWN = 0u;    // go down from the root or another node
const uint STEP_LEAF = 1u;    // read its leaf
const uint STEP_AGAIN = 2u;   // read its leaf after a fence
const uint STEP_KEY = 3u;     // act at the slot that holds its key
const uint STEP_ROOM = 4u;    // fill an empty slot
const uint STEP_LATCH = 5u;   // latch a node
const uint STEP_DONE = 6u;

// A bit of a status: the operation is done, but a node that it split off is in no parent and can be reached only by a
// side link, because the pool was full or the budget was used up. The tree is correct; the host repairs it later.
const uint STATUS_ORPHAN = 0x100u;

// The side links of one level that an operation follows before it starts again at the root.
const uint LEAF_MOVES = 4u;

// Where an operation starts: at `leaf`, with `above` the inner node above it or SLAB_NULL; or, if `leaf` is SLAB_NULL,
// at the inner node `above`.
struct BTreeHint {
    uint leaf;
    uint above;
};

// An operation that is in progress. Its kind never changes, and is passed beside it.
struct BTreeOperation {
    K key;          // the operation's key; after a split, the separator to insert one level up
    V value;        // the value to insert, or found; after a split, the separator's child
    uint step;      // STEP_…
    uint status;    // STATUS_…
    uint level;     // of the node that it changes
    uint node;      // the current node, or the one to go down from
    uint above;     // the node that led there, or SLAB_NULL
    uint moves;     // side links followed on this level
    uint slot;      // the slot of the leaf with its key, or an empty one
    uint seen;      // the value in that slot, or (`again`) the leaf's meta
    bool again;     // the leaf was read before
    uint splits;
    uint restarts;
};

bool btree_inserts(uint kind) { return op_inserts(kind); }

// Whether operations of a kind ever take a latch. Kernels of other kinds are compiled without the code for latches.
bool btree_latches(uint kind) {
#if VKDS_LEAF_ATOMICS
    return btree_inserts(kind);
#else
    return true;
#endif
}

// The first step of an operation at a node of its level.
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

// Called after btree_descend, which has brought the operation to its node, or has used up the budget (SLAB_NULL).
void btree_arrive(inout BTreeOperation o, uint kind, BTree tree) {
    if (o.node == SLAB_NULL) {
        o.node = tree.root;
    } else {
        o.step = btree_first_step(kind, o.level);
        o.moves = 0u;
        o.again = false;
    }
}

// Starts again at the root.
void btree_restart(inout BTreeOperation o, BTree tree) {
    o.step = STEP_DOWN;
    o.node = tree.root;
    o.above = SLAB_NULL;
    o.restarts++;
    VKDS_EVENT(true, TRACE_RESTART, o.node, 0u)
}

// Goes to the leaf on the right. It is read after a fence, because it may have been linked a moment ago.
void btree_move_right(inout BTreeOperation o, uint link) {
    VKDS_EVENT(true, TRACE_SIDE, o.node, link)
    o.step = STEP_AGAIN;
    o.node = link;
    o.moves++;
    o.again = false;
}

// Decides the next step after the tile has read the operation's leaf. `whole` counts only without 64-bit atomics: the
// leaf did not change during the read.
void btree_meet_leaf(inout BTreeOperation o, uint kind, LeafPlace place, LeafView view, bool whole) {
#if VKDS_LEAF_ATOMICS
    // Two reads with a fence between them have shown the same meta, not latched.
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
    // Only OP_FIND comes here: updates latch the leaf.
    bool found = view.slot != NODE_NONE;
    o.step = whole ? STEP_DONE : STEP_AGAIN;
    if (whole) o.status = found ? STATUS_FOUND : STATUS_ABSENT;
    if (whole && found) o.value = view.value;
#endif
}

// Acts at the operation's slot, by atomics alone. If another invocation was faster, the leaf is read again.
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
    VKDS_EVENT_PAIR(true, trace_act(done, status), o.node, o.slot, o.key, o.value)
    o.step = done ? STEP_DONE : STEP_LEAF;
    o.again = false;
#endif
}

// Tries to take the latch of the operation's node. If it is taken, a leaf is read again: it may have room by now.
bool btree_take_latch(inout BTreeOperation o, uint kind, BTree tree) {
    bool latched = node_latch(slab_address(tree.pool, o.node));
    VKDS_EVENT(true, latched ? TRACE_LATCH : TRACE_LATCHED, o.node, o.level)
    if (!latched) {
        o.step = btree_first_step(kind, o.level);
        o.restarts++;
    }
    o.again = false;
    return latched;
}

// Decides the next step after latched_update, which has released the latch. Slabs that were used become SLAB_NULL:
// `fresh` after a split, and `fresh2` as well after a split of the root.
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
