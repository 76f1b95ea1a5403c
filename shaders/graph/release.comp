// Frees slabs: those of all buckets, those of vertices that have got other buckets, or new base slabs that are given
// up, with the slabs after them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "buckets.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint SHARED = 1;   // 0: the pool has no other users

layout(push_constant, std430) uniform Push {
    Graph graph;
    Hubs hubs;
    uvec2 needs;    // one word per vertex: 0 if it keeps its slabs; or 0: all buckets are freed
    uint extent;    // the number of vertices; 0: frees base slabs, whose numbers count from `base`
    uint base;
    uint first;     // this dispatch frees the buckets, or base slabs, first … first+count-1
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
