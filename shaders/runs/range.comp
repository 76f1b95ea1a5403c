// Goes over the candidates of ranges, the pairs of all runs that lie in them, and does something with the valid ones:
// COUNT counts them, PLACE puts them at their places among their range's candidates, in the order of their keys, and
// COPY copies all of them, of one run whose pairs are all valid.
//
// Candidates are numbered range by range, and within a range run by run, the newest first. They are divided evenly, so
// that one range over everything is as good as many short ones. A candidate finds out by itself what it adds, by
// looking for its key in other runs' part of the range. So nothing is gathered and sorted, as sections IV-C and IV-D of
// the paper have it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sorted_run.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 slices;    // of range_bounds
    uvec2 offsets;   // a word a range: its first candidate's number
    uvec2 total;     // two words: the candidates
#ifdef COUNT
    uvec2 counts;    // a word a range, 0 at first: its valid pairs are added
#else
    uvec2 out_keys;
    uvec2 out_values;
#endif
#ifdef PLACE
    uvec2 flags;     // a bit a candidate, 0 at first: set where a valid pair was placed
#endif
    uint count;      // ranges
    uint limit;      // nothing is done if there are more candidates
#ifdef COPY
    uint capacity;   // later pairs are not copied
#endif
};

const uint BLOCK = 4u;   // rounds: candidates of each lane

// The range of a candidate: the last one whose offset is not above it. It is first or a later one.
uint range_of(uint candidate, uint first) {
    // The next ones at first, since a lane's next candidate is seldom far away.
    uint last = first + 1u, step = 1u;
    while (last < count && plain_load(address_at(offsets, last, 2u)) <= candidate) {
        first = last;
        last += min(step, count - last);
        step <<= 1;
    }
    while (last - first > 1u) {
        uint middle = first + ((last - first) >> 1);
        if (plain_load(address_at(offsets, middle, 2u)) <= candidate) first = middle;
        else last = middle;
    }
    return first;
}

// The slice of a range in the run number `run` of those that have pairs.
uvec2 slice_of(uint run, uint range) { return plain_load2(address_at(address_at(slices, run * count, 3u), range, 3u)); }

// The candidates of one range in one run, which follow one another.
struct Part {
    uint range;
    uint row;      // of the run
    uint number;   // the run's number of those that have pairs
    uint first;    // of the range's pairs in the run
    uint begin;    // the candidates
    uint end;
};

// The part that a candidate belongs to. Searched from the part of an earlier candidate on, or of none.
Part part_of(uint candidate, Part before, uint rows) {
    if (candidate < before.end) return before;
    Part part = before;
    part.range = range_of(candidate, before.range);
    part.end = plain_load(address_at(offsets, part.range, 2u));
    uint number = 0u;
    for (uint row = 0u; row < rows && part.end <= candidate; row++) {
        if (stack_size(stack, row) == 0u) continue;
        uvec2 slice = slice_of(number, part.range);
        part.row = row;
        part.number = number;
        part.first = slice.x;
        part.begin = part.end;
        part.end += slice.y - slice.x;
        number++;
    }
    return part;
}

// Whether pair i of a run is the last of its key there.
bool is_last(Run run, uint i, uint key) {
    if (i + 1u == run.size) return true;
    return run_key(run, i + 1u) != key;
}

