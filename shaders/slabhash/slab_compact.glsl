// Slab compaction: a tile writes a bucket's live slots densely, in list order.
//
// It is the common part of a flush (section IV-C.4 of Ashkiani et al. 2018), which writes the slots to
// the slabs that they came from, and of a rehash, which writes them to new slabs. Nothing else may use
// these slabs meanwhile.
#ifndef VKDS_SLAB_COMPACT_GLSL
#define VKDS_SLAB_COMPACT_GLSL

#include "slab_hash.glsl"

// The end of what is written; the same for all lanes of the tile.
struct SlabWriter {
    uvec2 slab;    // the slab being filled
    uint filled;   // its slots in use
};

// What the auxiliary word of a slab is with so many slots in use, in any protocol: the bits of settled slots are clear
// (slab_ready.glsl, slab_claimed.glsl), and the slab is not latched (slab_latched.glsl).
uint slab_aux(uint filled) { return ~((1u << (filled & 31u)) - 1u); }

// The order of a node's marked slots over the lanes of the tile.
struct SlabRanks {
    uint before[8];   // marked slots before this lane's, in each of its NODE_QUADS steps
    uint total;       // in the whole node
};

// Collective over the subgroup.
SlabRanks slab_ranks(uint mask) {
    SlabRanks ranks;
    ranks.total = 0u;
    [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) ranks.before[j] = slab_step_rank(mask, j, ranks.total);
    return ranks;
}

// Whether writing them needs another slab behind the writer's.
bool slab_writer_crosses(SlabWriter w, SlabRanks ranks) { return w.filled + ranks.total > SLAB_SLOTS; }

// Appends the marked slots of a node; `beyond` is the slab to go on in if slab_writer_crosses.
void slab_writer_append(inout SlabWriter w, Node node, uint mask, SlabRanks ranks, uvec2 beyond) {
    [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) {
        uint to = w.filled + ranks.before[j];
        [[unroll]] for (uint s = 0u; s < SLAB_STEP_SLOTS; s++) {
            uint m = j * SLAB_STEP_SLOTS + s;
            if (((mask >> m) & 1u) != 0u) {
                uvec2 at = to < SLAB_SLOTS ? slab_slot(w.slab, to) : slab_slot(beyond, to - SLAB_SLOTS);
                to++;
#ifdef VKDS_SLAB_KEYS
                VKDS_STORE(at, slab_lane_key(node, m));
#else
                VKDS_SLOT_STORE(at, node.pair[m]);
#endif
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

// Ends the list at the writer: the rest of its slab is made free slots.
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
