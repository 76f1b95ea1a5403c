// Run-length encoding: the key and the length of each run of equal keys.
//
// `counts` has the number of runs that begin in each chunk, and `lasts` the beginning of the last of them. The length
// of a run is written by the workgroup with the beginning of the next run.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "chunk.glsl"
#include "run_head.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 out_keys;
    uvec2 out_counts;
    uvec2 out_runs;   // 0, or the address for the number of runs
    uvec2 counts;     // one word per chunk
    uvec2 lasts;      // one word per chunk: an index plus 1, 0 if no run begins there
    Length length;
};

// Where the last run before a chunk begins, plus 1. Collective over the subgroup.
uint last_before(uint chunk) {
    uint last = 0u;
    for (uint next = chunk; next != 0u && last == 0u; next -= min(next, gl_SubgroupSize)) {
        uint found = 0u;
        if (gl_SubgroupInvocationID < next)
            found = plain_load(address_at(lasts, next - 1u - gl_SubgroupInvocationID, 2u));
        uvec4 any = subgroupBallot(found != 0u);
        if (any != uvec4(0u)) last = subgroupShuffle(found, subgroupBallotFindLSB(any));
    }
    return last;
}

void main() {
    uint n = length_of(length);
    Chunk chunk = chunk_of(n, gl_WorkGroupID.x, gl_NumWorkGroups.x);
    uint me = workgroup_lane();
    // The number of runs before the part. It can't be more than the elements before it, whatever counts say.
    uint runs = min(chunk_sum(counts, gl_WorkGroupID.x), chunk.part * PART);
    uint last = last_before(gl_WorkGroupID.x);         // where the last run before the part begins, plus 1
    for (uint part = chunk.part; part < chunk.end; part++) {
        uint first = segment_of(part);
        uvec4 key[QUADS];
        uint heads[QUADS], rank[QUADS];
        segment_load(keys, first, n, KEY_LEAST, key);
        run_heads(keys, first, n, key, heads);
        barrier();   // the previous round may still be reading shared memory
        uint count = pack_ranks(heads, rank);
        pack_places(heads, rank, first);
        barrier();
        for (uint r = me; r < count; r += WORKGROUP) {
            uint at = packed_words[r];
            if (r + 1u < count) plain_store(address_at(out_counts, runs + r, 2u), packed_words[r + 1u] - at);
            if (r == 0u && runs != 0u) plain_store(address_at(out_counts, runs - 1u, 2u), at + 1u - last);
        }
        if (count != 0u) last = packed_words[count - 1u] + 1u;
        barrier();
        pack_keys(heads, rank, key);
        barrier();
        pack_store(out_keys, runs, count);
        runs += count;
    }
    if (gl_WorkGroupID.x == gl_NumWorkGroups.x - 1u && me == 0u) {
        if (runs != 0u) plain_store(address_at(out_counts, runs - 1u, 2u), n + 1u - last);
        if ((out_runs.x | out_runs.y) != 0u) plain_store(out_runs, runs);
    }
}
