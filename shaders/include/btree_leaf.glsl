// B-link-tree leaf: how a tile reads a leaf during updates, and how one lane changes a slot without the leaf's latch.
//
// A leaf with room is changed without its latch, although a tile loads the slots and the header at different times and
// in any order. Why that is correct:
//
//   - A slot goes from empty to a pair, whose value may change, to erased. It stays erased until the leaf is cleaned or
//     split under its latch. An insertion takes the first empty slot from the key's first slot on (leaf_first). So two
//     insertions of one key meet in one slot, and insertions of different keys rarely do.
//   - A leaf is cleaned or split only if no slot is empty. This gives the slots that become empty a new version, one
//     slot after the other, and then unlatches the leaf with that version in its meta. An insertion's compare-and-swap
//     expects the version, so it fails if the leaf was cleaned or split since it was read.
//   - Two insertions of one key meet only if both have seen every slot in its state since that version began. For an
//     empty slot of version 0 one view suffices: the leaf was not cleaned or split since it was made, or since a
//     read-only phase, so there is no older state. For any other version two views are needed, with an acquire_fence
//     between them: the first shows the meta unlatched, with the version of the slot that the second finds. (It is not
//     enough that both show the slot's version: the cleaning may still be going on, at slots that come first for the
//     key.)
//   - A split first takes the pairs that move out of the leaf (their slots become erased), then writes the new leaf,
//     publishes it by high and link, and last unlatches the leaf with a new version. So a key that is found is in the
//     tree. A key is absent if two views, with an acquire_fence between them, don't have it, and both show the same
//     meta, unlatched, and that the leaf is the one for the key. Proof: suppose that a split took the key out before
//     the first view read its slot. The second view's meta then shows that split's latch or its end. The metas are
//     equal and unlatched, so the first view's meta showed the end, too. Then the second view, after the fence, has the
//     high of the split, and the leaf is not the one for the key. Meta and high need not be read together. The second
//     meta alone is not enough: it may be read after the unlatching, and the high before it was published.
//
// A leaf that a side link leads to may be new, and must be read after an acquire_fence. On the way down from the root
// the order by address (memory.glsl) suffices.
#ifndef VKDS_BTREE_LEAF_GLSL
#define VKDS_BTREE_LEAF_GLSL

#include "constants.glsl"
#include "btree_node.glsl"
#include "operation.glsl"

// 1 if the two words of a pair may have different age when one load reads them, as on CPU drivers. Each pair of a leaf
// is then read by an atomic: otherwise the old key and the new value of a slot that is being filled could look like an
// erased slot.
layout(constant_id = VKDS_ID_BTREE_TORN) const uint BTREE_TORN = 1;

// Reads a leaf, whose pairs others may change concurrently.
Node leaf_load(uvec2 leaf, bool enabled) {
#if VKDS_LEAF_ATOMICS
    if (BTREE_TORN != 0u) {
        Node n;
        for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
            n.pair[m] = uvec2(0u);
            if (enabled) n.pair[m] = atomic_load2(btree_slot(leaf, node_pair_index(m)));
        }
        return n;
    }
#endif
    return node_load_coherent(leaf, enabled);
}

// Called before and after leaf_load. Without atomics on pairs, each update holds the latch and sets a new version: the
// read is consistent, and leaf_end returns true, if the meta was the same before and after it, and not latched. With
// atomics on pairs, each pair is consistent, and leaf_end always returns true. Collective.
uint leaf_begin(uvec2 leaf, bool enabled) {
    uint meta = 0u;
#if !VKDS_LEAF_ATOMICS
    if (enabled) meta = atomic_load(address_add(leaf, BTREE_META_AT));
    if (tile_ballot(btree_latched(meta)) != 0u) meta |= 1u;   // the vote makes all lanes read the meta first
    acquire_fence();
#endif
    return meta;
}
bool leaf_end(uvec2 leaf, bool enabled, uint began) {
#if VKDS_LEAF_ATOMICS
    return true;
#else
    uint meta = 0u;
    acquire_fence();
    if (enabled) meta = atomic_load(address_add(leaf, BTREE_META_AT));
    return meta == began && !btree_latched(began);
#endif
}

// The result of a search for a key in a leaf. The same for all lanes of the tile.
struct LeafView {
    uint slot;      // the slot that holds the key, or NODE_NONE
    V value;        // the value in that slot
    uint room;      // the first empty slot for the key, or NODE_NONE
    uint version;   // the value in that empty slot, its version
};

// The slot where the search for an empty slot for a key starts; after the last slot it goes on at slot 0. The numbers
// 14 and 15 are no slots, and are skipped.
#if VKDS_WIDE
uint leaf_first(K key) { return 0u; }   // any slot works, because the leaf is latched
#else
uint leaf_first(uint key) { return (key * 0x9e3779b1u) >> 28; }
#endif

