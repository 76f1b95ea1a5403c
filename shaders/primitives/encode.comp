// Encodes numbers as words that have the order of the numbers, or decodes such words. Which bits are flipped depends on
// the sign bit.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "key.glsl"
#include "length.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 source;
    uvec2 target;   // may be the source
    Length length;
    uvec2 flip_set; // the bits to flip if the sign bit is set; of 32 bits the low word
    uvec2 flip_clear;
};

void main() {
    uint i = invocation_index();
    if (i >= length_of(length)) return;
    K number = key_load_at(source, i);
#if VKDS_KEY_BITS == 64
    number ^= int(number.y) < 0 ? flip_set : flip_clear;
#else
    number ^= int(number) < 0 ? flip_set.x : flip_clear.x;
#endif
    key_store_at(target, i, number);
}
