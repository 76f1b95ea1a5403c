// Writes the buckets of all vertices, one tile per bucket, from arcs that are sorted by buckets. Of equal arcs the last
// one stays. A bucket has its base slab, and further slabs of its own for as many arcs as there are if none are equal.
// The tile frees those that it does not need.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../slabhash/slab_compact.glsl"
#include "build_equal.glsl"
#include "buckets.glsl"

layout(constant_id = 16) const uint UNIQUE = 0;   // 1: no arcs are equal

layout(push_constant, std430) uniform Push {
    SlabPool pool;
    uvec2 targets;   // of arcs, as they are stored
    uvec2 weights;   // a word per arc; 0: there are none
    uvec2 runs;      // two words per bucket: the first of its arcs, and the one after the last
    uvec2 extra;     // a word per bucket: the number of slabs after base slabs of earlier buckets
    uvec2 lengths;   // output: a word per bucket, the number of its arcs
    uvec2 places;    // a word per vertex: the number of buckets of earlier vertices
    uvec2 counts;    // a counter of loops
    uint shift;      // log2 of the bytes from one target to the next
    uint vertices;
    uint base;       // the number of the first base slab; the other slabs follow the last one
    uint buckets;
    uint slabs;      // all of them
    uint first;      // this dispatch fills the buckets first … last-1
    uint last;
    uint count;      // the number of arcs
    uint loops;      // 1: there may be some
};

// The reference to a bucket's slab i.
uint slab_of(uint number, uint behind, uint i) {
    return pool_slab(base + min(i == 0u ? number : buckets + behind + i - 1u, slabs - 1u));
}

void main() {
    uint number = first + invocation_index() / TILE;
    bool mine = number < last;
    uint at = 0u, end = 0u, own = 0u, behind = 0u;
    if (mine) {
        uvec2 run = plain_load2(address_at(runs, number, 3u));
        behind = plain_load_at(extra, number);
        end = min(run.y, count);
        at = min(run.x, end);
        if (UNIQUE == 0u) end = min(end, at + BUILD_COMPARED);   // others are not built so
    }
    if (loops != 0u && mine) own = graph_encode(spread_vertex(places, vertices, number));
    uint have = max(1u, (end - at + SLAB_SLOTS - 1u) / SLAB_SLOTS);   // slabs
    uint length = 0u, found_loops = 0u;
    while (subgroupAny(at < end)) {
        uint held[HELD];
        [[unroll]] for (uint c = 0u; c < HELD; c++)
            held[c] = target_at(targets, shift, at + c * TILE + tile_lane(), end);
        uint stays = (1u << HELD) - 1u;
        if (UNIQUE == 0u) stays = last_of_equal(targets, shift, held, at, end);
        [[unroll]] for (uint c = 0u; c < HELD; c++) {
            uint i = at + c * TILE + tile_lane();
            bool writes = i < end && ((stays >> c) & 1u) != 0u;
            uint ballot = tile_ballot(writes);
            uint slot = length + uint(bitCount(ballot & ((1u << tile_lane()) - 1u)));
            length += uint(bitCount(ballot));
            if (!writes) continue;
            uvec2 to = slab_slot(slab_address(pool, slab_of(number, behind, slot / SLAB_SLOTS)),
                                 slot % SLAB_SLOTS);
#ifdef VKDS_SLAB_KEYS
            plain_store(to, held[c]);
#else
            uint weight = 0u;
            if (weights != uvec2(0u)) weight = plain_load_at(weights, i);
            plain_store2(to, uvec2(held[c], weight));
#endif
            found_loops += held[c] == own ? 1u : 0u;
        }
        at += HELD * TILE;
    }
    // The last words of the slabs.
    uint used = max(1u, (length + SLAB_SLOTS - 1u) / SLAB_SLOTS);
    for (uint i = tile_lane(); mine && i < used; i += TILE) {
        uvec2 slab = slab_address(pool, slab_of(number, behind, i));
        plain_store(address_add(slab, SLAB_AUX_AT), slab_aux(min(SLAB_SLOTS, length - i * SLAB_SLOTS)));
        if (i + 1u < used) plain_store(address_add(slab, SLAB_NEXT_AT), slab_of(number, behind, i + 1u));
    }
    for (uint i = used + tile_lane(); subgroupAny(i < have); i += TILE)
        slab_free(pool, slab_of(number, behind, i), i < have);
    if (mine && tile_lane() == 0u) plain_store_at(lengths, number, length);
    found_loops = subgroupAdd(loops != 0u ? found_loops : 0u);
    if (found_loops != 0u && subgroupElect()) atomic_add(counts, found_loops);
}
