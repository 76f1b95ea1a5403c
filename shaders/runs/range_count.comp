// Counts the valid pairs of ranges, of their candidates in all runs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sorted_run.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 slices;    // of range_bounds
    uvec2 offsets;   // a word a range: its first candidate's number
    uvec2 total;     // two words: the candidates
    uvec2 counts;    // a word a range, 0 at first: its valid pairs are added
    uint count;      // ranges
    uint limit;      // nothing is done if there are more candidates
};

#include "candidates.glsl"

// What a candidate, pair i of its part's run, adds to the number of valid pairs: 1 if it is the last of its key in its
// run and no tombstone, less 1 if such a pair is the next older one of its key, in another run. So a key's pairs add up
// to 1 or, if its newest is a tombstone, to 0. Newer runs have fewer pairs than older ones, so that it is far less work
// to look for the next older pair than for any newer one.
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

// Adds to a range's count what the lanes have kept back. Collective over the subgroup.
void add_kept(uint range, uint kept) {
    uint sum = subgroupAdd(kept);
    if (gl_SubgroupInvocationID == 0u && sum != 0u) atomic_add(address_at(counts, range, 2u), sum);
}

// Adds to each range's count, modulo 2^32, what the subgroup's lanes have for it. Neighbouring lanes have the same
// range or later ones; lanes that have none have the range ~0. What belongs to the range `last` is kept back in
// `kept`, by each lane for itself (workgroup_sum.glsl says why), since one range may have all candidates of this
// subgroup. Collective over the subgroup.
void add_counts(uint range, uint one, inout uint last, inout uint kept) {
    if (subgroupAll(range == last)) {
        kept += one;
        return;
    }
    add_kept(last, kept);
    uint end = gl_SubgroupSize - 1u;
    uint before = subgroupShuffle(range, max(gl_SubgroupInvocationID, 1u) - 1u);
    uint after = subgroupShuffle(range, min(gl_SubgroupInvocationID + 1u, end));
    // The sum of the lanes of one range is that up to its last lane less that before its first.
    uint upto = subgroupInclusiveAdd(one);
    uint first = subgroupInclusiveMax(before != range ? gl_SubgroupInvocationID : 0u);
    uint own = upto - subgroupShuffle(upto - one, first);
    // The last range is kept: the next candidates may be of it.
    if (after != range && own != 0u) atomic_add(address_at(counts, range, 2u), own);
    last = subgroupShuffle(range, end);
    kept = range == last ? one : 0u;
}

void main() {
    uint candidates = plain_load(total);
    if (plain_load(address_add(total, 4u)) != 0u || candidates > limit) candidates = 0u;
    uint rows = stack_rows(stack);
    // Blocks of a few rounds go to the subgroups in turn, since candidates in newer runs are more work than others.
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
