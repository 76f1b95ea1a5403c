// Candidates: the pairs of all runs that are in ranges. The kernels for ranges take the valid ones.
//
// Candidates are numbered range by range, and within a range run by run, the newest first. They are divided evenly
// among invocations, so that one long range is as fast as many short ones. Each candidate is checked alone, by searches
// for its key in the other runs' parts of the range. So candidates are not gathered and sorted, as in sections IV-C and
// IV-D of the paper.
//
// The kernel that includes this has in its push constants
//
//     RunStack stack;
//     uvec2 slices;    // of range_bounds
//     uvec2 offsets;   // a word a range: its first candidate's number
//     uint count;      // ranges
#ifndef VKDS_CANDIDATES_GLSL
#define VKDS_CANDIDATES_GLSL

#include "sorted_run.glsl"

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
bool is_last(Run run, uint i, K key) {
    if (i + 1u == run.size) return true;
    return run_key(run, i + 1u) != key;
}

#endif
