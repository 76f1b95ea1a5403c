// Slab compaction: a tile writes the live slots of a bucket densely, in list order.
//
// A flush (section IV-C.4 of Ashkiani et al. 2018) writes the slots to the slabs that they came from, and a rehash
// writes them to new slabs. Nothing else may use these slabs at the same time.
#ifndef VKDS_SLAB_COMPACT_GLSL
#define VKDS_SLAB_COMPACT_GLSL

#include "slab_hash.glsl"

// Where the next slot is written; the same for all lanes of the tile.
struct SlabWriter {
    uvec2 slab;    // the slab being filled
    uint filled;   // the number of slots in use
};

// The auxiliary word of a slab whose first slots are in use, for any protocol: their bits are clear, which means
// settled (slab_ready.glsl, slab_claimed.glsl), and the slab is not latched (slab_latched.glsl).
uint slab_aux(uint filled) { return ~((1u << (filled & 31u)) - 1u); }

// The ranks of a node's marked slots, in list order.
struct SlabRanks {
    uint before[8];   // the number of marked slots before this lane's, for each of its NODE_QUADS steps
    uint total;       // the number in the whole node
};

// The ranks of the slots in each lane's mask. Collective over the subgroup.
SlabRanks slab_ranks(uint mask) {
    SlabRanks ranks;
    ranks.total = 0u;
    [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) ranks.before[j] = slab_step_rank(mask, j, ranks.total);
    return ranks;
}

// Whether the marked slots don't all fit into the writer's slab.
bool slab_writer_crosses(SlabWriter w, SlabRanks ranks) { return w.filled + ranks.total > SLAB_SLOTS; }

#ifdef VKDS_TRACE
K slab_writer_mask = K(0u);   // the difference of keys and their words in slots, for events
#endif

// Writes this lane's slot m of a node to a slot of a slab.
void slab_write(uvec2 slab, uint slot, Node node, uint m) {
    uvec2 at = slab_slot(slab, slot);
    VKDS_SLAB_WRITTEN(true, at, slot, slab_lane_key(node, m) ^ slab_writer_mask, slab_lane_value(node, m))
#ifdef VKDS_SLAB_KEYS
    VKDS_STORE(at, slab_lane_key(node, m));
#else
    VKDS_SLOT_STORE(at, node.pair[m]);
#endif
}

// Appends the marked slots of a node. If slab_writer_crosses, `beyond` is the address of the slab after the writer's.
void slab_writer_append(inout SlabWriter w, Node node, uint mask, SlabRanks ranks, uvec2 beyond) {
    [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) {
        uint to = w.filled + ranks.before[j];
        [[unroll]] for (uint s = 0u; s < SLAB_STEP_SLOTS; s++) {
            uint m = j * SLAB_STEP_SLOTS + s;
            if (((mask >> m) & 1u) != 0u) {
                if (to < SLAB_SLOTS) slab_write(w.slab, to, node, m);
                else slab_write(beyond, to - SLAB_SLOTS, node, m);
                to++;
            }
        }
    }
    uint end = w.filled + ranks.total;
    if (end > SLAB_SLOTS) {
        if (tile_lane() == 0u) plain_store(address_add(w.slab, SLAB_AUX_AT), slab_aux(SLAB_SLOTS));
        w.slab = beyond;
        end -= SLAB_SLOTS;
    }
    w.filled = end;
}

// Ends the list at the writer: empties the remaining slots of its slab.
void slab_writer_finish(SlabWriter w, bool enabled) {
    for (uint slot = tile_lane(); slot < SLAB_SLOTS; slot += TILE) {
        if (enabled && slot >= w.filled) {
#ifdef VKDS_SLAB_KEYS
            VKDS_STORE(slab_slot(w.slab, slot), SLAB_EMPTY);
#else
            VKDS_SLOT_STORE(slab_slot(w.slab, slot), P(~0u));
#endif
        }
    }
    if (enabled && tile_lane() == 0u) {
        plain_store(address_add(w.slab, SLAB_AUX_AT), slab_aux(w.filled));
        plain_store(address_add(w.slab, SLAB_NEXT_AT), SLAB_NULL);
    }
}

#endif
