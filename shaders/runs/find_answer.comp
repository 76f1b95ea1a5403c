// Divides the answers of find_sorted.comp into values and found bytes.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "width.glsl"
#include "length.glsl"
#include "results.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 answers;   // from find_sorted
    uvec2 values;
    uvec2 found;
    Length count;
};

void main() {
    uint i = invocation_index(), n = length_of(count);
    P answer = P(0u);
    if (i < n) {
        answer = VKDS_SLOT_LOAD(address_at(answers, i, VKDS_SHIFT + 1u));
        VKDS_STORE(address_at(values, i, VKDS_SHIFT), answer.VKDS_KEY);
    }
    byte_store(found, i, n, VKDS_FIRST_WORD(answer.VKDS_VALUE));
}
