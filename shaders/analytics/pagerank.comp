// An iteration of PageRank: each vertex adds up what its neighbours give. A long row is the business of a workgroup,
// one of middle length of a subgroup, a short one of an invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "pagerank.glsl"

layout(push_constant, std430) uniform Push {
    Rows graph;           // of the arcs that come in
    uvec2 degrees;        // of vertices, by the arcs that go out (degree_at)
    uvec2 order;         // vertices, those of short rows first, those of long ones last
    uvec2 gifts;
    uvec2 next_gifts;
    uvec2 ranks;
    uvec2 partials;
    uvec2 control;
    uint short_rows;
    uint middle_rows;
    uint long_rows;
    float damping;
};

const uint BATCH = 4u;   // loads that an invocation has under way

// What the neighbours of a lane give from a place on, which may be PLACE_NONE.
float gathered_from(uint place, uint step) {
    float sum = 0.0;
    for (uint left = lane_rounds(graph); place != PLACE_NONE && left != 0u; left--) {
        uint u = neighbor_at(graph, place);
        if (neighbor_there(u)) sum += float_load_at(gifts, u);
        place = place_behind(graph, place, step);
    }
    return sum;
}

// What the neighbours of a row's lanes give: of those from the first-th on, so many apart. Who has a row alone sees
// whether its lanes go on; others have to look.
float gathered(Row row, uint first, uint apart) {
    float sum = 0.0;
    bool looks = LANES_GO_ON && row_goes_on(row, apart != 1u), gaps = false;
    uint end = row.first + row.lanes;
    for (uint place = row.first + first; place < end; place += BATCH * apart) {
        uint u[BATCH], behind[BATCH];
        float gift[BATCH];
        [[unroll]] for (uint k = 0u; k < BATCH; k++) {
            bool there = place + k * apart < end;
            u[k] = there ? neighbor_at(graph, place + k * apart) : NEIGHBOR_NONE;
            behind[k] = looks && there ? place_behind(graph, place + k * apart, row_step(row)) : PLACE_NONE;
            gaps = gaps || there && !neighbor_there(u[k]);
        }
        [[unroll]] for (uint k = 0u; k < BATCH; k++)
            gift[k] = u[k] != NEIGHBOR_NONE ? float_load_at(gifts, u[k]) : 0.0;
        [[unroll]] for (uint k = 0u; k < BATCH; k++) sum += gift[k];
        if (looks) [[unroll]] for (uint k = 0u; k < BATCH; k++) sum += gathered_from(behind[k], row_step(row));
    }
    if (!LANES_GO_ON || looks || !gaps) return sum;
    for (uint place = row.first; place < end; place++)
        sum += gathered_from(place_behind(graph, place, row_step(row)), row_step(row));
    return sum;
}

// Stores a vertex's rank; returns what it adds to the dangling ranks, and to the change.
vec2 ranked(uint v, float sum) {
    float teleported = (1.0 - damping + damping * float_load_at(control, RANK_DANGLING)) / float(graph.vertices);
    float rank = teleported + damping * sum, before = float_load_at(ranks, v);
    uint arcs = degree_at(degrees, v);
    float_store_at(ranks, v, rank);
    float_store_at(next_gifts, v, arcs != 0u ? rank / float(arcs) : 0.0);
    return vec2(arcs == 0u ? rank : 0.0, abs(rank - before));
}

// The workgroup's vertex, or one of each subgroup or of each invocation. The longest rows come first. Collective over
// the workgroup.
vec2 of_workgroup(uint group) {
    uint lane = workgroup_lane();
    if (group < long_rows) {
        uint v = plain_load_at(order, short_rows + middle_rows + group);
        Row row = row_of(graph, v);
        float sum = workgroup_total(vec2(gathered(row, lane, WORKGROUP), 0.0)).x;
        return lane == 0u ? ranked(v, sum) : vec2(0.0);
    }
    group -= long_rows;
    uint middle_groups = (middle_rows + gl_NumSubgroups - 1u) / gl_NumSubgroups;
    if (group < middle_groups) {
        uint i = group * gl_NumSubgroups + gl_SubgroupID, v = 0u;
        Row row = row_none();
        if (i < middle_rows) {
            v = plain_load_at(order, short_rows + i);
            row = row_of(graph, v);
        }
        float sum = subgroupAdd(gathered(row, gl_SubgroupInvocationID, gl_SubgroupSize));
        return i < middle_rows && gl_SubgroupInvocationID == 0u ? ranked(v, sum) : vec2(0.0);
    }
    uint i = (group - middle_groups) * WORKGROUP + lane;
    if (i >= short_rows) return vec2(0.0);
    uint v = plain_load_at(order, i);
    Row row = row_of(graph, v);
    return ranked(v, gathered(row, 0u, 1u));
}

void main() {
    if (plain_load_at(control, RANK_ENOUGH) != 0u) return;
    vec2 mine = of_workgroup(workgroup_index());
    barrier();
    vec2 total = workgroup_total(mine);
    if (workgroup_lane() == 0u) plain_store2(address_at(partials, workgroup_index(), 3u), floatBitsToUint(total));
}
