// B-link-tree, batched updates: the records of leaves. Most of them are leaves that become two, which are read once and
// written once.
#ifndef VKDS_BTREE_BATCH_HALVE_GLSL
#define VKDS_BTREE_BATCH_HALVE_GLSL

#include "batch_split.glsl"
#define STAGE_NODES 2
#include "batch_stage.glsl"
#include "unroll.glsl"

// The slots of a leaf that stay, in registers. The others have the key ~0, which is in no leaf that becomes two.
struct Staying {
    K key[BTREE_SLOTS];
    V value[BTREE_SLOTS];
};

// The number of staying slots with a key below the given one.
uint staying_below(Staying l, K key) {
    uint below = 0u;
    VKDS_UNROLL for (uint s = 0u; s < BTREE_SLOTS; s++) below += VKDS_BELOW(l.key[s], key) ? 1u : 0u;
    return below;
}

// The value of a key in a leaf, or `otherwise` if the leaf does not have the key.
V leaf_value(uvec2 node, K key, V otherwise) {
    [[dont_unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) {
        P pair = VKDS_SLOT_LOAD(btree_slot(node, s));
        otherwise = pair.VKDS_KEY == key ? pair.VKDS_VALUE : otherwise;
    }
    return otherwise;
}

// The place in a lane's row of pair `at` of those that a leaf and its new neighbour share. The leaf gets the pairs
// before `first`.
uint half_place(uint at, uint first) { return at < first ? at : NODE_PAIRS + min(at - first, BTREE_SLOTS - 1u); }

// Divides the leaf in this lane's row between itself and a new leaf, which gets the given slab, and adds the segment of
// the record. Returns the new leaf's low.
K halve(BTree tree, Batch b, Record r, uint slab) {
    uint row = workgroup_lane(), first = batch_first(r.count, 2u, 1u);
    Staying l;
    uint place[BTREE_SLOTS];
    VKDS_UNROLL for (uint s = 0u; s < BTREE_SLOTS; s++) {
        P pair = staged_pair(row, s);
        l.key[s] = (r.slots >> s & 1u) != 0u ? pair.VKDS_KEY : K(~0u);
        l.value[s] = pair.VKDS_VALUE;
    }
    VKDS_UNROLL for (uint s = 0u; s < BTREE_SLOTS; s++) place[s] = staying_below(l, l.key[s]);
    P lower = staged_pair(row, BTREE_SLOTS), upper = staged_pair(row, BTREE_SLOTS + 1u);
    VKDS_UNROLL for (uint s = 0u; s < BTREE_SLOTS; s++) {
        stage_pair(row, s, P(btree_empty_key(upper.VKDS_KEY), V(0u)));
        stage_pair(row, NODE_PAIRS + s, P(btree_empty_key(upper.VKDS_KEY), V(0u)));
    }
    uint landed = 0u;
    K low = K(0u), key = batch_key(b, r.begin);
    [[dont_unroll]] for (uint i = r.begin; i < r.end; i++) {
        K next = ~key;
        if (i + 1u < r.end) next = batch_key(b, i + 1u);
        bool lands = next != key;
        if (lands) lands = marks_lands(b, i);
        if (lands) {
            Landing n = batch_landing(b, i);
            if (n.keeps) n.value = leaf_value(slab_address(tree.pool, r.node), key, n.value);
            uint at = landed + staying_below(l, key);
            stage_pair(row, half_place(at, first), P(key, n.value));
            low = at == first ? key : low;
            landed++;
            VKDS_UNROLL for (uint s = 0u; s < BTREE_SLOTS; s++) place[s] += VKDS_BELOW(key, l.key[s]) ? 1u : 0u;
        }
        key = next;
    }
    VKDS_UNROLL for (uint s = 0u; s < BTREE_SLOTS; s++) {
        if ((r.slots >> s & 1u) != 0u) {
            stage_pair(row, half_place(place[s], first), P(l.key[s], l.value[s]));
        }
        low = (r.slots >> s & 1u) != 0u && place[s] == first ? l.key[s] : low;
    }
    stage_pair(row, BTREE_SLOTS, VKDS_LOWER(btree_meta(0u, 0u), lower.VKDS_VALUE));
    stage_pair(row, BTREE_SLOTS + 1u, VKDS_UPPER(VKDS_BEFORE(low), slab));
    stage_pair(row, NODE_PAIRS + BTREE_SLOTS, VKDS_LOWER(btree_meta(0u, 0u), low));
    stage_pair(row, NODE_PAIRS + BTREE_SLOTS + 1u, upper);
    return low;
}

// Does the lane's record, if it has one. Collective over the workgroup.
void split_leaf(BTree tree, Work w, Batch b, uvec2 free, bool busy, Record r, uint number) {
    uint lane = workgroup_lane();
    bool halves = busy && !record_long(r) && batch_nodes(b, r.count) == 2u;
    uint slab = SLAB_NULL;
    staged_slab[2u * lane] = halves ? r.node : SLAB_NULL;
    barrier();
    stage_load(tree.pool);
    barrier();
    if (halves) {
        slab = batch_slab(tree.pool, free, number);   // there is no level below this one, so no slab is taken yet
        K low = halve(tree, b, r, slab);
        uint at = min(number, w.capacity - 1u);
        VKDS_STORE_NEAR(batch_lows(w, 0u), at, low);
        plain_store_near(batch_children(w, 0u), at, slab);
#ifdef VKDS_VERSIONS
        btree_inherit(tree, r.node, slab);
#endif
    }
    staged_slab[2u * lane + 1u] = slab;
    barrier();
    stage_store(tree.pool);
    if (busy && !halves) split_record(tree, w, b, free, r, number);
}

#endif
