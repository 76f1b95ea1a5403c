// Copies all candidates of ranges, of one run whose pairs are all valid.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sorted_run.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 slices;    // of range_bounds
    uvec2 offsets;   // a word a range: its first candidate's number
    uvec2 total;     // two words: the candidates
    uvec2 out_keys;
    uvec2 out_values;
    uint count;      // ranges
    uint limit;      // nothing is done if there are more candidates
    uint capacity;   // later pairs are not copied
};

#include "candidates.glsl"

void main() {
    uint candidates = plain_load(total);
    if (plain_load(address_add(total, 4u)) != 0u || candidates > limit) candidates = 0u;
    uint rows = stack_rows(stack);
    // Blocks of a few rounds go to the subgroups in turn, since candidates in newer runs are more work than others.
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
