// Merge path: the positions in two sorted runs after a given number of outputs of their merge.
//
// The merge of A and B is a path through the grid of their elements. Its d-th step is on the grid's d-th diagonal,
// where a binary search finds it (Green, McColl and Bader, GPU Merge Path, 2012; Odeh et al., Merge Path, 2012). Keys
// are compared by the bits of a mask. Among equal keys those of A come first, and each run's keep their order: the
// merge is stable.
#ifndef VKDS_MERGE_PATH_GLSL
#define VKDS_MERGE_PATH_GLSL

#include "key.glsl"

// Two runs of keys, by address, which ascend by the bits of the mask.
struct MergePair {
    uvec2 a, b;
    uint a_count, b_count;
    K mask;
};

// The number of elements of A among the first `diagonal` outputs, if it is in [low, high]. `diagonal` is at most
// a_count + b_count. Each invocation searches alone.
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

// The same for one diagonal, by a subgroup. Its lanes try many places at once, so that few loads depend on one another.
// Collective over the subgroup.
uint merge_path_subgroup(MergePair p, uint diagonal) {
    uint low = diagonal - min(diagonal, p.b_count);
    uint high = min(diagonal, p.a_count);
    while (low < high) {
        // The range is divided into equal parts. Lane l tries the last place of part l; places outside of the range
        // count as too high.
        uint part = (high - low) / (gl_SubgroupSize + 1u) + 1u;
        uint at = low + part * (gl_SubgroupInvocationID + 1u) - 1u;
        bool passes = false;
        if (at < high) {
            K a = key_load_at(p.a, at);
            K b = key_load_at(p.b, diagonal - 1u - at);
            passes = !number_below(b & p.mask, a & p.mask);
        }
        // The places ascend, so the lanes that pass are the first ones.
        uint passed = subgroupBallotBitCount(subgroupBallot(passes));
        low += part * passed;
        high = min(high, low + part - 1u);
    }
    return low;
}

#endif
