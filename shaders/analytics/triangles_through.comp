// Counts triangles of a graph where it is that have an edge of a batch. For each of the batch's edges that the graph
// has, the neighbours of its end of fewer are looked for at the other. One with several edges of the batch is met
// by each of them, so what is met goes by how many these are.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "invocation.glsl"
#include "workgroup.glsl"
#define STAGE WORKGROUP
#include "stage.glsl"
#include "wide_sum.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;
    uvec2 edges;     // numbers of 64 bits, ascending: the greater end, and above it the lesser one
    uvec2 counts;    // four numbers of 64 bits: what was met with one edge of the batch, with two, with three; and who
                     // gave up
    uint count;      // edges; some come twice
    uint vertices;   // of the graph
};

// Edges that a workgroup has. They are far from one another, since those of a hub are neighbours. Go has it, too
// (triangles_through.go).
const uint SHARE = 16u;

shared uint stage_others[STAGE];   // the ends that have more neighbours

uvec2 edge_at(uint i) { return plain_load2(address_at(edges, i, 3u)); }

// Whether an edge is in the batch.
bool in_batch(uint u, uint v) {
    uvec2 edge = uvec2(max(u, v), min(u, v));
    uint low = 0u, high = count;
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        uvec2 there = edge_at(middle);
        if (there == edge) return true;
        if (there.y < edge.y || there.y == edge.y && there.x < edge.x) low = middle + 1u;
        else high = middle;
    }
    return false;
}

void main() {
    Rows rows = Rows(graph.pool.table, graph.pool.units, graph.vertices, vertices, graph.pool.blocks);
    uint lane = workgroup_lane(), groups = (count + SHARE - 1u) / SHARE;
    if (workgroup_index() >= groups) return;
    uint i = workgroup_index() + lane * groups;
    bool has = lane < SHARE && i < count;
    uvec2 edge = uvec2(0u);
    if (has) edge = edge_at(i);
    bool mine = has && edge.x != edge.y && max(edge.x, edge.y) < vertices;
    if (mine && i != 0u) mine = edge != edge_at(i - 1u);
    uint value;
    bool endless;
    mine = graph_find(graph, edge.x, edge.y, mine, value, endless) && mine;
    Row shorter = row_none();
    uint few = edge.x, many = edge.y;
    if (mine) {
        if (row_degree(rows, few) > row_degree(rows, many)) {
            few = edge.y;
            many = edge.x;
        }
        shorter = row_of(rows, few);
    }
    stage_others[lane] = many;
    uint total = stage_put(few, shorter, 0u);   // with a barrier
    uint met[3] = {0u, 0u, 0u};
    // Rounds of all: several times what rows take that are in a pool together, and not what damaged ones might.
    uint left = max(lane_rounds(rows) / (WORKGROUP / SHARE), 1024u), given_up = endless ? 1u : 0u;
    for (uint base = 0u; base < total && left != 0u; base += WORKGROUP) {
        uint k = base + lane;
        bool walks = k < total;
        uint part = stage_find(min(k, total - 1u)) & (STAGE - 1u);
        uint x = stage_vertices[part], y = stage_others[part], place = stage_firsts[part] + k;
        for (; subgroupAny(walks) && left != 0u; left--) {
            uint w = NEIGHBOR_NONE;
            if (walks) w = neighbor_at(rows, place);
            bool asks = neighbor_there(w) && w != x && w != y;
            if (graph_find(graph, y, w, asks, value, endless)) {
                uint more = (in_batch(x, w) ? 1u : 0u) + (in_batch(y, w) ? 1u : 0u);
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
