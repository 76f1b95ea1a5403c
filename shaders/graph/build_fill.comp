// Writes the buckets of all vertices from sorted arcs, one tile per bucket: the arcs of a bucket are consecutive. If
// the pool is full, the tile counts its bucket as failed. The same dispatch may then be repeated with a larger pool.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../slabhash/slab_compact.glsl"
#include "build.glsl"
#include "buckets.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 arcs;      // numbers of 64 bits, ascending, without duplicates
    uvec2 weights;   // one per arc; 0: there are none
    uvec2 begins;    // vertices + 1 words: the index of each vertex's first arc
    uvec2 places;    // one word per vertex: the number of base slabs of earlier vertices
    uvec2 needs;     // one word per vertex: its number of buckets
    uvec2 counts;    // two counters: buckets that the pool had no slab for, and loops
    uint vertices;
    uint base;       // the number of the first base slab
    uint first;      // this dispatch fills the buckets first … last-1
    uint last;
    uint count;      // the number of arcs, or an upper bound of it
};

// The first arc in [low, high) whose bucket, of the given number of buckets, is this one or a later one.
uint bucket_begin(uint low, uint high, uint buckets, uint bucket) {
    while (low < high) {
        uint middle = low + ((high - low) >> 1);
        if (hash_reduce(plain_load(address_at(arcs, middle, 3u)), buckets) < bucket) low = middle + 1u;
        else high = middle;
    }
    return low;
}

// Writes n arcs from index `at` on to the slots of a slab. Collective over the tile.
void fill_slab(uvec2 slab, uint at, uint n) {
    for (uint slot = tile_lane(); slot < n; slot += TILE) {
        uint key = arc_key(graph, plain_load2(address_at(arcs, at + slot, 3u)));
#ifdef VKDS_SLAB_KEYS
        plain_store(slab_slot(slab, slot), key);
#else
        uint weight = 0u;
        if (weights != uvec2(0u)) weight = plain_load_at(weights, at + slot);
        plain_store2(slab_slot(slab, slot), uvec2(key, weight));
#endif
    }
    if (tile_lane() == 0u) plain_store(address_add(slab, SLAB_AUX_AT), slab_aux(n));
}

void main() {
    uint number = first + invocation_index() / TILE;
    bool mine = number < last;
    uint vertex = 0u, at = 0u, end = 0u;
    uvec2 slab = uvec2(0u);
    if (mine) {
        vertex = spread_vertex(places, vertices, number);
        uint bucket = number - plain_load_at(places, vertex), buckets = plain_load_at(needs, vertex);
        uint to = min(plain_load_at(begins, vertex + 1u), count), from = min(plain_load_at(begins, vertex), to);
        at = buckets == 1u ? from : bucket_begin(from, to, buckets, bucket);
        end = buckets == 1u ? to : bucket_begin(at, to, buckets, bucket + 1u);
        slab = slab_address(graph.pool, pool_slab(base + number));
    }
    uint loops = 0u, own = hash_mix(graph_encode(vertex) ^ graph.seed);
    for (uint i = at + tile_lane(); i < end; i += TILE)
        loops += plain_load(address_at(arcs, i, 3u)) == own ? 1u : 0u;
    loops = subgroupAdd(loops);
    if (loops != 0u && subgroupElect()) atomic_add(address_add(counts, 4u), loops);
    SlabCursor cursor = slab_cursor();
    bool more = mine, failed = false;
    while (subgroupAny(more)) {
        uint n = min(end - at, SLAB_SLOTS);
        if (more) fill_slab(slab, at, n);
        at += n;
        bool goes_on = more && at < end;
        uint behind = SLAB_NULL;
        if (goes_on) behind = plain_load(address_add(slab, SLAB_NEXT_AT));   // if an earlier dispatch has linked one
        bool extend = goes_on && behind == SLAB_NULL && tile_lane() == 0u;
        if (subgroupAny(extend)) {
            uint fresh = slab_allocate(graph.pool, cursor, extend);
            if (extend && fresh != SLAB_NULL) plain_store(address_add(slab, SLAB_NEXT_AT), fresh);
            fresh = tile_shuffle(fresh, 0u);
            if (goes_on && behind == SLAB_NULL) behind = fresh;
        }
        failed = failed || goes_on && behind == SLAB_NULL;
        more = goes_on && behind != SLAB_NULL;
        if (more) slab = slab_address(graph.pool, behind);
    }
    uint fails = subgroupAdd(failed && tile_lane() == 0u ? 1u : 0u);
    if (fails != 0u && subgroupElect()) atomic_add(counts, fails);
}
