// Replaces the slab of each cell by a copy that is one further on, as copy-on-write does, or reads slabs of cells: with
// nobody beside it, so that slabs may be freed at once, or under epochs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "epoch_slab.glsl"
#include "node.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint READS = 0;
layout(constant_id = 17) const uint EPOCHS = 0;

layout(push_constant, std430) uniform Push {
    SlabPool pool;
    EpochReclaimer reclaimer;
    uvec2 cells;    // a slab each
    uvec2 wrong;    // a counter of slabs read that are none of a cell's
    uint count;     // cells, a multiple of rounds
    uint rounds;    // operations a thread, of an epoch each
    uint further;   // the first word of a cell's slab; the others are the cell's number
};

uint read(uint cell, bool want) {
    uint slab = SLAB_NULL;
    if (want) slab = atomic_load(address_at(cells, cell, 2u));
    uint mine = 0u;
    for (uint t = 0u; t < TILE; t++) {
        bool reads = tile_shuffle(want ? 1u : 0u, t) != 0u;
        Node node = node_load_coherent(slab_address(pool, tile_shuffle(slab, t)), reads);
        uint number = tile_shuffle(cell, t);
        bool is = true;
        for (uint p = 0u; p < NODE_LANE_PAIRS; p++) is = is && node.pair[p].y == number;
        uint good = tile_ballot(is);
        if (t == tile_lane()) mine = good;
    }
    return want && mine != (1u << TILE) - 1u ? 1u : 0u;
}

void copy(uint from, uint to, bool want) {
    for (uint t = 0u; t < TILE; t++) {
        bool copies = tile_shuffle(want ? 1u : 0u, t) != 0u;
        Node node = node_load_coherent(slab_address(pool, tile_shuffle(from, t)), copies);
        if (tile_lane() == 0u) node.pair[0].x++;
        uvec2 address = slab_address(pool, tile_shuffle(to, t));
        for (uint q = 0u; q < NODE_QUADS; q++)
            if (copies) coherent_store4(address_add(address, (q * TILE + tile_lane()) * 16u), VKDS_NODE_QUAD(node, q));
    }
}

void main() {
    SlabCursor cursor = slab_cursor();
    uint threads = count / rounds, wrongs = 0u;
    for (uint round = 0u; round < rounds; round++) {
        uint i = invocation_index();
        bool want = i < threads;
        uint cell = round * threads + i;
        Epoch e = Epoch(0u, 0u, 0u);
        if (EPOCHS != 0u) e = epoch_enter(reclaimer);
        if (READS != 0u) {
            wrongs += read(hash_reduce(hash_mix(cell), count), want);
        } else {
            uint old = SLAB_NULL, slab = slab_allocate(pool, cursor, want);
            want = want && slab != SLAB_NULL;
            if (want) old = atomic_load(address_at(cells, cell, 2u));
            copy(old, slab, want);
            release_fence();
            if (want) atomic_exchange(address_at(cells, cell, 2u), slab);
            if (EPOCHS != 0u) epoch_retire_slab(pool, reclaimer, e, old, want);
            else slab_free(pool, old, want);
        }
        if (EPOCHS != 0u && READS != 0u) epoch_leave(reclaimer, e);
        if (EPOCHS != 0u && READS == 0u) epoch_leave_slabs(pool, reclaimer, e, false);
    }
    if (wrongs != 0u) atomic_add(wrong, wrongs);
}
