// Puts the answers of sorted lookups to their places, which are sorted roughly: each then fills memory that its
// neighbours fill at about the same time, and that the cache holds meanwhile.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 places;    // a word an answer: its place, and bit 31 where the key is there
    uvec2 values;    // a word an answer
    uvec2 answers;   // two words a place, out: value, found
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uint place = plain_load(address_at(places, i, 2u));
    plain_store2(address_at(answers, place & 0x7fffffffu, 3u), uvec2(plain_load(address_at(values, i, 2u)), place >> 31));
}
