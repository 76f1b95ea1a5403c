// Adds the values that reduce_by_key found before the first run of each chunk to the run that they belong to. A run may
// span many chunks: the workgroup of the chunk after the run's beginning adds the values of all of them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "chunk.glsl"
#include "aggregate.glsl"

layout(push_constant, std430) uniform Push {
    AggregateArrays results;   // in and out: one number per run
    AggregateArrays firsts;    // one number per chunk
    uvec2 counts;              // the number of runs that begin in each chunk
    uint chunks;
    uint most;                 // the greatest possible number of runs
};

void main() {
    uint chunk = gl_WorkGroupID.x + 1u;
    if (chunk >= chunks || plain_load_at(counts, chunk - 1u) == 0u) return;   // the whole workgroup
    uint run = min(chunk_sum(counts, chunk), most) - 1u;
    if (gl_SubgroupID != 0u) return;
    Aggregate more = aggregate_none();
    bool ended = false;
    for (uint at = chunk; at < chunks && !ended; at += gl_SubgroupSize) {
        uint i = at + gl_SubgroupInvocationID;
        uvec4 marked = subgroupBallot(i >= chunks || plain_load_at(counts, min(i, chunks - 1u)) != 0u);
        ended = marked != uvec4(0u);
        uint last = ended ? subgroupBallotFindLSB(marked) : gl_SubgroupSize - 1u;
        Aggregate a = aggregate_none();
        if (i < chunks && gl_SubgroupInvocationID <= last) a = aggregate_load(firsts, i);
        more = aggregate_both(more, aggregate_subgroup(a));
    }
    if (subgroupElect()) aggregate_store(results, run, aggregate_both(aggregate_load(results, run), more));
}
