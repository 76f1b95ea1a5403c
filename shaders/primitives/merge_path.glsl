// Merge path: the positions in two sorted runs that their merge has reached after a number of outputs.
//
// The merge of A and B is a path through the grid of their elements, and its d-th step lies on the grid's d-th
// diagonal, where bisection finds it (Green, McColl and Bader, GPU Merge Path, 2012; Odeh et al., Merge Path, 2012).
// Keys compare by the bits of a mask, and of equal ones A's come first, each run's in its order: the merge is stable.
#ifndef VKDS_MERGE_PATH_GLSL
#define VKDS_MERGE_PATH_GLSL

#include "key.glsl"

// Two runs of keys, by address, that ascend by the bits of mask.
struct MergePair {
    uvec2 a, b;
    uint a_count, b_count;
    K mask;
};

// Of the first `diagonal` outputs, at most a_count + b_count, how many are A's, if that is in [low, high]. For one
// invocation by itself.
uint merge_path(MergePair p, uint diagonal, uint low, uint high) {
    while (low < high) {
        uint middle = low + ((high - low) >> 1);
        K a = key_load_at(p.a, middle);
        K b = key_load_at(p.b, diagonal - 1u - middle);
        if (!number_below(b & p.mask, a & p.mask)) low = middle + 1u;
        else high = middle;
    }
    return low;
}

uint merge_path(MergePair p, uint diagonal) {
    return merge_path(p, diagonal, diagonal - min(diagonal, p.b_count), min(diagonal, p.a_count));
}

// The same by a subgroup, for one diagonal: its lanes try as many places at once, so that few loads wait for one
// another. Collective over the subgroup.
uint merge_path_subgroup(MergePair p, uint diagonal) {
    uint low = diagonal - min(diagonal, p.b_count);
    uint high = min(diagonal, p.a_count);
    while (low < high) {
        // Lane l tries the last of the l-th of equal parts; those past the end count as too high.
        uint part = (high - low) / (gl_SubgroupSize + 1u) + 1u;
        uint at = low + part * (gl_SubgroupInvocationID + 1u) - 1u;
        bool passes = false;
        if (at < high) {
            K a = key_load_at(p.a, at);
            K b = key_load_at(p.b, diagonal - 1u - at);
            passes = !number_below(b & p.mask, a & p.mask);
        }
        // The places ascend, and so it is the first ones that pass.
        uint passed = subgroupBallotBitCount(subgroupBallot(passes));
        low += part * passed;
        high = min(high, low + part - 1u);
    }
    return low;
}

#endif
