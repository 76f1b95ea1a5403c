// Neighbors: how kernels of analytics read the neighbours of a vertex. A kernel is compiled for compressed sparse rows
// (graph.CSR) and, with LIVE, for the slab lists of a graph that changes between batches (graph.Graph). It calls the
// same functions for both.
//
// A row has a number of lanes. Their places are consecutive numbers in the whole graph, so rows can be divided among
// invocations by numbers alone. A lane has the neighbour at its place and, if LANES_GO_ON, those at later places:
//
//     uint left = lane_rounds(g);
//     do {
//         uint u = neighbor_at(g, place);
//         if (neighbor_there(u)) …
//         place = place_behind(g, place, row_step(row));
//     } while (LANES_GO_ON && place != PLACE_NONE && left-- != 0u);
//
// Even if memory is damaged, a row has no more lanes than memory has room for, and its neighbours are vertices of the
// graph. So loops end, and writes indexed by vertices stay within their arrays.
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
