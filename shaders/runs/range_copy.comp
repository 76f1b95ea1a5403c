// Copies all candidates, if there is one run and all of its pairs are valid.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sorted_run.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 slices;    // from range_bounds
    uvec2 offsets;   // one word per range: the number of its first candidate
    uvec2 total;     // two words: the number of candidates
    uvec2 out_keys;
    uvec2 out_values;
    uint count;      // the number of ranges
    uint limit;      // if there are more candidates, the kernel does nothing
    uint capacity;   // pairs beyond it are not copied
};

#include "candidates.glsl"

void main() {
    uint candidates = plain_load(total);
    if (plain_load(address_add(total, 4u)) != 0u || candidates > limit) candidates = 0u;
    uint rows = stack_rows(stack);
    // Subgroups take blocks of a few rounds in turn, because candidates in newer runs take more work.
    uint workgroups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    uint subgroups = workgroups * gl_NumSubgroups;
    uint blocks = (candidates + BLOCK * gl_SubgroupSize - 1u) / (BLOCK * gl_SubgroupSize);
    Part part = Part(0u, 0u, 0u, 0u, 0u, 0u);
    uint block = workgroup_index() * gl_NumSubgroups + gl_SubgroupID;
    for (uint round = 0u; block < blocks;) {
        uint candidate = (block * BLOCK + round) * gl_SubgroupSize + gl_SubgroupInvocationID;
        bool busy = candidate < candidates;
        if (busy) part = part_of(candidate, part, rows);
        uint i = part.first + (candidate - part.begin);
        if (busy && candidate < capacity) {
            Run run = stack_run(stack, part.row);
            VKDS_STORE(address_at(out_keys, candidate, VKDS_SHIFT), run_key(run, i));
            VKDS_STORE(address_at(out_values, candidate, VKDS_SHIFT), run_value(run, i));
        }
        round++;
        if (round == BLOCK) {
            round = 0u;
            block += subgroups;
        }
    }
}
