// Finds errors in a graph, in a read-only phase of the graph. Each tile takes a bucket. The phases:
//   - 0 marks the slabs of each bucket, and counts its keys.
//   - 1 looks up each arc, and its opposite.
//   - 2, with an invocation per vertex, compares the degrees with the counts.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "buckets.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint PHASE = 0;
layout(constant_id = 17) const uint SYMMETRIC = 0;   // 1: each arc must have its opposite, with the same weight

layout(push_constant, std430) uniform Push {
    Graph graph;
    Hubs hubs;
    uvec2 slabs;    // one bit per slab of the pool: whether it was met
    uvec2 counts;   // one word per vertex: the number of keys in its buckets
    uvec2 faults;   // counters, …_AT
    uint extent;    // the number of vertices
    uint first;     // this dispatch checks the buckets, or vertices, first … last-1
    uint last;
};

const uint FOREIGN_AT = 0u;      // references to slabs that don't exist or are not allocated
const uint SHARED_AT = 4u;       // references to slabs that were met before
const uint MISPLACED_AT = 8u;    // keys that belong to another bucket, or are not vertices
const uint HOLES_AT = 12u;       // slabs with a used slot after a free one, of the same list
const uint DOUBLE_AT = 16u;      // keys that are in a bucket more than once
const uint ONE_SIDED_AT = 20u;   // arcs whose opposite is missing or has another weight
const uint DEGREES_AT = 24u;     // vertices with a wrong degree
const uint WAITING_AT = 28u;     // vertices that insertions still wait for, and deleted ones with neighbours
const uint MET_AT = 32u;         // slabs met
const uint LOOPS_AT = 36u;       // arcs from a vertex to itself

// Each lane adds by itself: NVIDIA's compiler (580.159) loses a subgroupAdd here if tiles have one lane.
void fault(uint at, uint n) {
    if (n != 0u) atomic_add(address_add(faults, at), n);
}

// Marks a slab. Returns false if the walk must not follow it: it is not a valid slab, or was met before.
bool meet(uint slab, bool enabled) {
    bool sound = enabled && pool_holds(graph.pool, slab);
    bool again = false;
    if (sound && tile_lane() == 0u) {
        uint number = pool_number(slab), bit = 1u << (number & 31u);
        again = (atomic_or(address_at(slabs, number >> 5, 2u), bit) & bit) != 0u;
    }
    again = tile_ballot(again) != 0u;
    bool first_lane = enabled && tile_lane() == 0u;
    fault(FOREIGN_AT, first_lane && !sound ? 1u : 0u);
    fault(SHARED_AT, first_lane && again ? 1u : 0u);
    fault(MET_AT, first_lane && sound && !again ? 1u : 0u);
    return sound && !again;
}

void count_keys(GraphBucket b, bool mine) {
    uint slab = b.first, live_keys = 0u;
    bool ended = false;   // a free slot was met: no used one may follow
    bool more = meet(slab, mine && slab != SLAB_NULL);
    while (subgroupAny(more)) {
        uvec2 at = uvec2(0u);
        if (more) at = slab_address(graph.pool, slab);
        Node node = node_load(at, more);
        uint live = more ? slab_live_mask(node) : 0u, misplaced = 0u, loops = 0u;
        for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) {
            if (((live >> m) & 1u) == 0u) continue;
            uint key = slab_lane_key(node, m);
            if (graph_decode(key) >= extent || graph_bucket(graph, key, b.of.buckets) != b.bucket) misplaced++;
            if (graph_decode(key) == b.vertex) loops++;
        }
        uint used = 0u, free = NODE_NONE;
        for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) {
            if (!slab_lane_has(m)) continue;
            if (slab_lane_key(node, m) == SLAB_EMPTY) free = min(free, slab_lane_slot(m));
            else used = max(used, slab_lane_slot(m) + 1u);
        }
        for (uint lane = 1u; lane < TILE; lane++) {   // over the tile
            used = max(used, tile_shuffle(used, tile_lane() ^ lane));
            free = min(free, tile_shuffle(free, tile_lane() ^ lane));
        }
        bool hole = more && (used != 0u && ended || free < used);
        ended = ended || more && free != NODE_NONE;
        fault(MISPLACED_AT, misplaced);
        fault(LOOPS_AT, loops);
        fault(HOLES_AT, hole && tile_lane() == 0u ? 1u : 0u);
        live_keys += uint(bitCount(live));
        uint next = slab_next(node);
        if (!more) next = SLAB_NULL;
        slab = next;
        more = meet(slab, next != SLAB_NULL);
    }
    live_keys = tile_sum(live_keys);
    if (live_keys != 0u && tile_lane() == 0u) atomic_add(address_at(counts, b.vertex, 2u), live_keys);
}

// How often a key is in a bucket. All lanes of the tile pass the same key.
uint times(GraphBucket b, uint key, bool enabled) {
    uint n = 0u;
    SlabWalk walk = slab_walk(graph.pool, enabled ? b.first : SLAB_NULL);
    while (subgroupAny(walk.more)) {
        bool reads = walk.more;
        Node node = slab_walk_on(graph.pool, walk);
        uint found = slab_count(node, key);
        n += reads ? found : 0u;
    }
    return n;
}

void look_up(GraphBucket b) {
    SlabWalk walk = slab_walk(graph.pool, b.first);
    while (subgroupAny(walk.more)) {
        bool reads = walk.more;
        Node node = slab_walk_on(graph.pool, walk);
        uint live = reads ? slab_live_mask(node) : 0u;
        for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) {
            bool there = ((live >> m) & 1u) != 0u;
            uint key = slab_lane_key(node, m), value = slab_lane_value(node, m), opposite = 0u;
            uint twice = 0u;
            for (uint lane = 0u; lane < TILE; lane++) {
                uint one = tile_shuffle(key, lane);
                bool asked = tile_shuffle(there ? 1u : 0u, lane) != 0u;
                uint n = times(b, one, asked);
                if (lane == tile_lane() && there && n != 1u) twice++;
            }
            fault(DOUBLE_AT, twice);
            bool back = graph_find(graph, graph_decode(key), b.vertex, there && SYMMETRIC != 0u, opposite);
            fault(ONE_SIDED_AT, there && SYMMETRIC != 0u && (!back || opposite != value) ? 1u : 0u);
        }
    }
}

void compare(uint vertex, bool mine) {
    GraphVertex v = graph_vertex(graph, vertex, mine);
    uint counted = 0u;
    if (mine) counted = plain_load_at(counts, vertex);
    fault(DEGREES_AT, mine && counted != v.degree ? 1u : 0u);
    bool waits = (v.state & ~GRAPH_DELETED) != 0u || (v.state & GRAPH_DELETED) != 0u && v.degree != 0u;
    fault(WAITING_AT, mine && waits ? 1u : 0u);
}

void main() {
    uint i = first + invocation_index() / (PHASE == 2u ? 1u : TILE);
    bool mine = i < last;
    if (PHASE == 2u) {
        compare(i, mine);
        return;
    }
    GraphBucket b = GraphBucket(0u, 0u, SLAB_NULL, GraphVertex(SLAB_NULL, 1u, 0u, 0u));
    if (mine) b = graph_bucket_at(graph, hubs, extent, i);
    if (PHASE == 0u) count_keys(b, mine);
    else look_up(b);
}
