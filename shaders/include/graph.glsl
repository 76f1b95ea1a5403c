// Graph: a dynamic graph. The adjacency of each vertex is a hash table of slab lists.
//
// After chapter 5 of Awad, Fully Concurrent GPU Data Structures (2022), and Awad, Ashkiani, Porumbescu and Owens,
// Dynamic Graphs on the GPU (2020). A vertex is a number below the graph's capacity, and has a descriptor of four
// words:
//
//   base      its first base slab, or SLAB_NULL if it has none
//   buckets   the number of base slabs, 1 or more. Each begins a slab list, as in a slab hash; they have consecutive
//             numbers in the pool
//   degree    the number of keys in them, exact between dispatches
//   state     GRAPH_DELETED, plus the number of insertions that wait for the vertex to get more buckets
//
// A vertex without neighbours takes no slab, and one with a few neighbours a single slab. All slabs come from the pool.
// The first insertion allocates the first slab, as in slab_list.glsl. Only the host adds buckets, between dispatches.
// An insertion that runs out of its visit budget increments the state, and later insertions skip the vertex.
//
// An arc goes from one vertex to another, and is in the adjacency of the first. An edge of an undirected graph is two
// arcs, a loop is one. graph_apply works on one arc. Define VKDS_SLAB_KEYS for graphs without weights.
#ifndef VKDS_GRAPH_GLSL
#define VKDS_GRAPH_GLSL

#include "slab_list.glsl"

// Vertices and weights have 32 bits. Modules for keys and values of 64 bits have no graphs.
#if !VKDS_WIDE

// A graph as the host describes it (graph.Description in Go). Put it into your push constants.
struct Graph {
    SlabPool pool;
    uvec2 vertices;   // address of the descriptors, one per vertex
    uvec2 counters;   // address of the counters, GRAPH_…_AT
    uint capacity;    // the number of descriptors
    uint seed;        // of the hash function
    uint most;        // a vertex with more keys per bucket than this should get more buckets
};

const uint GRAPH_VERTEX_SHIFT = 4u;        // log2 of a descriptor's bytes
const uint GRAPH_STATE_AT = 12u;           // bytes in a descriptor
const uint GRAPH_DEGREE_AT = 8u;
const uint GRAPH_DELETED = 0x80000000u;    // bit of a state: the vertex is deleted

// Byte offsets of the counters.
const uint GRAPH_EXTENT_AT = 0u;    // all numbers below this one are vertices, except deleted ones
const uint GRAPH_DELETED_AT = 4u;   // deleted vertices below the extent
const uint GRAPH_LOOPS_AT = 8u;     // arcs from a vertex to itself
const uint GRAPH_FULL_AT = 12u;     // vertices whose degree has passed `most` keys per bucket
const uint GRAPH_WANTED_AT = 16u;   // the capacity that insertions would have needed

struct GraphVertex {
    uint base, buckets, degree, state;
};

uvec2 graph_vertex_at(Graph g, uint vertex) { return address_at(g.vertices, vertex, GRAPH_VERTEX_SHIFT); }

GraphVertex graph_vertex_of(uvec4 words) { return GraphVertex(words.x, words.y, words.z, words.w); }

// The descriptor of a vertex, in a read-only phase of the graph. Beyond the capacity, or if not enabled, it is that of
// a vertex without neighbours.
GraphVertex graph_vertex(Graph g, uint vertex, bool enabled) {
    uvec4 words = uvec4(SLAB_NULL, 1u, 0u, 0u);
    if (enabled && vertex < g.capacity) words = plain_load4(graph_vertex_at(g, vertex));
    return graph_vertex_of(words);
}

// A vertex's number as the key in a slab, and back. 0 and ~0 must not be keys in a slab.
uint graph_encode(uint vertex) { return vertex + 1u; }
uint graph_decode(uint key) { return key - 1u; }

// The bucket of a key, of the given number of buckets. Buckets are ranges of hash values (hash.glsl).
uint graph_bucket(Graph g, uint key, uint buckets) { return hash_reduce(hash_mix(key ^ g.seed), buckets); }

// The first slab of a bucket, or SLAB_NULL if the vertex has none.
uint graph_base(GraphVertex v, uint bucket) {
    return v.base == SLAB_NULL || v.buckets == 1u ? v.base : pool_slab(pool_number(v.base) + bucket);
}

