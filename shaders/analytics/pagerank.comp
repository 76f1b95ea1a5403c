// An iteration of PageRank: each vertex adds up what its neighbours give. A long row is the business of a workgroup,
// one of middle length of a subgroup, a short one of an invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "pagerank.glsl"

layout(push_constant, std430) uniform Push {
    Graph graph;         // of the arcs that come in
    uvec2 offsets;       // of the arcs that go out
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

// What the neighbours at some places give: those from `place` on, `step` apart.
float gathered(uint place, uint end, uint step) {
    float sum = 0.0;
    for (; place < end; place += BATCH * step) {
        uint u[BATCH];
        float gift[BATCH];
        [[unroll]] for (uint k = 0u; k < BATCH; k++)
            u[k] = place + k * step < end ? neighbor_at(graph, place + k * step) : ~0u;
        [[unroll]] for (uint k = 0u; k < BATCH; k++) gift[k] = u[k] != ~0u ? float_load_at(gifts, u[k]) : 0.0;
        [[unroll]] for (uint k = 0u; k < BATCH; k++) sum += gift[k];
    }
    return sum;
}

// Stores a vertex's rank; returns what it adds to the dangling ranks, and to the change.
vec2 ranked(uint v, float sum) {
    float teleported = (1.0 - damping + damping * float_load_at(control, RANK_DANGLING)) / float(graph.vertices);
    float rank = teleported + damping * sum, before = float_load_at(ranks, v);
    uint arcs = plain_load_at(offsets, v + 1u) - plain_load_at(offsets, v);
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
        float sum = workgroup_total(vec2(gathered(row.first + lane, row.first + row.lanes, WORKGROUP), 0.0)).x;
        return lane == 0u ? ranked(v, sum) : vec2(0.0);
    }
    group -= long_rows;
    uint middle_groups = (middle_rows + gl_NumSubgroups - 1u) / gl_NumSubgroups;
    if (group < middle_groups) {
        uint i = group * gl_NumSubgroups + gl_SubgroupID, v = 0u;
        Row row = Row(0u, 0u);
        if (i < middle_rows) {
            v = plain_load_at(order, short_rows + i);
            row = row_of(graph, v);
        }
        float sum = subgroupAdd(gathered(row.first + gl_SubgroupInvocationID, row.first + row.lanes, gl_SubgroupSize));
        return i < middle_rows && gl_SubgroupInvocationID == 0u ? ranked(v, sum) : vec2(0.0);
    }
    uint i = (group - middle_groups) * WORKGROUP + lane;
    if (i >= short_rows) return vec2(0.0);
    uint v = plain_load_at(order, i);
    Row row = row_of(graph, v);
    return ranked(v, gathered(row.first, row.first + row.lanes, 1u));
}

void main() {
    if (plain_load_at(control, RANK_ENOUGH) != 0u) return;
    vec2 mine = of_workgroup(workgroup_index());
    barrier();
    vec2 total = workgroup_total(mine);
    if (workgroup_lane() == 0u) plain_store2(address_at(partials, workgroup_index(), 3u), floatBitsToUint(total));
}
