// For test/shader: graph.glsl. One invocation per operation or lookup, or some tiles per vertex.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "graph.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint FUNCTION = 0;   // 0: apply, 1: find, 2: walk

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 arcs;      // four words per arc: kind, from, to, weight
    uvec2 results;   // output, two words per arc: its status, or 1 if it is found; its weight. For walks two words per
                     // vertex: the number of neighbours, and the sum of their numbers and weights
    uint count;      // the number of arcs, or of vertices
    uint tiles;      // the number of tiles that walk over a vertex together
    uint visits;
};

void walk(uint vertex, uint tile, bool there) {
    uint neighbors = 0u, sum = 0u;
    GraphWalk walk = graph_walk(graph, graph_vertex(graph, vertex, there), tile, tiles);
    while (subgroupAny(walk.slabs.more)) {
        Node node = graph_walk_on(graph, walk);
        uint live = slab_live_mask(node);
        for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) {
            if (((live >> m) & 1u) == 0u) continue;
            neighbors++;
            sum += graph_neighbor(node, m) + slab_lane_value(node, m);
        }
    }
    if (neighbors == 0u) return;
    atomic_add(address_at(results, vertex, 3u), neighbors);
    atomic_add(address_add(address_at(results, vertex, 3u), 4u), sum);
}

void main() {
    uint i = invocation_index();
    if (FUNCTION == 2u) {
        uint tile = i / TILE;
        walk(tile / tiles, tile % tiles, tile / tiles < count);
        return;
    }
    uvec4 arc = uvec4(0u);
    bool there = i < count;
    if (there) arc = plain_load4(address_at(arcs, i, 4u));
    uint value = arc.w, result;
    if (FUNCTION == 0u) {
        SlabCursor cursor = slab_cursor();
        result = graph_apply(graph, cursor, arc.x, arc.y, arc.z, value, there, visits);
    } else {
        result = graph_find(graph, arc.y, arc.z, there, value) ? 1u : 0u;
    }
    if (there) plain_store2(address_at(results, i, 3u), uvec2(result, value));
}
