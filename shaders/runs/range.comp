// Goes over the candidates of ranges, the pairs of all runs that lie in them, and does something with the valid ones:
// COUNT counts them, PLACE puts them at their places among their range's candidates, in the order of their keys, and
// COPY copies all of them, of one run whose pairs are all valid.
//
// Candidates are numbered range by range, and within a range run by run, the newest first. They are divided evenly, so
// that one range over everything is as good as many short ones. A candidate finds out by itself whether it is valid:
// it is the last of its key in its run, no tombstone, and no newer run has its key in the range. So nothing is
// gathered and sorted, as sections IV-C and IV-D of the paper have it.
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

// Where a candidate stands. Those of one range and run follow one another, up to `end`.
struct Candidate {
    uint range;
    uint row;     // of its run
    uint first;   // of the range's pairs in the run
    uint i;       // its own place in the run
    uint end;     // the candidate behind the last one of the range and the run
};

// The candidate of that number, by an earlier one or by Candidate(0, …), which end at 0.
Candidate candidate_at(uint candidate, Candidate before, uint rows) {
    Candidate c = before;
    c.range = range_of(candidate, before.range);
    uint begin = plain_load(address_at(offsets, c.range, 2u));
    c.end = begin;
    uint number = 0u;
    for (uint row = 0u; row < rows && c.end <= candidate; row++) {
        if (stack_size(stack, row) == 0u) continue;
        uvec2 slice = slice_of(number, c.range);
        c.row = row;
        c.first = slice.x;
        c.i = slice.x + (candidate - c.end);
        c.end += slice.y - slice.x;
        number++;
    }
    return c;
}

#ifndef COPY
// Whether a candidate's pair is valid. Then rank is its place among its range's candidates: the number of those with
// keys up to its own, less one. No two valid pairs have the same.
bool valid(Candidate c, uint rows, out uint key, out uint value, out uint rank) {
    Run own = stack_run(stack, c.row);
    key = run_key(own, c.i);
    value = run_value(own, c.i);
    rank = c.i - c.first;
    bool is_valid = !run_tombstone(own, c.i, value);
    if (c.i + 1u < own.size) is_valid = is_valid && run_key(own, c.i + 1u) != key;
#ifdef COUNT
    rows = c.row;   // only the newer ones matter
#endif
    uint number = 0u;
    for (uint row = 0u; row < rows && is_valid; row++) {
        if (stack_size(stack, row) == 0u) continue;
        uvec2 slice = slice_of(number, c.range);
        number++;
        if (row == c.row || slice.x == slice.y) continue;
        Run run = stack_run(stack, row);
        uint end = run_upper_in(run, slice.x, slice.y, key);
        if (row < c.row && end > slice.x) is_valid = run_key(run, end - 1u) != key;
        rank += end - slice.x;
    }
    return is_valid;
}
#endif

#ifdef COUNT
// Adds to each range's count how many of the subgroup's lanes have a valid pair of it. Neighbouring lanes have the same
// range or later ones; lanes that have none have the range ~0. What belongs to the range `kept` is kept back in
// `sum`, since one range may have all candidates of this subgroup. Collective over the subgroup.
void add_counts(uint range, bool is_valid, inout uint kept, inout uint sum) {
    uint one = is_valid ? 1u : 0u;
    uint all = subgroupAdd(one);
    if (subgroupAll(range == kept)) {
        sum += all;
        return;
    }
    if (gl_SubgroupInvocationID == 0u && sum != 0u) atomic_add(address_at(counts, kept, 2u), sum);
    uint upto = subgroupInclusiveAdd(one);
    uint last = gl_SubgroupSize - 1u;
    uint before = subgroupShuffle(range, max(gl_SubgroupInvocationID, 1u) - 1u);
    uint after = subgroupShuffle(range, min(gl_SubgroupInvocationID + 1u, last));
    bool head = gl_SubgroupInvocationID == 0u || before != range;
    uint others = subgroupInclusiveMax(head ? upto - one : 0u);
    bool tail = gl_SubgroupInvocationID == last || after != range;
    // The last range is kept: the next candidates may be of it.
    if (tail && gl_SubgroupInvocationID != last && upto != others) atomic_add(address_at(counts, range, 2u), upto - others);
    kept = subgroupShuffle(range, last);
    sum = subgroupShuffle(upto - others, last);
}
#endif

void main() {
    uint candidates = plain_load(total);
    if (plain_load(address_add(total, 4u)) != 0u || candidates > limit) candidates = 0u;
    uint rows = stack_rows(stack);
    // Each subgroup has a part of the candidates, whole subgroups of them.
    uint workgroups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    uint subgroups = workgroups * gl_NumSubgroups;
    uint rounds = (candidates + gl_SubgroupSize - 1u) / gl_SubgroupSize;
    uint each = (rounds + subgroups - 1u) / subgroups;
    uint round = min((workgroup_index() * gl_NumSubgroups + gl_SubgroupID) * each, rounds);
    uint end = min(round + each, rounds);
    Candidate c = Candidate(0u, 0u, 0u, 0u, 0u);
#ifdef COUNT
    uint kept = ~0u, sum = 0u;
#endif
    for (; round < end; round++) {
        uint candidate = round * gl_SubgroupSize + gl_SubgroupInvocationID;
        bool busy = candidate < candidates;
        if (busy) {
            if (candidate < c.end) c.i += gl_SubgroupSize;
            else c = candidate_at(candidate, c, rows);
        }
#ifdef COPY
        if (busy && candidate < capacity) {
            Run run = stack_run(stack, c.row);
            plain_store(address_at(out_keys, candidate, 2u), run_key(run, c.i));
            plain_store(address_at(out_values, candidate, 2u), run_value(run, c.i));
        }
#else
        uint key, value, rank;
        bool is_valid = false;
        if (busy) is_valid = valid(c, rows, key, value, rank);
#endif
#ifdef COUNT
        add_counts(busy ? c.range : ~0u, is_valid, kept, sum);
#endif
#ifdef PLACE
        if (is_valid) {
            uint place = plain_load(address_at(offsets, c.range, 2u)) + rank;
            plain_store(address_at(out_keys, place, 2u), key);
            plain_store(address_at(out_values, place, 2u), value);
            atomic_or(address_at(flags, place >> 5, 2u), 1u << (place & 31u));
        }
#endif
    }
#ifdef COUNT
    if (gl_SubgroupInvocationID == 0u && sum != 0u) atomic_add(address_at(counts, kept, 2u), sum);
#endif
}
