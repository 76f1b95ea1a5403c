// Valid: the valid pairs of a stack. A pair is valid if it is the last of its key in its run, is not a tombstone, and
// no newer run has its key.
#ifndef VKDS_VALID_GLSL
#define VKDS_VALID_GLSL

#include "sorted_run.glsl"

// Whether pair i of all rows, one behind the other with the newest first, is valid.
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
