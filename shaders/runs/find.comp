// Finds keys in sorted runs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "find.glsl"
#include "length.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    uvec2 keys;
    uvec2 values;    // output: 0 if the key is absent
    uvec2 found;     // output: one byte per query, 0 or 1
    Length count;
    uint each;       // queries per invocation, at most 32
};

void answer(uint i, V value, bool hit) { VKDS_STORE(address_at(values, i, VKDS_SHIFT), value); }

void main() {
    uint first = workgroup_index() * WORKGROUP * each + workgroup_lane(), n = length_of(count);
    uint asked = find_asked(first, each, n), rows = stack_rows(stack);
    uint open = asked, hits = 0u;
    for (uint row = 0u; row < rows; row++) {
        Run run = stack_run(stack, row);
        if (run.size != 0u) find_in(run, 0u, run.size, keys, first, each, open, hits);
    }
    for (uint q = 0u; q < each; q++) {
        uint i = first + q * WORKGROUP;
        bool hit = ((hits >> q) & 1u) != 0u;
        if (((asked >> q) & 1u) != 0u && !hit) answer(i, V(0u), false);
        byte_store(found, i, n, hit ? 1u : 0u);
    }
}
