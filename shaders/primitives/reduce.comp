// Reduces each chunk of an array of numbers to one number: its sum, its minimum or its maximum.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SUM_BITS VKDS_KEY_BITS
#include "length.glsl"
#include "chunk.glsl"
#include "summand.glsl"

layout(constant_id = 17) const uint OPERATION = 0;

const uint SUM = 0u;
const uint MIN = 1u;
const uint MAX = 2u;
const S NOTHING = S(OPERATION == MIN ? ~0u : 0u);   // the neutral element of the operation

layout(push_constant, std430) uniform Push {
    uvec2 source;
    uvec2 target;   // output: one number per chunk
    Length length;
};

shared S of_subgroup[WORKGROUP / 4u];

S reduce(S a, S b) {
    return OPERATION == SUM ? number_add(a, b) : OPERATION == MIN ? number_min(a, b) : number_max(a, b);
}

// Numbers of two words compare by the high words, and if these are equal by the low words.
#if SUM_BITS == 64
S reduce_quad(uvec4 v) { return reduce(v.xy, v.zw); }
S min_subgroup(S a) {
    uint high = subgroupMin(a.y);
    return S(subgroupMin(a.y == high ? a.x : ~0u), high);
}
S max_subgroup(S a) {
    uint high = subgroupMax(a.y);
    return S(subgroupMax(a.y == high ? a.x : 0u), high);
}
#else
S reduce_quad(uvec4 v) { return reduce(reduce(v.x, v.y), reduce(v.z, v.w)); }
S min_subgroup(S a) { return subgroupMin(a); }
S max_subgroup(S a) { return subgroupMax(a); }
#endif

// Collective over the subgroup.
S reduce_subgroup(S a) {
    if (OPERATION == SUM) return SUM_SUBGROUP(a);
    if (OPERATION == MIN) return min_subgroup(a);
    return max_subgroup(a);
}

void main() {
    uint n = length_of(length);
    S result = NOTHING;
    Chunk chunk = chunk_of(n, gl_WorkGroupID.x, gl_NumWorkGroups.x);
    for (uint part = chunk.part; part < chunk.end; part++) {
        uvec4 v[QUADS];
        summand_load(source, segment_of(part), n, NOTHING, v);
        [[unroll]] for (uint q = 0u; q < QUADS; q++) result = reduce(result, reduce_quad(v[q]));
    }
    S sub = reduce_subgroup(result);
    if (gl_SubgroupInvocationID == 0u) of_subgroup[gl_SubgroupID] = sub;
    barrier();
    if (gl_SubgroupID == 0u) {
        result = NOTHING;
        for (uint i = gl_SubgroupInvocationID; i < gl_NumSubgroups; i += gl_SubgroupSize)
            result = reduce(result, of_subgroup[i]);
        result = reduce_subgroup(result);
        if (gl_SubgroupInvocationID == 0u) SUM_STORE(address_at(target, gl_WorkGroupID.x, SUM_SHIFT), result);
    }
}