// Searches a leaf for a key and, if `fills`, for the first empty slot for it. Collective over the subgroup, and `fills`
// must be the same for all its lanes.
LeafView leaf_view(Node n, K key, K empty_key, bool fills) {
    uint hits = 0u;   // one bit for each quad of the node, in node order
    uint hit = 0u;   // this lane's first slot with the key
    V hit_value = V(0u);
    uint from = leaf_first(key), away = NODE_PAIRS, room_version = 0u;   // how far this lane's nearest empty slot is
    [[unroll]] for (uint i = 0u; i < NODE_QUADS; i++) {
        uint j = NODE_QUADS - 1u - i;
        bool any_hit = false;
        [[unroll]] for (uint r = 0u; r < NODE_LANE_PAIRS / NODE_QUADS; r++) {
            uint m = (j + 1u) * (NODE_LANE_PAIRS / NODE_QUADS) - 1u - r;
            P pair = n.pair[m];
            bool slot = btree_lane_has(m);
            if (slot && pair.VKDS_KEY == key) {
                any_hit = true;
                hit = m;
                hit_value = pair.VKDS_VALUE;
            }
            uint steps = (node_pair_index(m) - from) & (NODE_PAIRS - 1u);
            if (slot && pair.VKDS_KEY == empty_key && (VKDS_REFERENCE(pair.VKDS_VALUE) & 1u) == 0u && steps < away) {
                away = steps;
                room_version = VKDS_REFERENCE(pair.VKDS_VALUE);
            }
        }
        hits |= tile_ballot(any_hit) << (j * TILE & 31u);
    }
    LeafView v = LeafView(NODE_NONE, V(0u), NODE_NONE, 0u);
    uint lane = uint(findLSB(hits)) & (TILE - 1u);
    uint slot = tile_shuffle(node_pair_index(hit), lane);
    v.value = tile_shuffle(hit_value, lane);
    if (hits != 0u) v.slot = slot;
    if (fills) {
        for (uint step = 1u; step < TILE; step <<= 1) {
            uint other = tile_shuffle(away, tile_lane() ^ step);
            uint version = tile_shuffle(room_version, tile_lane() ^ step);
            room_version = other < away ? version : room_version;
            away = min(away, other);
        }
        v.version = room_version;
        if (away != NODE_PAIRS) v.room = (from + away) & (NODE_PAIRS - 1u);
    }
    return v;
}

// Whether a leaf is the one for a key. The same for all lanes of the tile.
struct LeafPlace {
    bool astray;   // it is no leaf, or its keys are greater, or only the high of a split was seen and not its link
    bool right;    // the key is above the leaf's high
    uint meta;     // the leaf's meta
    uint link;
};

// Collective over the subgroup.
LeafPlace leaf_place(Node n, K key) {
#if VKDS_WIDE
    NodeHeader h = btree_header(n);
    bool right = number_below(h.high, key);
    bool astray = number_below(key, h.low) || btree_level(h.meta) != 0u || (right && h.link == SLAB_NULL);
    return LeafPlace(astray, right, h.meta & ~6u, h.link);
#else
    uvec2 first = n.pair[NODE_LANE_PAIRS - 2u], second = n.pair[NODE_LANE_PAIRS - 1u];
    // The lane that has the header decides, and puts the result into two bits of the meta's level: a leaf's level is 0.
    bool right = key > second.x;
    bool astray = key < first.y || btree_level(first.x) != 0u || (right && second.y == SLAB_NULL);
    uint verdict = tile_shuffle((first.x & ~6u) | (astray ? 2u : 0u) | (right ? 4u : 0u), TILE - 1u);
    return LeafPlace((verdict & 2u) != 0u, (verdict & 4u) != 0u, verdict & ~6u, tile_shuffle(second.y, TILE - 1u));
#endif
}

#if VKDS_LEAF_ATOMICS

// The functions below are for one lane. They return false if the slot has another content by now, and the leaf must be
// read again.

bool leaf_insert(uvec2 slot, uint key, uint value, uint empty_key, uint version) {
    return atomic_cas2(slot, uvec2(empty_key, version), uvec2(key, value)) == uvec2(empty_key, version);
}

// Does an OP_DELETE, an OP_INSERT or an update in place on the pair of a key that was seen in a slot. The value seen
// may be older than the key, so the first attempt may fail. Sets `overtaken` if an OP_INSERT failed after that because
// others changed the value.
bool leaf_change(uvec2 slot, uint kind, uint key, uint seen, uint value, uint empty_key, out bool overtaken) {
    uvec2 expected = uvec2(key, seen);
    bool done = false;
    overtaken = false;
    for (uint attempt = 0u; attempt < 3u && !done && !overtaken && expected.x == key; attempt++) {
        uvec2 desired =
            kind == OP_DELETE ? uvec2(empty_key, BTREE_ERASED) : uvec2(key, op_value(kind, expected.y, value));
        uvec2 before = atomic_cas2(slot, expected, desired);
        done = before == expected;
        overtaken = kind == OP_INSERT && !done && attempt != 0u && before.x == key;
        expected = before;
    }
    return done;
}

// Records that values of this tree are updated in place, before the first such update (see leaf_assigned). Collective.
void leaf_announce(uvec2 state, bool updates) {
    if (subgroupAny(updates)) {
        uvec2 at = address_add(state, BTREE_IN_PLACE_AT);
        if (atomic_load(at) == 0u) atomic_store(at, 1u);
        release_fence();
    }
}

// Whether an overtaken assignment counts as done, just before the operation that overtook it. It does if that operation
// was another assignment. It doesn't if that was an update in place, because its result would then have to depend on
// the value of this assignment. If no value of the tree was ever updated in place, it was an assignment.
bool leaf_assigned(uvec2 state) {
    acquire_fence();
    return atomic_load(address_add(state, BTREE_IN_PLACE_AT)) == 0u;
}

#endif

#endif
