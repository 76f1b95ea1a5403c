// Counts the triangles of a graph that have an edge in a batch. For each edge of the batch that the graph has, the
// neighbours of the end with fewer neighbours are searched at the other end. A triangle with several edges in the batch
// is found once for each of them, so there is a count for each number of edges in the batch.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "invocation.glsl"
#include "workgroup.glsl"
#include "dispatches.glsl"
#include "batch_edges.glsl"
#include "wide_sum.glsl"

// Edges per workgroup. They are far from one another in the batch, because the edges of a hub are next to each other.
// Go has it, too (triangles_through.go).
const uint SHARE = 16u;
#define STAGE SHARE
#include "stage.glsl"

#ifdef LIVE
#include "graph.glsl"
#else
#include "row_search.glsl"
#endif

layout(push_constant, std430) uniform Push {
    Rows rows;
    BatchEdges batch;
    uvec2 counts;    // four numbers of 64 bits: triangles found that have one, two and three edges in the batch; and
                     // invocations that gave up
    uint dispatch;
    uint dispatches;
#ifdef LIVE
    Graph graph;
#endif
};

// Whether the graph has an edge. `endless` is set if memory is damaged. Collective over the subgroup.
bool has_edge(uint u, uint v, bool asks, out bool endless) {
#ifdef LIVE
    uint value;
    return graph_find(graph, u, v, asks, value, endless);
#else
    endless = false;
    Row row = row_none();
    if (asks) row = row_of(rows, u);
    return in_row(rows, v, row.first, row.lanes);
#endif
}

void main() {
    uint lane = workgroup_lane(), groups = (batch.count + SHARE - 1u) / SHARE;
    uint group = workgroup_of_all(dispatch, dispatches);
    if (group >= groups) return;
    uint i = group + lane * groups;
    bool has = lane < SHARE && i < batch.count;
    uvec2 edge = uvec2(0u);
    if (has) edge = batch_edge(batch, i);
    bool mine = has && edge.x != edge.y && max(edge.x, edge.y) < rows.vertices;
    if (mine && i != 0u) mine = edge != batch_edge(batch, i - 1u);
    bool endless;
    mine = has_edge(edge.x, edge.y, mine, endless);
    Row shorter = row_none();
    uint few = edge.x, many = edge.y;
    if (mine) {
        if (row_degree(rows, few) > row_degree(rows, many)) {
            few = edge.y;
            many = edge.x;
        }
        shorter = row_of(rows, few);
    }
    uint total = stage_put(few, shorter, many);   // contains a barrier
    uint met[3] = {0u, 0u, 0u};
    // A bound of all rounds together: several times what the rows of a whole pool take, but less than damaged ones
    // might.
    uint left = LANES_GO_ON ? max(lane_rounds(rows) / (WORKGROUP / SHARE), 1024u) : ~0u, given_up = endless ? 1u : 0u;
    for (uint base = 0u; base < total && left != 0u; base += WORKGROUP) {
        uint k = base + lane;
        bool walks = k < total;
        uint part = stage_find(min(k, total - 1u)) & (STAGE - 1u);
        uint x = stage_vertices[part], y = stage_values[part], place = stage_firsts[part] + k;
        for (; subgroupAny(walks) && left != 0u; left--) {
            uint w = NEIGHBOR_NONE;
            if (walks) w = neighbor_at(rows, place);
            bool asks = neighbor_there(w) && w != x && w != y;
            if (has_edge(y, w, asks, endless)) {
                uint more = (in_batch(batch, x, w) ? 1u : 0u) + (in_batch(batch, y, w) ? 1u : 0u);
                if (more == 0u) met[0]++;
                else if (more == 1u) met[1]++;
                else met[2]++;
            }
            if (subgroupAny(endless)) {
                given_up = 1u;
                left = 1u;
            }
            if (walks) place = place_behind(rows, place, stage_step(part));
            walks = walks && place != PLACE_NONE;
        }
        if (left == 0u && (walks || base + WORKGROUP < total)) given_up = 1u;
    }
    [[unroll]] for (uint n = 0u; n < 3u; n++) {
        wide_add(address_at(counts, n, 3u), met[n]);
        barrier();
    }
    wide_add(address_at(counts, 3u, 3u), given_up);
}
