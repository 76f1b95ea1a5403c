// Divides the answers of sorted lookups into values and found bytes.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "results.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 answers;   // two words a query: value, found
    uvec2 values;
    uvec2 found;
    Length count;
};

void main() {
    uint i = invocation_index(), n = length_of(count);
    uvec2 answer = uvec2(0u);
    if (i < n) {
        answer = plain_load2(address_at(answers, i, 3u));
        plain_store(address_at(values, i, 2u), answer.x);
    }
    byte_store(found, i, n, answer.y);
}
