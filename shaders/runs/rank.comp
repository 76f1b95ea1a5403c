// Finds the number of valid pairs of a stack with keys below each query.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "run_rank.glsl"
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    RunStack stack;
    Validity validity;
    uvec2 keys;    // one per query
    uvec2 ranks;   // output: one word per query
    Length count;
};

void main() {
    uint i = invocation_index();
    if (i < length_of(count)) plain_store_at(ranks, i, stack_rank(stack, validity, VKDS_LOAD_AT(keys, i)));
}
