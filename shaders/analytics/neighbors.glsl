// Neighbors: where kernels of analytics have the neighbours of a vertex from, here compressed sparse rows (graph.CSR).
//
// A row has so many lanes, numbered from its first one on in the whole graph, so that rows are shared out among
// invocations by numbers alone; of each lane there is a neighbour.
#ifndef VKDS_ANALYTICS_NEIGHBORS_GLSL
#define VKDS_ANALYTICS_NEIGHBORS_GLSL

#include "memory.glsl"

struct Graph {
    uvec2 offsets;
    uvec2 targets;
    uvec2 weights;   // 0: all are 1
    uint vertices;
    uint arcs;
};

struct Row { uint first, lanes; };

// Whatever memory holds, a row has no more arcs than the graph, and leads to its vertices: so loops over rows end, and
// what is written of vertices stays within its arrays.
Row row_of(Graph g, uint v) {
    uint first = min(plain_load_at(g.offsets, v), g.arcs);
    uint end = min(plain_load_at(g.offsets, v + 1u), g.arcs);
    return Row(first, max(first, end) - first);
}

uint neighbor_at(Graph g, uint place) { return min(plain_load_at(g.targets, place), g.vertices - 1u); }

uint weight_at(Graph g, uint place) {
    if ((g.weights.x | g.weights.y) == 0u) return 1u;
    return plain_load_at(g.weights, place);
}

#endif
