// Neighbors: where kernels of analytics have the neighbours of a vertex from. A kernel is compiled for compressed
// sparse rows (graph.CSR) and, with LIVE, for the lists of slabs of a graph that changes from batch to batch
// (graph.Graph); what it calls is the same.
//
// A row has so many lanes, numbered from its first place on in the whole graph, so that rows are shared out among
// invocations by numbers alone. A lane has the neighbour at its place, and goes on to those behind it, if LANES_GO_ON:
//
//     uint left = lane_rounds(g);
//     do {
//         uint u = neighbor_at(g, place);
//         if (neighbor_there(u)) …
//         place = place_behind(g, place, row_step(row));
//     } while (LANES_GO_ON && place != PLACE_NONE && left-- != 0u);
//
// Whatever memory holds, a row has no more lanes than there is memory for, and leads to the graph's vertices: so loops
// end, and what is written of vertices stays within its arrays.
#ifndef VKDS_ANALYTICS_NEIGHBORS_GLSL
#define VKDS_ANALYTICS_NEIGHBORS_GLSL

const uint NEIGHBOR_NONE = ~0u;
const uint PLACE_NONE = ~0u;

#ifdef LIVE
#include "neighbors_live.glsl"
#else
#include "neighbors_csr.glsl"
#endif

#endif
