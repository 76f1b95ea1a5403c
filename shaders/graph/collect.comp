// Writes the neighbours of vertices to an array, in a read-only phase of the graph. Those of a vertex are written from
// its offset on, in no order. Each tile takes a bucket.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "buckets.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;
    Hubs hubs;         // of all vertices. With `vertices`, the offsets are the numbers of tiles before each instead
    uvec2 vertices;    // one word per queried vertex; 0: all vertices
    uvec2 cursors;     // one word per vertex, 0 before: the number of neighbours written. Used for hubs only
    uvec2 offsets;     // one word per vertex: where its neighbours begin
    uvec2 targets;     // output
    uvec2 weights;     // output; 0: not wanted
    uint count;        // the number of vertices
    uint first;        // this dispatch does the tiles first … last-1
    uint last;
    uint room;         // the number of arcs that fit into the output
};

void main() {
    uint i = first + invocation_index() / TILE;
    bool mine = i < last;
    GraphBucket b = GraphBucket(0u, 0u, SLAB_NULL, GraphVertex(SLAB_NULL, 1u, 0u, 0u));
    uint row = 0u;
    if (mine && vertices == uvec2(0u)) {
        b = graph_bucket_at(graph, hubs, count, i);
        row = b.vertex;
    } else if (mine) {
        row = spread_vertex(hubs.offsets, count, i);
        b.of = graph_vertex(graph, plain_load_at(vertices, row), row < count);
        b.first = graph_base(b.of, i - plain_load_at(hubs.offsets, row));
    }
    uint to = 0u;
    if (b.first != SLAB_NULL) to = plain_load_at(offsets, row);
    uint written = 0u;
    SlabWalk walk = slab_walk(graph.pool, b.first);
    while (subgroupAny(walk.more)) {
        bool reads = walk.more;
        Node node = slab_walk_on(graph.pool, walk);
        uint live = reads ? slab_live_mask(node) : 0u;
        uint total = 0u;
        uint before[8];
        [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) before[j] = slab_step_rank(live, j, total);
        uint at = written;
        if (b.of.buckets > 1u && total != 0u && tile_lane() == 0u)
            at = atomic_add(address_at(cursors, row, 2u), total);
        at = to + tile_shuffle(at, 0u);
        written += total;
        [[unroll]] for (uint j = 0u; j < NODE_QUADS; j++) {
            uint place = at + before[j];
            [[unroll]] for (uint s = 0u; s < SLAB_STEP_SLOTS; s++) {
                uint m = j * SLAB_STEP_SLOTS + s;
                if (((live >> m) & 1u) == 0u || place >= room) continue;
                plain_store_at(targets, place, graph_neighbor(node, m));
                if (weights != uvec2(0u)) plain_store_at(weights, place, slab_lane_value(node, m));
                place++;
            }
        }
    }
}