#ifdef PLACE
// Whether a candidate, pair i of its part's run, is valid: the last of its key in its run, no tombstone, and no newer run has its key. Then
// rank is its place among its range's candidates: the number of those with keys up to its own, less one. No two valid
// pairs have the same.
bool valid(Part part, uint i, uint rows, out uint key, out uint value, out uint rank) {
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
#endif

#ifdef COUNT
// What a candidate, pair i of its part's run, adds to the number of valid pairs: 1 if it is the last of its key in its run and no tombstone, less
// 1 if such a pair is the next older one of its key, in another run. So a key's pairs add up to 1 or, if its newest is
// a tombstone, to 0. Newer runs have fewer pairs than older ones, so that it is far less work to look for the next
// older pair than for any newer one.
uint addition(Part part, uint i, uint rows) {
    Run own = stack_run(stack, part.row);
    uint key = run_key(own, i);
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

// Adds to each range's count, modulo 2^32, what the subgroup's lanes have for it. Neighbouring lanes have the same
// range or later ones; lanes that have none have the range ~0. What belongs to the range `kept` is kept back in
// `sum`, since one range may have all candidates of this subgroup. Collective over the subgroup.
void add_counts(uint range, uint one, inout uint kept, inout uint sum) {
    uint all = subgroupAdd(one);
    if (subgroupAll(range == kept)) {
        sum += all;
        return;
    }
    if (gl_SubgroupInvocationID == 0u && sum != 0u) atomic_add(address_at(counts, kept, 2u), sum);
    uint last = gl_SubgroupSize - 1u;
    uint before = subgroupShuffle(range, max(gl_SubgroupInvocationID, 1u) - 1u);
    uint after = subgroupShuffle(range, min(gl_SubgroupInvocationID + 1u, last));
    // The sum of the lanes of one range is that up to its last lane less that before its first.
    uint upto = subgroupInclusiveAdd(one);
    uint first = subgroupInclusiveMax(before != range ? gl_SubgroupInvocationID : 0u);
    uint own = upto - subgroupShuffle(upto - one, first);
    // The last range is kept: the next candidates may be of it.
    if (after != range && own != 0u) atomic_add(address_at(counts, range, 2u), own);
    kept = subgroupShuffle(range, last);
    sum = subgroupShuffle(own, last);
}
#endif

void main() {
    uint candidates = plain_load(total);
    if (plain_load(address_add(total, 4u)) != 0u || candidates > limit) candidates = 0u;
    uint rows = stack_rows(stack);
    // Blocks of a few rounds go to the subgroups in turn, since candidates in newer runs are more work than others.
    uint workgroups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    uint subgroups = workgroups * gl_NumSubgroups;
    uint blocks = (candidates + BLOCK * gl_SubgroupSize - 1u) / (BLOCK * gl_SubgroupSize);
    Part part = Part(0u, 0u, 0u, 0u, 0u, 0u);
#ifdef COUNT
    uint kept = ~0u, sum = 0u;
#endif
    uint block = workgroup_index() * gl_NumSubgroups + gl_SubgroupID;
    for (uint round = 0u; block < blocks;) {
        uint candidate = (block * BLOCK + round) * gl_SubgroupSize + gl_SubgroupInvocationID;
        bool busy = candidate < candidates;
        if (busy) part = part_of(candidate, part, rows);
        uint i = part.first + (candidate - part.begin);
#ifdef COPY
        if (busy && candidate < capacity) {
            Run run = stack_run(stack, part.row);
            plain_store(address_at(out_keys, candidate, 2u), run_key(run, i));
            plain_store(address_at(out_values, candidate, 2u), run_value(run, i));
        }
#endif
#ifdef COUNT
        uint one = 0u;
        if (busy) one = addition(part, i, rows);
        add_counts(busy ? part.range : ~0u, one, kept, sum);
#endif
#ifdef PLACE
        uint key, value, rank;
        bool is_valid = false;
        if (busy) is_valid = valid(part, i, rows, key, value, rank);
        if (is_valid) {
            uint place = plain_load(address_at(offsets, part.range, 2u)) + rank;
            plain_store(address_at(out_keys, place, 2u), key);
            plain_store(address_at(out_values, place, 2u), value);
            atomic_or(address_at(flags, place >> 5, 2u), 1u << (place & 31u));
        }
#endif
        round++;
        if (round == BLOCK) {
            round = 0u;
            block += subgroups;
        }
    }
#ifdef COUNT
    if (gl_SubgroupInvocationID == 0u && sum != 0u) atomic_add(address_at(counts, kept, 2u), sum);
#endif
}
