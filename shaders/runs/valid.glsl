// Valid: whether a pair of a stack is valid: the last one of its key in its run, not a tombstone, and no newer run has
// its key.
#ifndef VKDS_VALID_GLSL
#define VKDS_VALID_GLSL

#include "sorted_run.glsl"

// Whether pair i of all rows is valid. Rows follow one another, the newest first.
bool stack_valid(RunStack stack, uint i, out bool tombstone) {
    uint rows = stack_rows(stack);
    uint own = 0u;
    bool placed = false;
    for (uint row = 0u; row < rows; row++) {
        uint size = stack_size(stack, row);
        if (!placed && i < size) {
            placed = true;
            own = row;
        }
        if (!placed) i -= size;
    }
    tombstone = false;
    if (!placed) return false;
    Run run = stack_run(stack, own);
    K key = run_key(run, i);
    tombstone = run_tombstone(run, i, run_value(run, i));
    bool valid = !tombstone && (i + 1u >= run.size || run_key(run, i + 1u) != key);
    for (uint row = 0u; row < own && valid; row++) {
        Run newer = stack_run(stack, row);
        uint upper = run_upper(newer, key);
        if (upper != 0u) valid = run_key(newer, upper - 1u) != key;
    }
    return valid;
}

#endif