// Adds each lane's number to the word at the lane's address. Because many lanes may have the same hub, the lanes with
// the first lane's word add together by one atomic, and so do those with the word of the first of the other lanes.
// Returns the sum that this lane has added, 0 if another lane did it, and in `before` the word's value before that.
// Collective over the subgroup.
uint graph_add(uvec2 word, uint number, bool enabled, out uint before) {
    before = 0u;
    uint sum = 0u;
    for (uint round = 0u; round < 2u && subgroupAny(enabled); round++) {
        uint leader = subgroupBallotFindLSB(subgroupBallot(enabled));
        bool same = enabled && all(equal(word, subgroupShuffle(word, leader)));
        uint total = subgroupAdd(same ? number : 0u);
        if (gl_SubgroupInvocationID == leader && same) {
            before = atomic_add(word, total);
            sum = total;
        }
        enabled = enabled && !same;
    }
    if (enabled) {
        before = atomic_add(word, number);
        sum = number;
    }
    return sum;
}

// Raises a word to at least `least`. It uses compare-and-swaps because not every driver's maximum is atomic. If one
// fails, the word has risen, so the loop ends.
void graph_raise(uvec2 word, uint least) {
    for (uint round = 0u; round < least; round++) {
        uint now = atomic_load(word);
        if (now >= least || atomic_cas(word, now, least) == now) return;
    }
}

// Makes the ends of inserted arcs vertices: raises the extent, and undeletes deleted ones. Also counts inserted loops.
// Collective over the subgroup.
void graph_arrive(Graph g, uint from, uint to, bool inserted) {
    uvec4 counters = coherent_load4(g.counters);   // extent, deleted, …
    uint extent = subgroupMax(inserted ? max(from, to) + 1u : 0u);
    if (extent > counters.x && subgroupElect()) graph_raise(address_add(g.counters, GRAPH_EXTENT_AT), extent);
    uint back = 0u;
    if (inserted && counters.y != 0u) {
        uvec2 ends = uvec2(from, to);
        [[unroll]] for (uint i = 0u; i < 2u; i++) {
            uvec2 at = address_add(graph_vertex_at(g, ends[i]), GRAPH_STATE_AT);
            if ((atomic_load(at) & GRAPH_DELETED) != 0u && (atomic_and(at, ~GRAPH_DELETED) & GRAPH_DELETED) != 0u)
                back++;
        }
    }
    back = subgroupAdd(back);
    uint loops = subgroupAdd(inserted && from == to ? 1u : 0u);
    if (subgroupElect()) {
        if (back != 0u) atomic_add(address_add(g.counters, GRAPH_DELETED_AT), 0u - back);
        if (loops != 0u) atomic_add(address_add(g.counters, GRAPH_LOOPS_AT), loops);
    }
}

// Updates the degrees and counters after operations on arcs, and counts the insertions that wait. Collective over the
// subgroup.
void graph_account(Graph g, uint kind, uint from, uint to, uint buckets, uint status, bool enabled) {
    bool inserted = enabled && status == STATUS_INSERTED, deleted = enabled && status == STATUS_DELETED;
    bool waits = enabled && op_inserts(kind) && status == STATUS_PENDING;
    uvec2 at = graph_vertex_at(g, from);
    uint before;
    if (subgroupAny(inserted || deleted)) {
        uint sum = graph_add(address_add(at, GRAPH_DEGREE_AT), inserted ? 1u : ~0u, inserted || deleted, before);
        // The atomic that takes the degree past the bound counts the vertex.
        uint bound = buckets > ~0u / g.most ? ~0u : buckets * g.most;
        bool passes = int(sum) > 0 && before <= bound && before + sum > bound;
        uint full = subgroupAdd(passes ? 1u : 0u);
        uint loops = subgroupAdd(deleted && from == to ? 1u : 0u);
        if (subgroupElect()) {
            if (full != 0u) atomic_add(address_add(g.counters, GRAPH_FULL_AT), full);
            if (loops != 0u) atomic_add(address_add(g.counters, GRAPH_LOOPS_AT), 0u - loops);
        }
        if (subgroupAny(inserted)) graph_arrive(g, from, to, inserted);
    }
    if (subgroupAny(waits)) {
        bool beyond = max(from, to) >= g.capacity;
        uint wanted = subgroupMax(waits && beyond ? min(max(from, to), ~1u) + 1u : 0u);   // more than any graph has
        if (wanted != 0u && subgroupElect()) graph_raise(address_add(g.counters, GRAPH_WANTED_AT), wanted);
        graph_add(address_add(at, GRAPH_STATE_AT), 1u, waits && !beyond, before);
    }
}

