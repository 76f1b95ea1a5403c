// An iteration of PageRank: each vertex adds up the gifts of its neighbours, which are their ranks divided by their
// numbers of arcs. Depending on its length, a row is read by an invocation, a tile, a subgroup or a workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "pagerank.glsl"
#include "dispatches.glsl"
#include "tile.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;           // of the incoming arcs
    uvec2 degrees;        // the numbers of outgoing arcs, for degree_at
    uvec2 order;         // the vertices, by the class of their rows: the shortest rows first
    uvec2 gifts;
    uvec2 next_gifts;
    uvec2 ranks;
    uvec2 partials;
    uvec2 control;
    uint rows[4];        // the number of rows in each class (pagerank_class.comp)
    float damping;
    uint dispatch;
    uint dispatches;
    uint personal;       // 1: the control block's words are followed by the probability of jumping to each vertex
};

// 1: all rows are short, as in meshes and road networks; `order` is then not used.
layout(constant_id = 18) const uint SHORT = 0;

const uint BATCH = 4u;   // loads in flight per invocation

// The sum of the gifts of a row's neighbours, for every `apart`-th one from number `first` on.
float gathered(Row row, uint first, uint apart) {
    float sum = 0.0;
    uint end = row.first + row.lanes;
    for (uint place = row.first + first; place < end; place += BATCH * apart) {
        uint u[BATCH];
        float gift[BATCH];
        [[unroll]] for (uint k = 0u; k < BATCH; k++)
            u[k] = place + k * apart < end ? neighbor_at(graph, place + k * apart) : NEIGHBOR_NONE;
        [[unroll]] for (uint k = 0u; k < BATCH; k++)
            gift[k] = u[k] != NEIGHBOR_NONE ? float_load_at(gifts, u[k]) : 0.0;
        [[unroll]] for (uint k = 0u; k < BATCH; k++) sum += gift[k];
    }
    return sum;
}

// Stores a vertex's rank. Returns what it adds to the dangling ranks and to the change.
vec2 ranked(uint v, float sum) {
    float jumped = 1.0 - damping + damping * float_load_at(control, RANK_DANGLING);
    jumped = personal != 0u ? jumped * float_load_at(control, RANK_WORDS + v) : jumped / float(graph.vertices);
    float rank = jumped + damping * sum, before = float_load_at(ranks, v);
    uint arcs = degree_at(degrees, v);
    float_store_at(ranks, v, rank);
    float_store_at(next_gifts, v, arcs != 0u ? rank / float(arcs) : 0.0);
    return vec2(arcs == 0u ? rank : 0.0, abs(rank - before));
}

// The sum over `lanes` consecutive lanes. Collective over the subgroup.
float lanes_total(float x, uint lanes) {
    for (uint apart = lanes / 2u; apart != 0u; apart /= 2u) x += subgroupShuffleXor(x, apart);
    return x;
}

uint ordered(uint i) { return min(SHORT != 0u ? i : plain_load_at(order, i), graph.vertices - 1u); }

// Does the workgroup's share of the vertices first … first+count-1 of the order, with `lanes` lanes for each.
// Collective over the subgroup.
vec2 of_lanes(uint group, uint first, uint count, uint lanes) {
    uint i = (group * WORKGROUP + workgroup_lane()) / lanes, lane = gl_SubgroupInvocationID % lanes, v = 0u;
    Row row = row_none();
    if (i < count) {
        v = ordered(first + i);
        row = row_of(graph, v);
    }
    float sum = lanes_total(gathered(row, lane, lanes), lanes);
    return i < count && lane == 0u ? ranked(v, sum) : vec2(0.0);
}

uint groups_of(uint count, uint lanes) { return (count + WORKGROUP / lanes - 1u) / (WORKGROUP / lanes); }

// Does the vertices of workgroup number `group`. Those of the longest rows come first. Collective over the workgroup.
vec2 of_workgroup(uint group, uvec3 groups) {
    if (SHORT != 0u) return of_lanes(group, 0u, rows[0], 1u);
    uint lane = workgroup_lane(), first = rows[0] + rows[1] + rows[2];
    if (group < rows[3]) {
        uint v = ordered(first + group);
        Row row = row_of(graph, v);
        float sum = workgroup_total(vec2(gathered(row, lane, WORKGROUP), 0.0)).x;
        return lane == 0u ? ranked(v, sum) : vec2(0.0);
    }
    group -= rows[3];
    first -= rows[2];
    if (group < groups.z) return of_lanes(group, first, rows[2], gl_SubgroupSize);
    group -= groups.z;
    first -= rows[1];
    if (group < groups.y) return of_lanes(group, first, rows[1], TILE);
    return of_lanes(group - groups.y, 0u, rows[0], 1u);
}

void main() {
    uvec3 groups = uvec3(groups_of(rows[0], 1u), groups_of(rows[1], TILE), groups_of(rows[2], gl_SubgroupSize));
    uint group = workgroup_of_all(dispatch, dispatches);
    if (group >= groups.x + groups.y + groups.z + rows[3]) return;   // a spare workgroup
    if (plain_load_at(control, RANK_ENOUGH) != 0u) return;
    vec2 mine = of_workgroup(group, groups);
    barrier();
    vec2 total = workgroup_total(mine);
    if (workgroup_lane() == 0u) plain_store2(address_at(partials, group, 3u), floatBitsToUint(total));
}
