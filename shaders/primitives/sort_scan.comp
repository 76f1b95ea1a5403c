// Sums each digit's counts over the tiles before, a workgroup a digit.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(constant_id = 3) const uint SUBGROUPS = 4;

layout(push_constant, std430) uniform Push {
    uvec2 counts;   // of each digit, a row of `tiles` words; in place
    uvec2 totals;   // of each digit
    uint tiles;
};

const uint EACH = 4u;   // words a lane and round

shared uint sums[SUBGROUPS];

void main() {
    uint digit = gl_WorkGroupID.x;
    uint self = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
    uvec2 row = address_at(counts, digit * tiles, 2u);
    uint total = 0u;
    for (uint base = 0u; base < tiles; base += WORKGROUP * EACH) {
        uint words[EACH];
        uint own = 0u;
        [[unroll]] for (uint k = 0u; k < EACH; k++) {
            uint i = base + self * EACH + k;
            words[k] = 0u;
            if (i < tiles) words[k] = plain_load(address_at(row, i, 2u));
            own += words[k];
        }
        uint before = subgroupExclusiveAdd(own);
        if (gl_SubgroupInvocationID == gl_SubgroupSize - 1u) sums[gl_SubgroupID] = before + own;
        barrier();
        uint all = 0u;
        for (uint s = 0u; s < SUBGROUPS; s++) {
            before += s < gl_SubgroupID ? sums[s] : 0u;
            all += sums[s];
        }
        before += total;
        [[unroll]] for (uint k = 0u; k < EACH; k++) {
            uint i = base + self * EACH + k;
            if (i < tiles) plain_store(address_at(row, i, 2u), before);
            before += words[k];
        }
        total += all;
        barrier();
    }
    if (self == 0u) plain_store(address_at(totals, digit, 2u), total);
}
