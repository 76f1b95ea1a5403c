// Sums each digit's counts over the tiles before: each workgroup those of one digit, or of several in turn.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "workgroup_sum.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 counts;   // a row of `tiles` words per digit; becomes the sums
    uvec2 totals;   // output: one word per digit
    uvec2 step_at;  // the step; 0: it is not made (sort_step.glsl)
    uint tiles;
};

const uint RADIX = 256u;
const uint EACH = 4u;   // words per lane and round

void main() {
    if (plain_load(step_at) == 0u) return;
    uint self = workgroup_lane();
    for (uint digit = gl_WorkGroupID.x; digit < RADIX; digit += gl_NumWorkGroups.x) {
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
            uint all;
            uint before = total + workgroup_before(subgroupAdd(own), all) + subgroupExclusiveAdd(own);
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
}
