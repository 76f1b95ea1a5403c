// Reduces each chunk of an array of words to one word: its sum, least or greatest word.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "chunk.glsl"

layout(constant_id = 17) const uint OPERATION = 0;

const uint SUM = 0u;
const uint MIN = 1u;
const uint MAX = 2u;
const uint NOTHING = OPERATION == MIN ? ~0u : 0u;   // reduces with any word to that word

layout(push_constant, std430) uniform Push {
    uvec2 source;
    uvec2 target;   // a word a chunk
    Length length;
};

shared uint of_subgroup[WORKGROUP / 4u];

uint reduce(uint a, uint b) { return OPERATION == SUM ? a + b : OPERATION == MIN ? min(a, b) : max(a, b); }

// Collective over the subgroup.
uint reduce_subgroup(uint a) {
    if (OPERATION == SUM) return subgroupAdd(a);
    if (OPERATION == MIN) return subgroupMin(a);
    return subgroupMax(a);
}

void main() {
    uint n = length_of(length);
    uint result = NOTHING;
    Chunk chunk = chunk_of(n, gl_WorkGroupID.x, gl_NumWorkGroups.x);
    for (uint part = chunk.part; part < chunk.end; part++) {
        uvec4 v[QUADS];
        segment_load(source, segment_of(part), n, NOTHING, v);
        [[unroll]] for (uint q = 0u; q < QUADS; q++)
            result = reduce(result, reduce(reduce(v[q].x, v[q].y), reduce(v[q].z, v[q].w)));
    }
    uint sub = reduce_subgroup(result);
    if (gl_SubgroupInvocationID == 0u) of_subgroup[gl_SubgroupID] = sub;
    barrier();
    if (gl_SubgroupID == 0u) {
        result = NOTHING;
        for (uint i = gl_SubgroupInvocationID; i < gl_NumSubgroups; i += gl_SubgroupSize)
            result = reduce(result, of_subgroup[i]);
        result = reduce_subgroup(result);
        if (gl_SubgroupInvocationID == 0u) plain_store(address_at(target, gl_WorkGroupID.x, 2u), result);
    }
}
