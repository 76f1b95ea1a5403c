// Candidates: all pairs in the runs of a stack whose keys are in given ranges. The kernels for ranges take the valid
// ones.
//
// Candidates are numbered range by range, and within a range run by run, the newest run first. They are divided evenly
// among invocations, so one long range is as fast as many short ones. Each candidate is checked alone, by searches for
// its key in the other runs' parts of the range. So candidates are not gathered and sorted, as in sections IV-C and
// IV-D of the paper.
//
// The kernel that includes this header has in its push constants
//
//     RunStack stack;
//     uvec2 slices;    // from range_bounds
//     uvec2 offsets;   // one word per range: the number of its first candidate
//     uint count;      // the number of ranges
#ifndef VKDS_CANDIDATES_GLSL
#define VKDS_CANDIDATES_GLSL

#include "sorted_run.glsl"

const uint BLOCK = 4u;   // candidates per lane and block

// The range of a candidate: the last one whose offset is not above it. It must be `first` or a later one.
uint range_of(uint candidate, uint first) {
    // The next ranges first, because a lane's next candidate is seldom far away.
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

// The slice of a range in a run. `run` is the run's number among the runs with pairs.
uvec2 slice_of(uint run, uint range) { return plain_load2(address_at(address_at(slices, run * count, 3u), range, 3u)); }

// The candidates of one range in one run, which are consecutive.
struct Part {
    uint range;
    uint row;      // the run's row
    uint number;   // the run's number among the runs with pairs
    uint first;    // the index of the range's first pair in the run
    uint begin;    // the candidates begin … end-1
    uint end;
};

// The part of a candidate. The search begins at the part of an earlier candidate, or at one of zeros.
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

// Whether pair i is the last one with its key in its run.
bool is_last(Run run, uint i, K key) {
    if (i + 1u == run.size) return true;
    return run_key(run, i + 1u) != key;
}

#endif
