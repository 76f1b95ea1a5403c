// Counts the valid pairs in ranges, from the candidates in all runs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sorted_run.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 slices;    // from range_bounds
    uvec2 offsets;   // one word per range: the number of its first candidate
    uvec2 total;     // two words: the number of candidates
    uvec2 counts;    // one word per range, 0 before: its number of valid pairs
    uint count;      // the number of ranges
    uint limit;      // if there are more candidates, the kernel does nothing
};

#include "candidates.glsl"

// The contribution of a candidate, pair i of its part's run, to the number of valid pairs. It is 0 unless the pair is
// the last one of its key in its run. Otherwise it is 1 for a pair and 0 for a tombstone, minus the same for the key's
// last pair in the next older run with the key. So the contributions of a key add up to 1, or to 0 if its newest pair
// is a tombstone. To search the older runs is far less work than to search the newer ones, because newer runs have
// fewer pairs.
uint addition(Part part, uint i, uint rows) {
    Run own = stack_run(stack, part.row);
    K key = run_key(own, i);
    bool searches = is_last(own, i, key);
    uint sum = 0u;
    if (searches && !run_tombstone(own, i, run_value(own, i))) sum = 1u;
    uint number = part.number + 1u;
    for (uint row = part.row + 1u; row < rows && searches; row++) {
        if (stack_size(stack, row) == 0u) continue;
        uvec2 slice = slice_of(number, part.range);
        number++;
        if (slice.x == slice.y) continue;
        Run run = stack_run(stack, row);
        uint end = run_upper_in(run, slice.x, slice.y, key);
        if (end == slice.x) continue;
        searches = run_key(run, end - 1u) != key;
        if (!searches && !run_tombstone(run, end - 1u, run_value(run, end - 1u))) sum--;
    }
    return sum;
}

// Adds the numbers that the lanes have kept to a range's count. Collective over the subgroup.
void add_kept(uint range, uint kept) {
    uint sum = subgroupAdd(kept);
    if (gl_SubgroupInvocationID == 0u && sum != 0u) atomic_add(address_at(counts, range, 2u), sum);
}

// Adds each lane's number to its range's count, modulo 2^32. Ranges must ascend over the lanes; lanes without a
// candidate pass the range ~0. The numbers for the range `last` are not added, but kept in `kept`, by each lane for
// itself (see workgroup_sum.glsl), because all of this subgroup's candidates may be in one range. Collective over the
// subgroup.
void add_counts(uint range, uint one, inout uint last, inout uint kept) {
    if (subgroupAll(range == last)) {
        kept += one;
        return;
    }
    add_kept(last, kept);
    uint end = gl_SubgroupSize - 1u;
    uint before = subgroupShuffle(range, max(gl_SubgroupInvocationID, 1u) - 1u);
    uint after = subgroupShuffle(range, min(gl_SubgroupInvocationID + 1u, end));
    // The sum over the lanes of one range is the prefix sum at its last lane minus that before its first lane.
    uint upto = subgroupInclusiveAdd(one);
    uint first = subgroupInclusiveMax(before != range ? gl_SubgroupInvocationID : 0u);
    uint own = upto - subgroupShuffle(upto - one, first);
    // The last range is kept, because the next candidates may be in it, too.
    if (after != range && own != 0u) atomic_add(address_at(counts, range, 2u), own);
    last = subgroupShuffle(range, end);
    kept = range == last ? one : 0u;
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
    uint last = ~0u, kept = 0u;
    uint block = workgroup_index() * gl_NumSubgroups + gl_SubgroupID;
    for (uint round = 0u; block < blocks;) {
        uint candidate = (block * BLOCK + round) * gl_SubgroupSize + gl_SubgroupInvocationID;
        bool busy = candidate < candidates;
        if (busy) part = part_of(candidate, part, rows);
        uint i = part.first + (candidate - part.begin);
        uint one = 0u;
        if (busy) one = addition(part, i, rows);
        add_counts(busy ? part.range : ~0u, one, last, kept);
        round++;
        if (round == BLOCK) {
            round = 0u;
            block += subgroups;
        }
    }
    add_kept(last, kept);
}