// Does each enabled lane's operation on an arc, concurrently with any operations of other invocations on the graph.
// `kind` is OP_INSERT, OP_INSERT_UNIQUE, OP_INSERT_ADD, OP_INSERT_MIN, OP_INSERT_MAX, OP_DELETE or OP_FIND. `value` is
// the arc's weight, ignored in graphs without weights. If `anyway`, an insertion doesn't skip a vertex that waits for
// more buckets. An insertion makes both ends of the arc vertices.
//
// Returns STATUS_…: STATUS_PENDING if the operation had no effect and may be tried again, because
//   - the pool was full,
//   - `budget`, the number of slabs that a tile may visit, was used up,
//   - the vertex waits for more buckets, or
//   - the graph's capacity is too small. Graph.InShaders().Grow in Go raises it.
// Collective over the subgroup.
uint graph_apply(Graph g, inout SlabCursor cursor, uint kind, uint from, uint to, inout uint value, bool enabled,
                 uint budget, bool anyway) {
    bool there = enabled && from < g.capacity && to < g.capacity;
    uvec2 at = graph_vertex_at(g, from);
    uvec4 words = uvec4(SLAB_NULL, 1u, 0u, 0u);
    if (there) words = coherent_load4(at);
    GraphVertex v = graph_vertex_of(words);
    bool waits = op_inserts(kind) && !anyway && (v.state & ~GRAPH_DELETED) != 0u;
    uint key = graph_encode(to);
    SlabOperation o = slab_operation(kind, key, value, slab_list_before(at), SLAB_LINKED, there && !waits);
    uint first = graph_base(v, graph_bucket(g, key, v.buckets));
    slab_begin(o, kind, g.pool, first);
    VKDS_SLAB_OPERATE(g.pool, o, cursor, kind, there && !waits, budget, uvec2(0u))
    if (there && !waits) value = o.value;
    uint status = enabled && !there && !op_inserts(kind) ? STATUS_ABSENT : o.status;
    graph_account(g, kind, from, to, v.buckets, status, enabled);
    return status;
}

uint graph_apply(Graph g, inout SlabCursor cursor, uint kind, uint from, uint to, inout uint value, bool enabled,
                 uint budget) {
    return graph_apply(g, cursor, kind, from, to, value, enabled, budget, false);
}

// Finds each enabled lane's arc: returns whether the graph has it, and sets value to its weight or 0. `endless` becomes
// true if the list has more slabs than the pool: memory is damaged. For read-only phases of the graph. Collective over
// the subgroup.
bool graph_find(Graph g, uint from, uint to, bool enabled, out uint value, out bool endless) {
    bool busy = enabled && to < g.capacity;
    GraphVertex v = graph_vertex(g, from, busy);
    uint stored = graph_encode(to);
    uint first = graph_base(v, graph_bucket(g, stored, v.buckets));
    busy = busy && first != SLAB_NULL;
    bool found = false;
    uvec2 slab = uvec2(0u);
    if (busy) slab = slab_address(g.pool, first);
    value = 0u;
    VKDS_SLAB_FIND(g.pool, slab, SLAB_LINKED, stored, busy, found, value)
    endless = left == ~0u;
    return found;
}

bool graph_find(Graph g, uint from, uint to, bool enabled, out uint value) {
    bool endless;
    return graph_find(g, from, to, enabled, value, endless);
}

// A walk of a tile over neighbours of a vertex, in a read-only phase of the graph. All lanes of the tile walk the same
// vertex. The walk reads every `step`-th bucket from `first` on: with 0 and 1, all buckets. To divide a hub among n
// tiles, say of a workgroup, give tile k the arguments k and n.
//
//     GraphWalk walk = graph_walk(g, graph_vertex(g, vertex, there), 0u, 1u);
//     while (subgroupAny(walk.slabs.more)) {
//         Node node = graph_walk_on(g, walk);
//         … for each slot m < SLAB_LANE_SLOTS in slab_live_mask(node): graph_neighbor(node, m), and
//         slab_lane_value(node, m) …
//     }
//
// After the end of its walk a tile gets nodes without live slots.
struct GraphWalk {
    GraphVertex vertex;
    SlabWalk slabs;   // over the bucket that the next step reads
    uint bucket, step;
};

GraphWalk graph_walk(Graph g, GraphVertex v, uint first, uint step) {
    return GraphWalk(v, slab_walk(g.pool, first < v.buckets ? graph_base(v, first) : SLAB_NULL), first, step);
}

Node graph_walk_on(Graph g, inout GraphWalk walk) {
    Node node = slab_walk_on(g.pool, walk.slabs);
    uint left = walk.vertex.buckets - min(walk.bucket, walk.vertex.buckets);
    if (!walk.slabs.more && left > walk.step) {
        walk.bucket += walk.step;
        walk.slabs = slab_walk(g.pool, graph_base(walk.vertex, walk.bucket));
    }
    return node;
}

// The neighbour in this lane's slot m of the node that the last graph_walk_on returned.
uint graph_neighbor(Node node, uint m) { return graph_decode(slab_lane_key(node, m)); }

#endif   // !VKDS_WIDE

#endif
