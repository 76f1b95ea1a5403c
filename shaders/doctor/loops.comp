// For the doctor: loops of many iterations, alone and nested.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 answers;   // two quads per invocation: iterations and result of one loop, of two nested loops, and of three
    uint count;
    uint iterations; // of the single loop, plus the invocation's number
    uint outer;      // the outer one of two loops has outer * middle iterations
    uint middle;
    uint inner;
    uint least;      // 0: iterations below it don't count
};

// A recurrence, so that a compiler can't leave the loop out.
uint step_on(uint x) { return x * 1664525u + 1013904223u; }

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uint most = FAULT == 0u ? iterations + i : min(iterations + i, 65535u);
    uvec2 one = uvec2(0u, i);
    for (uint a = 0u; a < most; a++) {
        if (a >= least) one.x++;
        one.y = step_on(one.y);
    }
    uvec2 two = uvec2(0u, i);
    for (uint a = 0u; a < outer * middle; a++)
        for (uint b = 0u; b < inner; b++) {
            if (b >= least) two.x++;
            two.y = step_on(two.y);
        }
    uvec2 three = uvec2(0u, i);
    for (uint a = 0u; a < outer; a++)
        for (uint b = 0u; b < middle; b++)
            for (uint c = 0u; c < inner; c++) {
                if (c >= least) three.x++;
                three.y = step_on(three.y);
            }
    plain_store4(address_at(answers, 2u * i, 4u), uvec4(one, two));
    plain_store4(address_at(answers, 2u * i + 1u, 4u), uvec4(three, 0u, 0u));
}
