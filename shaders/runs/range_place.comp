// Stores the valid pairs of ranges, each at its rank among the candidates of its range.
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
    uvec2 flags;     // one bit per candidate, 0 before: set if a valid pair was stored there
    uint count;      // the number of ranges
    uint limit;      // if there are more candidates, the kernel does nothing
};

#include "candidates.glsl"

// Whether a candidate, pair i of its part's run, is valid: it is the last one of its key in its run, it is not a
// tombstone, and no newer run has its key. `rank` is then its rank by key among the candidates of its range: the number
// of candidates with keys up to its own, minus those of older runs with that key. The ranks of valid pairs differ.
bool valid(Part part, uint i, uint rows, out K key, out V value, out uint rank) {
    Run own = stack_run(stack, part.row);
    key = run_key(own, i);
    value = run_value(own, i);
    rank = i - part.first;
    bool is_valid = !run_tombstone(own, i, value);
    if (is_valid) is_valid = is_last(own, i, key);
    uint number = 0u;
    for (uint row = 0u; row < rows && is_valid; row++) {
        if (stack_size(stack, row) == 0u) continue;
        uvec2 slice = slice_of(number, part.range);
        number++;
        if (row == part.row || slice.x == slice.y) continue;
        Run run = stack_run(stack, row);
        uint end = run_upper_in(run, slice.x, slice.y, key);
        if (row < part.row && end > slice.x) is_valid = run_key(run, end - 1u) != key;
        rank += end - slice.x;
    }
    return is_valid;
}

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
        K key;
        V value;
        uint rank;
        bool is_valid = false;
        if (busy) is_valid = valid(part, i, rows, key, value, rank);
        uint place = limit;
        if (is_valid) place = plain_load(address_at(offsets, part.range, 2u)) + rank;
        if (place < limit) {
            VKDS_STORE(address_at(out_keys, place, VKDS_SHIFT), key);
            VKDS_STORE(address_at(out_values, place, VKDS_SHIFT), value);
            atomic_or(address_at(flags, place >> 5, 2u), 1u << (place & 31u));
        }
        round++;
        if (round == BLOCK) {
            round = 0u;
            block += subgroups;
        }
    }
}
