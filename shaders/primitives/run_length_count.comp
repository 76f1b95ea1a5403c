// Counts the runs that begin in each chunk of an array, and finds the last of them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "chunk.glsl"
#include "run_head.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 counts;   // output: one word per chunk
    uvec2 lasts;    // output, one word per chunk: where its last run begins, plus 1; 0 if none does
    Length length;
};

shared uint last_of_all;

void main() {
    uint n = length_of(length);
    Chunk chunk = chunk_of(n, gl_WorkGroupID.x, gl_NumWorkGroups.x);
    uvec2 share = uvec2(0u);   // the lane's heads: their number, and the last one's index plus 1
    for (uint part = chunk.part; part < chunk.end; part++) {
        uint first = segment_of(part);
        uvec4 key[QUADS];
        uint heads[QUADS];
        segment_load(keys, first, n, KEY_LEAST, key);
        run_heads(keys, first, n, key, heads);
        uvec2 more = run_share(first, heads);
        share = uvec2(share.x + more.x, max(share.y, more.y));
    }
    bool one = gl_SubgroupID == 0u && subgroupElect();
    if (one) last_of_all = 0u;
    uint count;
    workgroup_before(subgroupAdd(share.x), count);
    uint last = subgroupMax(share.y);
    if (subgroupElect()) atomicMax(last_of_all, last, gl_ScopeWorkgroup, 0, 0);
    barrier();
    if (one) {
        plain_store(address_at(counts, gl_WorkGroupID.x, 2u), count);
        plain_store(address_at(lasts, gl_WorkGroupID.x, 2u), last_of_all);
    }
}
