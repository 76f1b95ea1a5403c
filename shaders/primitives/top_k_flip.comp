// Complements words: keys that were sorted with the greatest first.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 words;
    Length length;
};

void main() {
    uint i = invocation_index();
    if (i < length_of(length)) plain_store_at(words, i, ~plain_load_at(words, i));
}
