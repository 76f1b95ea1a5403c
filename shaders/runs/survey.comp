// Counts the valid pairs and the tombstones of a stack. A pair is valid that is the last of its key in its run, is no
// tombstone, and whose key no newer run has.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sorted_run.glsl"
#include "invocation.glsl"

// There are several counters so that subgroups don't queue at one; the host adds them up.
const uint COUNTERS = 64u;

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 counters;   // COUNTERS pairs of words: valid pairs, tombstones
    uint first;       // the pairs first … first+count-1 of all rows one behind the other, the newest row first
    uint count;
};

void main() {
    uint index = invocation_index();
    bool mine = index < count;
    uint i = first + index;
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
    bool valid = mine && placed;
    bool tombstone = false;
    if (valid) {
        Run run = stack_run(stack, own);
        uint key = run_key(run, i);
        tombstone = run_tombstone(run, i, run_value(run, i));
        if (i + 1u < run.size) valid = run_key(run, i + 1u) != key;
        valid = valid && !tombstone;
        for (uint row = 0u; row < own && valid; row++) {
            Run newer = stack_run(stack, row);
            uint upper = run_upper(newer, key);
            if (upper != 0u) valid = run_key(newer, upper - 1u) != key;
        }
    }
    uint all_valid = subgroupAdd(uint(valid));
    uint all_tombstones = subgroupAdd(uint(tombstone));
    uvec2 at = address_at(counters, (index / gl_SubgroupSize) & (COUNTERS - 1u), 3u);
    if (subgroupElect()) {
        atomic_add(at, all_valid);
        atomic_add(address_add(at, 4u), all_tombstones);
    }
}
