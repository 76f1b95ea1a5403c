// Frees slabs: those of all buckets, or of vertices that are to get others; or new base slabs, and what is behind them,
// that are given up.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "buckets.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint SHARED = 1;   // 0: the pool has no other users

layout(push_constant, std430) uniform Push {
    Graph graph;
    Hubs hubs;
    uvec2 needs;    // a word a vertex: 0 where it keeps its slabs; 0: all buckets are freed
    uint extent;    // vertices; 0: base slabs by their numbers, `base` and those behind it
    uint base;
    uint first;     // buckets, or base slabs, first … first+count-1
    uint count;
};

void main() {
    uint i = first + invocation_index() / TILE;
    bool mine = i < first + count;
    uint slab = SLAB_NULL;
    if (mine && extent == 0u) slab = pool_slab(base + i);
    if (mine && extent != 0u) {
        GraphBucket b = graph_bucket_at(graph, hubs, extent, i);
        slab = b.first;
        if (slab != SLAB_NULL && needs != uvec2(0u) && plain_load_at(needs, b.vertex) == 0u) slab = SLAB_NULL;
    }
    slab_chain_free(graph.pool, slab, SHARED != 0u);
}
